// What happens at the limits that nobody reaches by accident.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <variant>

#include "server/base/limits.h"
#include "tests/support/desk_world.h"

namespace anteroom {
namespace {

using protocol::ErrorCode;
using protocol::Refusal;

// Joins in ever new lanes of ever new rooms, each of which takes nodes of its own, until one is
// refused.
Refusal FillWithLanes(DeskWorld& world, const protocol::RoomSettings& settings, int* joined) {
  for (int room = 0;; ++room) {
    const std::string name = "room-" + std::to_string(room);
    REQUIRE(world.desk.Handle(protocol::RoomCreateOperation{{name, settings}}).index() == 0);
    for (int lane = 0; lane < 256; ++lane) {
      const std::string id = "v" + std::to_string(lane);
      const auto answer =
          world.desk.Handle(protocol::JoinOperation{{name, id, static_cast<uint8_t>(lane)}});
      if (const auto* refusal = std::get_if<Refusal>(&answer)) return *refusal;
      ++*joined;
    }
  }
}

TEST_CASE("desk: when lines have no storage left newcomers are refused, all others go on") {
  constexpr uint32_t kNodes = 1000;
  DeskWorld world(1, kNodes);
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{0};
  settings.claim_ttl = protocol::Duration{1000};
  settings.no_show = protocol::NoShow::kRequeue;
  settings.requeue_max = 3;
  int joined = 0;
  const Refusal refusal = FillWithLanes(world, settings, &joined);
  CHECK(refusal.error == ErrorCode::kUnavailable);
  CHECK(refusal.reason == protocol::Reason::kTooManyVisitors);
  CHECK(joined > static_cast<int>(kNodes / 2));
  world.engine.check_invariants();

  // Everybody is let in, does not come, and is put back into a lane of their own.
  protocol::RoomSettings open;
  open.capacity = protocol::Limit{1000};
  for (int room = 0; world.engine.FindRoom("room-" + std::to_string(room)) != nullptr; ++room) {
    const std::string name = "room-" + std::to_string(room);
    CHECK(world.desk.Handle(protocol::RoomSetOperation{{name, open, std::nullopt}}).index() == 0);
  }
  CHECK(world.engine.overall().admitted == static_cast<uint64_t>(joined));
  for (int round = 0; round < 6; ++round) {
    world.Advance(1000);
    world.engine.check_invariants();
  }
  CHECK(world.engine.overall().waiting + world.engine.overall().admitted == 0);
  CHECK(world.desk.Handle(protocol::JoinOperation{{"room-0", "new", std::nullopt}}).index() == 0);
}

TEST_CASE(
    "desk: every ending of a visitor is remembered, and a token found among the last thousand") {
  DeskWorld world;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{protocol::Limit::kNone};
  REQUIRE(world.desk.Handle(protocol::RoomCreateOperation{{"sale", settings}}).index() == 0);
  const uint64_t endings = limits::kMemoriesComparedMax + 1;
  for (uint64_t i = 0; i < endings; ++i) {
    CHECK(world.desk.Handle(protocol::JoinOperation{{"sale", "again", std::nullopt}}).index() == 0);
    CHECK(world.desk.Handle(protocol::LeaveOperation{{"sale", "again"}}).index() == 0);
  }
  CHECK(world.engine.FindRoom("sale")->memories.count == endings);
  const auto error_of = [&](uint64_t admission) {
    const protocol::Token token = PlainTokens::Of(admission);
    const auto answer =
        world.desk.Handle(protocol::VerifyOperation{{"sale", "again", token.view()}});
    return std::get<Refusal>(answer).error;
  };
  CHECK(error_of(1) == ErrorCode::kBadToken);
  CHECK(error_of(2) == ErrorCode::kExpired);
  CHECK(error_of(endings) == ErrorCode::kExpired);
  world.engine.check_invariants();
}

}  // namespace
}  // namespace anteroom
