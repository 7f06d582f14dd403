#include "client/testing/internal/socket_server.h"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "client/testing/internal/limits.h"
#include "server/base/check.h"

namespace anteroom::testing {

namespace {

// One that is being closed is freed by libuv's callback.
template <typename Handle>
void CloseAndFree(uv_pipe_t* pipe) {
  uv_close(reinterpret_cast<uv_handle_t*>(pipe),
           [](uv_handle_t* handle) { delete reinterpret_cast<Handle*>(handle); });
}

struct WriteRequest {
  uv_write_t write;
  std::string bytes;
};

}  // namespace

struct SocketServer::Connection {
  uv_pipe_t pipe{};  // first: the handle's address is this object's
  SocketServer* server = nullptr;
  uint64_t number = 0;
  std::string input;
  std::string output;
  std::array<char, 65536> read_buffer;

  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&pipe); }
};

SocketServer::SocketServer(uv_loop_t* loop, std::string path, Owner* owner)
    : loop_(loop), path_(std::move(path)), owner_(*owner) {}

SocketServer::~SocketServer() {
  CHECK(listener_ == nullptr);
  CHECK(open_.empty());
}

void SocketServer::Open() {
  CHECK(listener_ == nullptr);
  listener_ = new uv_pipe_t;
  CHECK_EQ(uv_pipe_init(loop_, listener_, 0), 0);
  listener_->data = this;
  CHECK_EQ(uv_pipe_bind(listener_, path_.c_str()), 0);
  CHECK_EQ(uv_listen(reinterpret_cast<uv_stream_t*>(listener_), kListenBacklog,
                     [](uv_stream_t* listener, int status) {
                       if (status == 0) static_cast<SocketServer*>(listener->data)->Accept();
                     }),
           0);
}

void SocketServer::Close() {
  // libuv removes the path.
  if (listener_ != nullptr) CloseAndFree<uv_pipe_t>(std::exchange(listener_, nullptr));
  HangUpAll();
}

void SocketServer::HangUpAll() {
  while (!open_.empty()) Drop(open_.begin()->first);
}

void SocketServer::Accept() {
  auto* connection = new Connection;
  CHECK_EQ(uv_pipe_init(loop_, &connection->pipe, 0), 0);
  connection->pipe.data = connection;
  connection->server = this;
  connection->number = ++last_number_;
  const auto on_room = [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
    auto* self = static_cast<Connection*>(handle->data);
    *buffer = uv_buf_init(self->read_buffer.data(), self->read_buffer.size());
  };
  const auto on_read = [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t*) {
    auto* self = static_cast<Connection*>(stream->data);
    self->server->OnRead(*self, bytes);
  };
  if (uv_accept(reinterpret_cast<uv_stream_t*>(listener_), connection->stream()) != 0 ||
      uv_read_start(connection->stream(), on_room, on_read) != 0) {
    CloseAndFree<Connection>(&connection->pipe);
    return;
  }
  open_[connection->number] = connection;
}

void SocketServer::OnRead(Connection& connection, ssize_t bytes) {
  if (bytes == 0) return;
  const uint64_t number = connection.number;
  if (bytes < 0) return Drop(number);
  connection.input.append(connection.read_buffer.data(), static_cast<size_t>(bytes));
  size_t used = 0;
  while (open_.contains(number)) {
    protocol::FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    const auto status = protocol::TakeFrame(std::string_view(connection.input).substr(used),
                                            &header, &payload, &consumed);
    if (status == protocol::FrameStatus::kPartial) break;
    if (status != protocol::FrameStatus::kComplete) return Drop(number);
    used += consumed;
    owner_.OnFrame(number, header, payload);
  }
  // One that was hung up on in between is freed in a later turn only.
  connection.input.erase(0, used);
  Flush();
}

std::string* SocketServer::OutputOf(uint64_t connection) {
  const auto found = open_.find(connection);
  return found == open_.end() ? nullptr : &found->second->output;
}

void SocketServer::HangUp(uint64_t connection) {
  const auto found = open_.find(connection);
  if (found == open_.end()) return;
  Connection& closing = *found->second;
  open_.erase(found);
  Send(closing);
  CloseAndFree<Connection>(&closing.pipe);
}

void SocketServer::Drop(uint64_t number) {
  HangUp(number);
  owner_.OnGone(number);
}

void SocketServer::Flush() {
  std::vector<uint64_t> unread;
  for (const auto& [number, connection] : open_) {
    Send(*connection);
    if (uv_stream_get_write_queue_size(connection->stream()) > kUnreadBytesMax) {
      unread.push_back(number);
    }
  }
  for (const uint64_t number : unread) Drop(number);
}

// An error is told by the next read.
void SocketServer::Send(Connection& connection) {
  if (connection.output.empty()) return;
  auto request = std::make_unique<WriteRequest>();
  request->bytes.swap(connection.output);
  uv_buf_t buffer =
      uv_buf_init(request->bytes.data(), static_cast<unsigned>(request->bytes.size()));
  const int sent = uv_try_write(connection.stream(), &buffer, 1);
  if (sent < 0 && sent != UV_EAGAIN) return;
  const size_t sent_bytes = sent > 0 ? static_cast<size_t>(sent) : 0;
  if (sent_bytes == request->bytes.size()) return;
  buffer = uv_buf_init(request->bytes.data() + sent_bytes,
                       static_cast<unsigned>(request->bytes.size() - sent_bytes));
  request->write.data = request.get();
  const int error =
      uv_write(&request->write, connection.stream(), &buffer, 1,
               [](uv_write_t* write, int) { delete static_cast<WriteRequest*>(write->data); });
  if (error == 0) static_cast<void>(request.release());
}

}  // namespace anteroom::testing
