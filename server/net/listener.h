// A listening socket, TCP or Unix, that hands its clients to the table of connections.
//
// Threads: the loop's. Close before destroying, and run the loop in between.
#ifndef ANTEROOM_SERVER_NET_LISTENER_H_
#define ANTEROOM_SERVER_NET_LISTENER_H_

#include <uv.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/base/listen_address.h"
#include "server/net/connections.h"

namespace anteroom::net {

// Invariant: between a successful Listen and Close the handle is open.
class Listener {
 public:
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  static absl::StatusOr<std::unique_ptr<Listener>> ListenTcp(uv_loop_t* loop,
                                                             const ListenAddress& address,
                                                             Connections* connections);
  // A socket file that nobody answers on, left by a killed daemon, is replaced; any other file
  // there is an error. Removed again by Close.
  static absl::StatusOr<std::unique_ptr<Listener>> ListenUnix(uv_loop_t* loop,
                                                              const std::string& path,
                                                              Connections* connections);

  // Where clients connect to: "127.0.0.1:7411" with the real port, or "unix:PATH".
  const std::string& name() const { return name_; }
  void Close();

  void check_invariants() const;

 private:
  explicit Listener(Connections* connections) : connections_(connections) {}
  absl::Status Start(const std::string& what);

  Connections* const connections_;
  std::string name_;
  bool open_ = false;
  // On the heap, because libuv lets go of it after Close, whenever the loop next runs.
  struct Handle {
    union {
      uv_handle_t handle;
      uv_stream_t stream;
      uv_tcp_t tcp;
      uv_pipe_t pipe;
    };
  };
  Handle* handle_ = nullptr;
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_LISTENER_H_
