#include "client/testing/internal/frame_desk.h"

#include <uv.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "protocol/duration.h"
#include "protocol/version.h"
#include "server/base/check.h"

namespace anteroom::testing {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Refusal;

namespace {

// Always the same, so that tests may hold tokens, and no secret.
auth::TokenKey TokenKeyOf(uint32_t id) {
  constexpr std::string_view kBytes = "anteroom::testing, not a secret!";
  static_assert(kBytes.size() == auth::kTokenKeyBytes);
  auth::TokenKey key;
  key.id = id;
  std::copy(kBytes.begin(), kBytes.end(), key.bytes.begin());
  // The first one's are these bytes.
  const uint32_t rotations = id - 1;
  for (size_t i = 0; i < sizeof rotations; ++i) {
    key.bytes[i] = static_cast<unsigned char>(key.bytes[i] ^ rotations >> 8 * i);
  }
  return key;
}

Refusal Invalid(std::string message) {
  return protocol::Refuse(ErrorCode::kInvalid, std::move(message));
}

}  // namespace

FrameDesk::FrameDesk(Outputs* outputs)
    : outputs_(*outputs),
      engine_({.index_seed = 1}),
      tokens_({{TokenKeyOf(1)}}),
      watches_(&engine_, outputs),
      desk_(&engine_, &log_, &tokens_, &watches_) {
  watches_.Attach(&desk_);
  desk_.BeginTurn(0);
}

// ---- time ----

void FrameDesk::Settle(int64_t now_ms) {
  do {
    desk_.BeginTurn(now_ms);
  } while (desk_.NextDue() <= now_ms);
}

void FrameDesk::Advance(int64_t duration_ms) {
  CHECK_GE(duration_ms, 0);
  CHECK_LE(duration_ms, protocol::kDurationMsMax);
  const int64_t target_ms = now_ms() + duration_ms;
  while (true) {
    const int64_t turn_ms = std::clamp(desk_.NextDue(), now_ms(), target_ms);
    Settle(turn_ms);
    watches_.PushStates();
    if (turn_ms == target_ms) break;
  }
  watches_.PushAll();
}

// ---- requests ----

void FrameDesk::OnFrame(uint64_t connection, const protocol::FrameHeader& header,
                        std::string_view payload) {
  ++requests_[header.operation];
  request_meter_.Count(now_ms());
  Asked asked{connection, header};
  const auto operation = static_cast<Operation>(header.operation);
  const std::optional<Fault> fault = faults_.Take(operation);
  bool goes_on = true;
  if (fault && fault->kind == Fault::Kind::kRefuse) {
    Refuse(asked, fault->refusal);
    goes_on = operation != Operation::kHello;
  } else if (!fault || fault->kind == Fault::Kind::kLoseReply) {
    asked.reply_lost = fault.has_value();
    if (header.kind != FrameKind::kRequest) {
      Refuse(asked, Invalid("a client sends requests only"));
      goes_on = false;
    } else if (operation == Operation::kHello || !greeted_.contains(connection)) {
      goes_on = Greet(asked, payload);
    } else {
      Work(asked, payload);
      Settle(now_ms());
      watches_.PushAll();
    }
  }
  if (!goes_on || (fault && fault->hang_up)) {
    outputs_.HangUp(connection);
    OnGone(connection);
  }
}

void FrameDesk::OnGone(uint64_t connection) {
  watches_.OnGone(connection);
  greeted_.erase(connection);
}

bool FrameDesk::Greet(const Asked& asked, std::string_view payload) {
  const auto refuse = [&](std::string message) {
    Refuse(asked, Invalid(std::move(message)));
    return false;
  };
  if (asked.header.operation != static_cast<uint8_t>(Operation::kHello)) {
    return refuse("hello comes first");
  }
  if (greeted_.contains(asked.connection)) return refuse("hello was said already");
  protocol::HelloRequest hello;
  if (!protocol::Decode(payload, &hello)) return refuse("malformed: not the fields of hello");
  if (hello.magic != protocol::kHelloMagic) return refuse("hello without the magic number");
  if (hello.version_min > protocol::kVersionMax || hello.version_max < protocol::kVersionMin ||
      hello.version_min > hello.version_max) {
    return refuse("no version of the protocol in common");
  }
  greeted_.insert(asked.connection);
  protocol::HelloReply reply;
  reply.version = std::min(hello.version_max, protocol::kVersionMax);
  reply.server = "anteroom_testing " + std::string(protocol::kVersion);
  Reply(asked, reply);
  return true;
}

void FrameDesk::Work(const Asked& asked, std::string_view payload) {
  protocol::Request request;
  switch (protocol::DecodeRequest(asked.header.operation, payload, &request)) {
    case protocol::RequestStatus::kUnknownOperation:
      return Refuse(asked,
                    Invalid("there is no operation " + std::to_string(asked.header.operation) +
                            " in version " + std::string(protocol::kVersion)));
    case protocol::RequestStatus::kMalformed:
      return Refuse(asked,
                    Invalid("malformed: not the fields of " +
                            std::string(protocol::FindOperation(asked.header.operation)->name)));
    case protocol::RequestStatus::kRight:
      break;
  }
  std::visit(
      [&](const auto& one) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, std::monostate>) {
          CHECK(false);
        } else {
          WorkOne(asked, one);
        }
      },
      request);
}

template <typename OneOperation>
void FrameDesk::WorkOne(const Asked& asked, const OneOperation& one) {
  constexpr Operation kOperation = OneOperation::kOperation;
  if constexpr (kOperation == Operation::kHello) {
    CHECK(false);  // Greet answers it
  } else if constexpr (kOperation == Operation::kAuthenticate) {
    Refuse(asked, protocol::Refuse(ErrorCode::kConflict, "no credentials are in use here"));
  } else if constexpr (kOperation == Operation::kPing) {
    Reply(asked, protocol::PingReply{static_cast<uint64_t>(desk_.now_ms())});
  } else if constexpr (kOperation == Operation::kHealth) {
    Reply(asked, DescribeHealth());
  } else if constexpr (kOperation == Operation::kClockAdvance) {
    const int64_t duration_ms = one.message.duration_ms;
    if (duration_ms < 0 || duration_ms > protocol::kDurationMsMax) {
      return Refuse(asked, Invalid("a clock is advanced by 0ms to 365d"));
    }
    Advance(duration_ms);
    Reply(asked, protocol::ClockReply{static_cast<uint64_t>(now_ms())});
  } else if constexpr (kOperation == Operation::kRotateTokenKey) {
    if (auto refusal = desk_.CheckUseTokenKey()) return Refuse(asked, *refusal);
    tokens_.Add(TokenKeyOf(++last_token_key_));
    Reply(asked, std::get<protocol::TokenKeyReply>(desk_.UseTokenKey(last_token_key_)));
  } else if constexpr (kOperation == Operation::kWatch || kOperation == Operation::kWatchRoom ||
                       kOperation == Operation::kUnwatch) {
    std::optional<Refusal> refusal;
    if constexpr (kOperation == Operation::kWatch) {
      refusal = watches_.Watch(asked.connection, asked.header.request_id, one.message);
    } else if constexpr (kOperation == Operation::kWatchRoom) {
      refusal = watches_.WatchRoom(asked.connection, asked.header.request_id, one.message);
    } else {
      refusal = watches_.Unwatch(asked.connection, one.message.watch_id);
    }
    if (refusal) return Refuse(asked, *refusal);
    Reply(asked, protocol::Empty{});
  } else {
    auto answer = desk_.Handle(one);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) return Refuse(asked, *refusal);
    auto& reply = std::get<0>(answer);
    if constexpr (kOperation == Operation::kStats) {
      reply.requests_per_s_milli = request_meter_.PerSecondMilli(now_ms());
    }
    Reply(asked, reply);
  }
}

void FrameDesk::Refuse(const Asked& asked, const Refusal& refusal) {
  std::string* const output = outputs_.OutputOf(asked.connection);
  if (asked.reply_lost || output == nullptr) return;
  protocol::AppendFrame(asked.header.operation, FrameKind::kRefusal, asked.header.request_id,
                        refusal, output);
}

template <typename Message>
void FrameDesk::Reply(const Asked& asked, const Message& message) {
  std::string* const output = outputs_.OutputOf(asked.connection);
  if (asked.reply_lost || output == nullptr) return;
  const size_t start = output->size();
  protocol::AppendFrame(asked.header.operation, FrameKind::kReply, asked.header.request_id, message,
                        output);
  if (output->size() - start <= protocol::kHeaderBytes + protocol::kPayloadBytesMax) return;
  output->resize(start);
  Refuse(asked, protocol::Refuse(ErrorCode::kTooLarge,
                                 "the answer does not fit into a frame: ask for fewer"));
}

// ---- a look inside ----

protocol::HealthReply FrameDesk::DescribeHealth() const {
  protocol::HealthReply health;
  health.version = protocol::kVersion;
  health.role = "leader";
  health.status = "ok";
  health.durability = "none";
  health.virtual_clock = true;
  health.at_ms = static_cast<uint64_t>(now_ms());
  health.uptime_ms = health.at_ms;
  health.sequence = log_.records();
  health.durable_sequence = log_.records();
  health.connections = greeted_.size();
  health.watches = watches_.count();
  health.memory_bytes = desk_.memory_bytes();
  return health;
}

std::optional<protocol::Counts> FrameDesk::Counts(std::string_view room) {
  auto answer = desk_.LookAtRoom(room);
  auto* reply = std::get_if<protocol::RoomReply>(&answer);
  if (reply == nullptr) return std::nullopt;
  return std::move(reply->counts);
}

void FrameDesk::check_invariants() {
  engine_.check_invariants();
  watches_.check_invariants();
  faults_.check_invariants();
  CHECK_GT(desk_.NextDue(), now_ms());
}

}  // namespace anteroom::testing
