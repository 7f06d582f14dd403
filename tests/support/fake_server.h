// A daemon for tests of the client, in this process, on a loopback port or a Unix socket. It
// greets, takes requests apart, and does with them exactly what a test says: answer, refuse, push,
// wait, send half a frame, hang up.
//
//   FakeServer server;
//   AsyncClient client(&loop, {.addresses = {server.address()}});
//   …
//   const FakeServer::Received request = server.Next();  // waits until one has come
//   server.Reply(request, protocol::PingReply{7});
//
// Nothing here depends on timing: waits end when what is waited for has happened, and throw after a
// limit that only a failure reaches.
//
// Threads: any. It has one of its own, which accepts and reads; an answer handler runs there.
#ifndef ANTEROOM_TESTS_SUPPORT_FAKE_SERVER_H_
#define ANTEROOM_TESTS_SUPPORT_FAKE_SERVER_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "protocol/frame.h"
#include "protocol/operations.h"

namespace anteroom {

class FakeServer {
 public:
  // A request, and where it came from.
  struct Received {
    int connection = 0;  // counted from 1 over the life of the server
    protocol::FrameHeader header;
    std::string payload;

    protocol::Operation operation() const {
      return static_cast<protocol::Operation>(header.operation);
    }
    // Views in it point into `payload`.
    template <protocol::Operation kOperation>
    typename protocol::RequestOf<kOperation>::Message As() const {
      typename protocol::RequestOf<kOperation>::Message message;
      if (operation() != kOperation || !protocol::Decode(payload, &message)) {
        throw std::runtime_error("the fake server received another operation");
      }
      return message;
    }
  };

  enum class Greeting { kGreet, kRefuse, kOtherVersion, kNonsense, kSilent };

  // Listens on a free port of 127.0.0.1, or at this path.
  explicit FakeServer(std::string unix_path = "");
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string address() const;

  // Stop hangs up on everybody and gives the address back; Start listens there again.
  void Stop();
  void Start();

  void SetGreeting(Greeting greeting);
  // From here on HELLO's reply has this challenge; `authenticate` is a request like any other.
  void AskForCredentials(std::string challenge);
  // The key_id of the last HELLO; empty when none was said.
  std::string key_id();
  // The `count`th connection, from 1, has been greeted (or what SetGreeting says).
  void WaitForConnection(int count);
  int connections();
  // Connection `connection` has been closed by the client.
  void WaitForHangUp(int connection);

  // The next request but hello, in order of arrival.
  Received Next();
  // Whether there is one that Next would return at once.
  bool HasNext();
  // Instead of Next: each request goes to `handler`, on the server's thread. Null ends that.
  void Answer(std::function<void(FakeServer&, const Received&)> handler);

  template <typename Message>
  void Reply(const Received& request, const Message& message) {
    Send(request, protocol::FrameKind::kReply, message);
  }
  void Refuse(const Received& request, const protocol::Refusal& refusal) {
    Send(request, protocol::FrameKind::kRefusal, refusal);
  }
  template <typename Message>
  void Push(const Received& request, const Message& message) {
    Send(request, protocol::FrameKind::kPush, message);
  }
  void End(const Received& request, const protocol::Refusal& refusal) {
    Send(request, protocol::FrameKind::kEnd, refusal);
  }

  // The bytes of an answer, to be sent in pieces or spoilt.
  template <typename Message>
  static std::string Frame(const Received& request, protocol::FrameKind kind,
                           const Message& message) {
    std::string bytes;
    protocol::AppendFrame(request.header.operation, kind, request.header.request_id, message,
                          &bytes);
    return bytes;
  }
  void SendBytes(int connection, std::string_view bytes);
  void HangUp(int connection);
  // Reads nothing more from anybody, so that what the clients send piles up.
  void StopReading();

 private:
  struct Connection {
    int fd = -1;
    std::string input;
    bool greeted = false;
  };

  template <typename Message>
  void Send(const Received& request, protocol::FrameKind kind, const Message& message) {
    SendBytes(request.connection, Frame(request, kind, message));
  }

  void Listen();
  void Run();
  void Accept();
  void Read(int connection);
  void Greet(const Received& hello);
  void Wake();
  template <typename Condition>
  void WaitFor(std::unique_lock<std::mutex>& lock, const char* what, Condition condition);

  std::string unix_path_;
  uint16_t port_ = 0;
  int wake_fds_[2] = {-1, -1};

  std::mutex mutex_;
  std::condition_variable changed_;
  int listener_ = -1;
  bool ending_ = false;
  bool reading_ = true;
  int connections_ = 0;
  int greeted_ = 0;
  Greeting greeting_ = Greeting::kGreet;
  std::optional<std::string> challenge_;
  std::string key_id_;
  std::map<int, Connection> open_;
  std::deque<Received> received_;
  std::function<void(FakeServer&, const Received&)> handler_;
  std::thread thread_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_FAKE_SERVER_H_
