// What stands on the wire.

#include <string>
#include <string_view>

#include "protocol/frame.h"
#include "protocol/limits.h"
#include "protocol/operations.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/targets.h"
#include "tests/support/desk_world.h"
#include "tests/support/wire_examples.h"
#include "tests/support/wire_messages.h"

namespace anteroom::fuzz {

using protocol::FrameKind;
using protocol::Operation;

std::vector<Seed> FramesSeeds() {
  Seed requests{"requests", ""};
  Seed replies{"replies", ""};
  Seed others{"refusals_and_pushes", ""};
  for (const WireExample& example : WireExamples()) {
    protocol::FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    TakeFrame(example.frame, &header, &payload, &consumed);
    Seed& seed = header.kind == FrameKind::kRequest ? requests
                 : header.kind == FrameKind::kReply ? replies
                                                    : others;
    seed.bytes += example.frame;
  }
  return {requests, replies, others};
}

std::vector<Seed> MessagesSeeds() {
  constexpr std::string_view kWanted[] = {
      "VisitorReply", "VisitorResults", "JoinManyRequest", "WatchRequest", "VisitorPush",
      "RoomPush",     "AdmitReply",     "RoomSetRequest",  "RoomReply",    "PageReply",
      "HealthReply",  "StatsReply",     "Refusal",         "HelloReply",   "AuthenticateRequest"};
  RandomMessages random(7);
  std::vector<Seed> seeds;
  uint64_t number = 0;
  const auto add = [&]<typename Message>(std::string_view name) {
    std::string bytes;
    // Small ones: the shortest of some.
    for (int i = 0; i < 40; ++i) {
      std::string other;
      protocol::Encode(random.Make<Message>(), &other);
      if (i == 0 || (other.size() < bytes.size() && other.size() > 20)) bytes = other;
    }
    for (const std::string_view wanted : kWanted) {
      if (wanted == name) {
        seeds.push_back({std::string(name), ByteSink().Byte(number).Bytes(bytes).bytes()});
      }
    }
    ++number;
  };
#define ANTEROOM_X(Message) add.template operator()<protocol::Message>(#Message);
  ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X
  return seeds;
}

namespace {

// A client's frames; the time that passes before one is its request id (desk_fuzz.cc).
class Frames {
 public:
  template <typename Message>
  Frames& Ask(Operation operation, const Message& message, uint32_t passed_ms = 0) {
    AppendFrame(static_cast<uint8_t>(operation), FrameKind::kRequest, passed_ms, message, &bytes_);
    return *this;
  }
  Frames& Create(std::string_view room, protocol::RoomSettings settings) {
    return Ask(Operation::kRoomCreate, protocol::RoomCreateRequest{room, settings});
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

protocol::RoomSettings Settings(uint32_t per_second, uint64_t capacity) {
  protocol::RoomSettings settings;
  settings.rate = protocol::Rate{per_second, 1000};
  settings.capacity = protocol::Limit{capacity};
  return settings;
}

}  // namespace

std::vector<Seed> DeskSeeds() {
  const protocol::Token first = PlainTokens::Of(1);
  const protocol::Token second = PlainTokens::Of(2);
  Frames sale;
  sale.Create("a", Settings(1, 1))
      .Ask(Operation::kJoin, protocol::JoinRequest{"a", "v", {}})
      .Ask(Operation::kEnter, protocol::JoinRequest{"a", "w", 3})
      .Ask(Operation::kClaim, protocol::TokenRequest{"a", "v", first.view()}, 20)
      .Ask(Operation::kVerify, protocol::TokenRequest{"a", "v", first.view()})
      .Ask(Operation::kTouch, protocol::TokenRequest{"a", "v", first.view()}, 300)
      .Ask(Operation::kFinish,
           protocol::FinishRequest{"a", "v", first.view(), protocol::Outcome::kCompleted}, 1500)
      .Ask(Operation::kStatus, protocol::VisitorRequest{"a", "w"}, 20)
      .Ask(Operation::kLeave, protocol::VisitorRequest{"a", "w"})
      .Ask(Operation::kStats, protocol::StatsRequest{});

  protocol::RoomSettings strict = Settings(3, 4);
  strict.claim_ttl = protocol::Duration{1000};
  strict.no_show = protocol::NoShow::kRequeue;
  strict.waiting_ttl = protocol::Duration{3000};
  strict.session_ttl = protocol::Duration{2000};
  strict.max_waiting = protocol::Limit{3};
  Frames times;
  times.Create("b", strict)
      .Ask(Operation::kJoinMany,
           protocol::JoinManyRequest{{{"b", "1", {}}, {"b", "2", 0}, {"b", "3", 255}}})
      .Ask(Operation::kAdmit, protocol::AdmitRequest{"b", 2, "key"})
      .Ask(Operation::kAdmit, protocol::AdmitRequest{"b", 2, "key"}, 700)
      .Ask(Operation::kClaim, protocol::TokenRequest{"b", "1", second.view()}, 10)
      .Ask(Operation::kStatusMany, protocol::StatusManyRequest{{{"b", "1"}, {"b", "3"}}}, 2500)
      .Ask(Operation::kRevoke, protocol::RevokeRequest{"b", "2", 5000})
      .Ask(Operation::kJoin, protocol::JoinRequest{"b", "2", {}}, 100)
      .Ask(Operation::kAdmitVisitor, protocol::AdmitVisitorRequest{"b", "4", true});

  Frames rooms;
  protocol::RoomSettings paused;
  paused.mode = protocol::Mode::kPaused;
  rooms.Create("c", Settings(0, 2))
      .Create("d", {})
      .Ask(Operation::kRoomSet, protocol::RoomSetRequest{"c", paused, 1})
      .Ask(Operation::kJoin, protocol::JoinRequest{"c", "v", {}})
      .Ask(Operation::kRoomShow, protocol::RoomRequest{"c"})
      .Ask(Operation::kPeek, protocol::PageRequest{"c", 0, 5})
      .Ask(Operation::kInside, protocol::PageRequest{"c", 0, 5})
      .Ask(Operation::kRoomList, protocol::RoomListRequest{"", 9})
      .Ask(Operation::kRoomReset, protocol::RoomRequest{"c"})
      .Ask(Operation::kRoomDelete, protocol::RoomDeleteRequest{"c", true}, 50);
  return {{"sale", sale.bytes()}, {"times", times.bytes()}, {"rooms", rooms.bytes()}};
}

std::vector<Seed> HandshakeSeeds() {
  // In the form of handshake_fuzz.cc.
  const std::string nonce(protocol::kNonceBytes, 'n');
  const std::string challenge(protocol::kNonceBytes, 'c');
  const auto of_ann = [&] { return ByteSink().Byte(0).Text("ann").Text(nonce).Text(challenge); };
  return {{"right", of_ann().Byte(0).bytes()},
          {"changed", of_ann().Byte(1).Byte(31).Byte(0x80).bytes()},
          {"sent_back", of_ann().Byte(2).bytes()},
          {"none", of_ann().Byte(3).bytes()},
          {"of_another", ByteSink().Byte(1).Text("ann").Text(nonce).Text("").bytes()}};
}

}  // namespace anteroom::fuzz
