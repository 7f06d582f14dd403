// The sockets of the test daemon: a Unix socket that can be closed and opened again, and frames off
// its connections.
//
// Invariant: a connection whose close has begun is told to nobody and has no output.
// Threads: the loop's.
#ifndef ANTEROOM_CLIENT_TESTING_INTERNAL_SOCKET_SERVER_H_
#define ANTEROOM_CLIENT_TESTING_INTERNAL_SOCKET_SERVER_H_

#include <uv.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client/testing/internal/outputs.h"
#include "protocol/frame.h"

namespace anteroom::testing {

class SocketServer final : public Outputs {
 public:
  class Owner {
   public:
    virtual void OnFrame(uint64_t connection, const protocol::FrameHeader& header,
                         std::string_view payload) = 0;
    // The client has closed it, or is hung up on for what it has sent or not read.
    virtual void OnGone(uint64_t connection) = 0;

   protected:
    ~Owner() = default;
  };

  // Listens at `path` from Open on. Both outlive it.
  SocketServer(uv_loop_t* loop, std::string path, Owner* owner);
  // Closed by then.
  ~SocketServer();

  void Open();
  // Hangs up on everybody and gives the path back. What it leaves on the loop closes by itself.
  void Close();
  bool is_open() const { return listener_ != nullptr; }
  void HangUpAll();

  std::string* OutputOf(uint64_t connection) override;
  void HangUp(uint64_t connection) override;
  // Sends what has been appended.
  void Flush();

 private:
  struct Connection;

  void Accept();
  void OnRead(Connection& connection, ssize_t bytes);
  void Send(Connection& connection);
  void Drop(uint64_t number);

  uv_loop_t* const loop_;
  const std::string path_;
  Owner& owner_;
  uv_pipe_t* listener_ = nullptr;
  uint64_t last_number_ = 0;
  std::map<uint64_t, Connection*> open_;
};

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_INTERNAL_SOCKET_SERVER_H_
