#include "server/net/listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::net {
namespace {

absl::Status CannotListen(const std::string& where, int uv_error) {
  return absl::UnavailableError("cannot listen on " + where + ": " + uv_strerror(uv_error));
}

// Removes a socket file on which nobody listens any more.
absl::Status RemoveStale(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) {
    return absl::UnavailableError("cannot listen on unix:" + path +
                                  ": there is something else than a socket");
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return CannotListen("unix:" + path, -errno);
  const bool refused =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  if (!refused) return CannotListen("unix:" + path, UV_EADDRINUSE);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return CannotListen("unix:" + path, -errno);
  return absl::OkStatus();
}

}  // namespace

Listener::~Listener() {
  Close();
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::ListenTcp(uv_loop_t* loop,
                                                              const ListenAddress& address,
                                                              Connections* connections) {
  std::unique_ptr<Listener> listener(new Listener(connections));
  listener->handle_ = new Handle;
  uv_tcp_t* const tcp = &listener->handle_->tcp;
  CHECK_EQ(uv_tcp_init(loop, tcp), 0);
  listener->open_ = true;
  if (const int error = uv_tcp_bind(tcp, address.raw(), 0); error != 0) {
    return CannotListen(address.ToText(), error);
  }
  const absl::Status started = listener->Start(address.ToText());
  if (!started.ok()) return started;
  ListenAddress bound;
  int bytes = sizeof bound.storage;
  CHECK_EQ(uv_tcp_getsockname(tcp, reinterpret_cast<sockaddr*>(&bound.storage), &bytes), 0);
  listener->name_ = bound.ToText();
  return listener;
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::ListenUnix(uv_loop_t* loop,
                                                               const std::string& path,
                                                               Connections* connections) {
  // libuv would cut a longer path short without a word.
  if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
    return absl::InvalidArgumentError("the path of a Unix socket has 1 to " +
                                      std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                                      " bytes, not " + std::to_string(path.size()));
  }
  const absl::Status removed = RemoveStale(path);
  if (!removed.ok()) return removed;
  std::unique_ptr<Listener> listener(new Listener(connections));
  listener->handle_ = new Handle;
  uv_pipe_t* const pipe = &listener->handle_->pipe;
  CHECK_EQ(uv_pipe_init(loop, pipe, 0), 0);
  listener->open_ = true;
  if (int error = uv_pipe_bind(pipe, path.c_str()); error != 0) {
    // The library says that it may not where there is no such directory, as it has to on Windows.
    const std::string directory = path.substr(0, path.find_last_of('/') + 1);
    if (error == UV_EACCES && !directory.empty() && access(directory.c_str(), F_OK) != 0) {
      error = UV_ENOENT;
    }
    return CannotListen("unix:" + path, error);
  }
  const absl::Status started = listener->Start("unix:" + path);
  if (!started.ok()) return started;
  listener->name_ = "unix:" + path;
  return listener;
}

absl::Status Listener::Start(const std::string& what) {
  handle_->handle.data = this;
  const int error =
      uv_listen(&handle_->stream, limits::kListenBacklog, [](uv_stream_t* stream, int status) {
        // A client that was gone before it could be accepted.
        if (status != 0) return;
        static_cast<Listener*>(stream->data)->connections_->Accept(stream);
      });
  return error == 0 ? absl::OkStatus() : CannotListen(what, error);
}

void Listener::Close() {
  if (!open_) return;
  open_ = false;
  handle_->handle.data = handle_;
  uv_close(&handle_->handle,
           [](uv_handle_t* handle) { delete static_cast<Handle*>(handle->data); });
  handle_ = nullptr;
}

void Listener::check_invariants() const {
  CHECK_EQ(open_, handle_ != nullptr);
  if (open_) CHECK(!uv_is_closing(&handle_->handle));
}

}  // namespace anteroom::net
