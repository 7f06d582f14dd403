#include "bench/loadgen/anteroom_side.h"

#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/bytes.h"
#include "protocol/frame.h"
#include "protocol/operations.h"

namespace anteroom::loadgen {
namespace {

using protocol::FrameHeader;
using protocol::FrameKind;
using protocol::FrameStatus;
using protocol::Operation;

constexpr int64_t kWaitingTtlMs = 3'600'000;
// Every answer's header is checked; of so many one is decoded whole.
constexpr uint64_t kAnswersPerDecoded = 64;
constexpr size_t kRequestIdAt = 8;  // in the frame's header

template <typename Message>
std::string FrameOf(Operation operation, const Message& message) {
  std::string bytes;
  protocol::AppendFrame(static_cast<uint8_t>(operation), FrameKind::kRequest, 0, message, &bytes);
  return bytes;
}

absl::Status RefusedError(std::string_view payload) {
  protocol::Refusal refusal;
  if (!protocol::Decode(payload, &refusal)) return absl::InternalError("a refusal is malformed");
  return absl::FailedPreconditionError("refused: " + refusal.message);
}

// Invariant: free_ids_ and the ids marked in in_flight_ are together 0 to in_flight_.size() - 1.
class AnteroomConversation : public Conversation {
 public:
  AnteroomConversation()
      : join_(FrameOf(Operation::kJoin,
                      protocol::JoinRequest{kRoom, Template::kIdMark, std::nullopt})),
        position_(FrameOf(Operation::kStatus, protocol::VisitorRequest{kRoom, Template::kIdMark})) {
  }

  void Greet(std::string* out) override {
    Append(Operation::kHello, protocol::HelloRequest{}, out);
  }

  void JoinMany(uint64_t first, uint32_t count, std::string* out) override {
    std::vector<VisitorId> ids;
    ids.reserve(count);
    protocol::JoinManyRequest request;
    for (uint64_t i = 0; i < count; ++i) {
      ids.push_back(IdOf(first + i));
      request.items.push_back({kRoom, ids.back().view(), std::nullopt});
    }
    Append(Operation::kJoinMany, request, out);
  }

  void Join(uint64_t visitor, std::string* out) override {
    Append(Operation::kJoin, join_, visitor, out);
  }

  void Position(uint64_t visitor, std::string* out) override {
    Append(Operation::kStatus, position_, visitor, out);
  }

  void Admit(uint32_t count, std::string* out) override {
    Append(Operation::kAdmit, protocol::AdmitRequest{kRoom, count, std::nullopt}, out);
  }

  absl::Status Take(std::string_view bytes, Answers* answers) override {
    // As a rule nothing is left over from before, and the bytes need no copy.
    if (!partial_.empty()) {
      partial_.append(bytes);
      bytes = partial_;
    }
    FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    FrameStatus status;
    while ((status = protocol::TakeFrame(bytes, &header, &payload, &consumed)) ==
           FrameStatus::kComplete) {
      bytes.remove_prefix(consumed);
      const uint32_t id = header.request_id;
      if (id >= in_flight_.size() || !in_flight_[id] ||
          header.operation != static_cast<uint8_t>(expected_)) {
        return absl::InternalError("an answer to no request");
      }
      in_flight_[id] = false;
      free_ids_.push_back(id);
      const bool right = header.kind == FrameKind::kReply && Right(payload, answers);
      // What cannot be right later either stops the run before it begins.
      if (!right && expected_ == Operation::kHello) return RefusedError(payload);
      ++answers->count;
      if (!right) ++answers->unexpected;
    }
    if (status != FrameStatus::kPartial) return absl::InternalError("a frame is malformed");
    partial_ = std::string(bytes);
    return absl::OkStatus();
  }

 private:
  uint32_t NewId() {
    if (free_ids_.empty()) {
      free_ids_.push_back(static_cast<uint32_t>(in_flight_.size()));
      in_flight_.push_back(false);
    }
    const uint32_t id = free_ids_.back();
    free_ids_.pop_back();
    in_flight_[id] = true;
    return id;
  }

  template <typename Message>
  void Append(Operation operation, const Message& message, std::string* out) {
    expected_ = operation;
    protocol::AppendFrame(static_cast<uint8_t>(operation), FrameKind::kRequest, NewId(), message,
                          out);
  }

  void Append(Operation operation, const Template& request, uint64_t visitor, std::string* out) {
    expected_ = operation;
    const uint32_t id = NewId();
    std::memcpy(request.Append(IdOf(visitor).view(), 0, out) + kRequestIdAt, &id, sizeof id);
  }

  // Whether the payload of a reply is what was hoped for.
  bool Right(std::string_view payload, Answers* answers) {
    const bool decode_whole = seen_++ % kAnswersPerDecoded == 0;
    switch (expected_) {
      case Operation::kJoin:
      case Operation::kStatus: {
        if (!decode_whole) return true;
        protocol::VisitorReply reply;
        return protocol::Decode(payload, &reply) && reply.state == protocol::State::kWaiting &&
               reply.position.has_value();
      }
      case Operation::kJoinMany: {
        protocol::VisitorResults results;
        if (!protocol::Decode(payload, &results)) return false;
        for (const auto& result : results.items) {
          if (!result.reply || result.reply->state != protocol::State::kWaiting) return false;
        }
        return true;
      }
      case Operation::kAdmit: {
        if (decode_whole) {
          protocol::AdmitReply reply;
          if (!protocol::Decode(payload, &reply) || reply.admitted.size() != reply.count) {
            return false;
          }
          answers->admitted += reply.count;
          return true;
        }
        // The count comes first, behind the presence bitmap.
        protocol::ByteReader reader(payload);
        reader.GetBytes(protocol::AdmitReply::kPresenceBytes);
        answers->admitted += reader.Get<uint32_t>();
        return !reader.failed();
      }
      default:
        return true;
    }
  }

  const Template join_;
  const Template position_;
  Operation expected_ = Operation::kHello;
  std::vector<uint32_t> free_ids_;
  std::vector<bool> in_flight_;
  std::string partial_;
  uint64_t seen_ = 0;
};

absl::Status SendAll(const Socket& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return SystemError("send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

// One request on a connection of its own, begun with a HELLO.
template <Operation Op>
absl::StatusOr<typename protocol::ReplyOf<Op>::Message> Call(
    const Address& address, const typename protocol::RequestOf<Op>::Message& request) {
  absl::StatusOr<Socket> socket = Connect(address);
  if (!socket.ok()) return socket.status();
  const absl::Status sent =
      SendAll(*socket, FrameOf(Operation::kHello, protocol::HelloRequest{}) + FrameOf(Op, request));
  if (!sent.ok()) return sent;
  std::string received;
  while (true) {
    FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    const FrameStatus status = protocol::TakeFrame(received, &header, &payload, &consumed);
    if (status == FrameStatus::kPartial) {
      std::array<char, 4096> chunk;
      const ssize_t got = recv(socket->fd(), chunk.data(), chunk.size(), 0);
      if (got < 0) return SystemError("receive");
      if (got == 0) return absl::UnavailableError("the daemon closed the connection");
      received.append(chunk.data(), static_cast<size_t>(got));
      continue;
    }
    if (status != FrameStatus::kComplete) return absl::InternalError("a frame is malformed");
    if (header.kind != FrameKind::kReply) return RefusedError(payload);
    if (header.operation == static_cast<uint8_t>(Op)) {
      typename protocol::ReplyOf<Op>::Message reply;
      if (!protocol::Decode(payload, &reply)) return absl::InternalError("a reply is malformed");
      return reply;
    }
    received.erase(0, consumed);
  }
}

}  // namespace

absl::Status AnteroomSide::Prepare() {
  protocol::RoomSettings settings;
  settings.rate = protocol::Rate{.count = 0, .per_ms = 1000};
  settings.waiting_ttl = protocol::Duration{kWaitingTtlMs};
  return Call<Operation::kRoomCreate>(address_, {kRoom, settings}).status();
}

std::unique_ptr<Conversation> AnteroomSide::Converse() {
  return std::make_unique<AnteroomConversation>();
}

absl::StatusOr<protocol::HealthReply> AnteroomSide::Health() {
  return Call<Operation::kHealth>(address_, {});
}

}  // namespace anteroom::loadgen
