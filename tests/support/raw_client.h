// A connection to a daemon that speaks frames and nothing more: for tests of what a well-behaved
// client never does. Blocking, with a time-out of ten seconds.
#ifndef ANTEROOM_TESTS_SUPPORT_RAW_CLIENT_H_
#define ANTEROOM_TESTS_SUPPORT_RAW_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "protocol/proof.h"

namespace anteroom {

struct RawFrame {
  protocol::FrameHeader header;
  std::string payload;

  // The payload as a message; nothing when it is none.
  template <typename Message>
  std::optional<Message> As() const {
    Message message;
    if (!protocol::Decode(payload, &message)) return std::nullopt;
    return message;
  }
};

class RawClient {
 public:
  RawClient() = default;
  ~RawClient() { Close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // From the address `from`, of the loopback's 127.0.0.0/8, when one is given.
  bool ConnectTcp(int port, const std::string& from = {}) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!Open(AF_INET)) return false;
    if (!from.empty()) {
      // The port is chosen by connect: each pair of addresses has all of them.
      const int yes = 1;
      setsockopt(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
      sockaddr_in local{};
      local.sin_family = AF_INET;
      if (inet_pton(AF_INET, from.c_str(), &local.sin_addr) != 1) return false;
      if (bind(socket_, reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) return false;
    }
    return connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  bool ConnectUnix(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return Open(AF_UNIX) &&
           connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  template <protocol::Operation kOperation>
  bool Ask(uint32_t request_id, const typename protocol::RequestOf<kOperation>::Message& message) {
    std::string frame;
    protocol::AppendFrame(static_cast<uint8_t>(kOperation), protocol::FrameKind::kRequest,
                          request_id, message, &frame);
    return Send(frame);
  }
  bool Hello() {
    if (!Ask<protocol::Operation::kHello>(0, {})) return false;
    const auto frame = Read();
    return frame && frame->header.kind == protocol::FrameKind::kReply;
  }

  // Says hello as `name`; the challenge, or nothing when there is none.
  std::optional<std::string> HelloAs(std::string_view name) {
    protocol::HelloRequest hello;
    hello.key_id = name;
    if (!Ask<protocol::Operation::kHello>(0, hello)) return std::nullopt;
    const auto frame = Read();
    if (!frame || frame->header.kind != protocol::FrameKind::kReply) return std::nullopt;
    const auto reply = frame->As<protocol::HelloReply>();
    return reply ? reply->challenge : std::nullopt;
  }
  // Proves the secret for a challenge; whether the daemon took it, and has proven the same.
  bool Prove(std::string_view name, const std::string& secret, std::string_view challenge) {
    const protocol::Secret key = *protocol::Secret::FromText(secret);
    const std::string nonce = protocol::NewNonce();
    const protocol::Handshake handshake{protocol::kVersionMax, name, challenge, nonce};
    const protocol::Proof proof = MakeProof(key, protocol::Prover::kClient, handshake);
    const auto reply =
        Call<protocol::Operation::kAuthenticate>({nonce, {proof.data(), proof.size()}});
    return reply &&
           protocol::SameProof(MakeProof(key, protocol::Prover::kDaemon, handshake), reply->proof);
  }
  bool Authenticate(std::string_view name, const std::string& secret) {
    const auto challenge = HelloAs(name);
    return challenge && Prove(name, secret, *challenge);
  }

  // The next frame; nothing at the end of the connection, or after ten seconds without one.
  std::optional<RawFrame> Read() {
    for (;;) {
      RawFrame frame;
      std::string_view payload;
      size_t used = 0;
      if (protocol::TakeFrame(input_, &frame.header, &payload, &used) ==
          protocol::FrameStatus::kComplete) {
        frame.payload = payload;
        input_.erase(0, used);
        return frame;
      }
      char bytes[65536];
      const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
      if (got <= 0) return std::nullopt;
      input_.append(bytes, static_cast<size_t>(got));
    }
  }
  // Asks and reads the answer; nothing when it is a refusal, which is then in last_refusal.
  template <protocol::Operation kOperation>
  std::optional<typename protocol::ReplyOf<kOperation>::Message> Call(
      const typename protocol::RequestOf<kOperation>::Message& message) {
    if (!Ask<kOperation>(++last_id_, message)) return std::nullopt;
    const auto frame = Read();
    if (!frame || frame->header.request_id != last_id_) return std::nullopt;
    if (frame->header.kind == protocol::FrameKind::kRefusal) {
      last_refusal = frame->As<protocol::Refusal>().value_or(protocol::Refusal());
      return std::nullopt;
    }
    return frame->As<typename protocol::ReplyOf<kOperation>::Message>();
  }
  // The other side has closed, in good order, and said nothing more.
  bool AtEnd() {
    char byte;
    return input_.empty() && recv(socket_, &byte, 1, 0) == 0;
  }

  void ShutdownWrite() { shutdown(socket_, SHUT_WR); }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  int socket() const { return socket_; }

  protocol::Refusal last_refusal;

 private:
  bool Open(int family) {
    Close();
    input_.clear();
    socket_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return socket_ >= 0;
  }

  int socket_ = -1;
  uint32_t last_id_ = 0;
  std::string input_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_RAW_CLIENT_H_
