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

Refusal RefusalOf(const Answer<protocol::VisitorReply>& answer) {
  const auto* refusal = std::get_if<Refusal>(&answer);
  return refusal != nullptr ? *refusal : Refusal{};
}

Answer<protocol::VisitorReply> Join(DeskWorld& world, const std::string& id) {
  return world.desk.Handle(protocol::JoinOperation{{"sale", id, std::nullopt}});
}

void MakeSale(DeskWorld& world, uint64_t capacity) {
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{capacity};
  settings.remember_ttl = protocol::Duration{1000};
  REQUIRE(world.desk.Handle(protocol::RoomCreateOperation{{"sale", settings}}).index() == 0);
}

TEST_CASE("desk: beyond the daemon's visitors and rooms newcomers are refused before the log") {
  DeskWorld world;
  MakeSale(world, 0);
  world.desk.SetLimits({.visitors = 2, .rooms = 1});
  CHECK(Join(world, "a").index() == 0);
  CHECK(Join(world, "b").index() == 0);
  const size_t records = world.log.records.size();
  CHECK(RefusalOf(Join(world, "c")).reason == protocol::Reason::kTooManyVisitors);
  CHECK(Join(world, "a").index() == 0);
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{1};
  const auto second = world.desk.Handle(protocol::RoomCreateOperation{{"second", settings}});
  CHECK(std::get<Refusal>(second).reason == protocol::Reason::kTooManyRooms);
  CHECK(world.log.records.size() == records);
  // Fewer than there are: nobody is sent away.
  world.desk.SetLimits({.visitors = 1, .rooms = 1});
  CHECK(Join(world, "b").index() == 0);
  CHECK(world.desk.Handle(protocol::LeaveOperation{{"sale", "a"}}).index() == 0);
  CHECK(RefusalOf(Join(world, "c")).reason == protocol::Reason::kTooManyVisitors);
  CHECK(world.desk.Handle(protocol::LeaveOperation{{"sale", "b"}}).index() == 0);
  CHECK(Join(world, "c").index() == 0);
}

TEST_CASE("desk: so many are kept out of a room, and one of them again, but nobody more") {
  DeskWorld world;
  MakeSale(world, 0);
  const auto block = [&](const std::string& id, int64_t duration_ms) {
    return world.desk.Handle(protocol::RevokeOperation{{"sale", id, duration_ms}});
  };
  const uint64_t before = limits::kBlocksPerRoomMax - 1;
  for (uint64_t i = 0; i < before; ++i) CHECK(block("v" + std::to_string(i), 1000).index() == 0);
  CHECK(block("last", 2000).index() == 0);
  const size_t records = world.log.records.size();
  const Refusal refusal = RefusalOf(block("one-more", 1000));
  CHECK(refusal.error == ErrorCode::kUnavailable);
  CHECK(world.log.records.size() == records);
  CHECK(block("last", 3000).index() == 0);
  CHECK(RefusalOf(Join(world, "last")).error == ErrorCode::kBlocked);
  CHECK(world.engine.FindRoom("sale")->blocks.count == limits::kBlocksPerRoomMax);
  // When some are over there is room for others.
  world.Advance(1500);
  CHECK(block("one-more", 1000).index() == 0);
  world.engine.check_invariants();
}

TEST_CASE("desk: without memory there is nobody and nothing new, everybody already here goes on") {
  DeskWorld world;
  MakeSale(world, 3);
  for (const char* id : {"in1", "in2", "in3", "w1", "w2"}) {
    REQUIRE(Join(world, id).index() == 0);
  }
  REQUIRE(world.desk.Handle(protocol::RevokeOperation{{"sale", "out", 5000}}).index() == 0);
  world.desk.SetLimits({.memory_bytes = world.desk.memory_bytes()});
  CHECK(world.desk.memory_full());

  // Nothing of this makes a record.
  size_t records = world.log.records.size();
  const Refusal refusal = RefusalOf(Join(world, "new"));
  CHECK(refusal.error == ErrorCode::kUnavailable);
  CHECK(refusal.reason == protocol::Reason::kMemoryFull);
  CHECK(refusal.retry_after_ms.has_value());
  const auto is_full = [](const Answer<protocol::VisitorReply>& answer) {
    return RefusalOf(answer).reason == protocol::Reason::kMemoryFull;
  };
  CHECK(is_full(world.desk.Handle(protocol::EnterOperation{{"sale", "new", std::nullopt}})));
  CHECK(is_full(world.desk.Handle(protocol::AdmitVisitorOperation{{"sale", "new", true}})));
  CHECK(is_full(world.desk.Handle(protocol::RevokeOperation{{"sale", "new", 5000}})));
  const auto joins =
      world.desk.Handle(protocol::JoinManyOperation{{{{"sale", "new", {}}, {"sale", "w1", {}}}}});
  const auto& results = std::get<protocol::VisitorResults>(joins).items;
  CHECK(results[0].refusal->reason == protocol::Reason::kMemoryFull);
  CHECK(results[1].reply.has_value());
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{1};
  const auto room = world.desk.Handle(protocol::RoomCreateOperation{{"second", settings}});
  CHECK(std::get<Refusal>(room).reason == protocol::Reason::kMemoryFull);
  CHECK(world.log.records.size() == records);

  // All of this goes on.
  const auto token = [&](const char* id) {
    return std::get<protocol::VisitorReply>(
               world.desk.Handle(protocol::StatusOperation{{"sale", id}}))
        .token.value();
  };
  const protocol::Token first = token("in1");
  CHECK(world.desk.Handle(protocol::ClaimOperation{{"sale", "in1", first.view()}}).index() == 0);
  CHECK(world.desk.Handle(protocol::TouchOperation{{"sale", "in1", first.view()}}).index() == 0);
  CHECK(world.desk.Handle(protocol::EnterOperation{{"sale", "in2", std::nullopt}}).index() == 0);
  CHECK(world.desk
            .Handle(protocol::FinishOperation{
                {"sale", "in1", first.view(), protocol::Outcome::kCompleted}})
            .index() == 0);
  CHECK(world.engine.FindRoom("sale")->occupied() == 3);  // w1 was let in
  CHECK(world.desk.Handle(protocol::RevokeOperation{{"sale", "in2", 5000}}).index() == 0);
  CHECK(world.desk.Handle(protocol::RevokeOperation{{"sale", "out", 6000}}).index() == 0);
  CHECK(world.desk.Handle(protocol::AdmitOperation{{"sale", 1, "key"}}).index() == 0);
  settings.capacity = protocol::Limit{10};
  CHECK(world.desk.Handle(protocol::RoomSetOperation{{"sale", settings, {}}}).index() == 0);
  CHECK(is_full(Join(world, "new")));
  for (const char* id : {"in3", "w1", "w2"}) {
    CHECK(world.desk.Handle(protocol::FinishOperation{{"sale", id, {}, {}}}).index() == 0);
  }

  // When those who ended are forgotten there is memory, by itself.
  world.Advance(10'000);
  CHECK(Join(world, "new").index() == 0);
  world.engine.check_invariants();

  // What is beside the desk counts.
  world.desk.SetMemoryBeside(1'000'000);
  CHECK(is_full(Join(world, "newer")));
  world.desk.SetMemoryBeside(0);
  CHECK(Join(world, "newer").index() == 0);
}

TEST_CASE("engine: what it says that everything takes is what it takes, and gone when that is") {
  DeskWorld world;
  const size_t nothing = world.engine.used_bytes();
  constexpr int kPeople = 20'000;
  for (const size_t id_bytes : {10, 16, 17, 200}) {
    MakeSale(world, kPeople / 2);
    const size_t before = world.engine.used_bytes();
    for (int i = 0; i < kPeople; ++i) {
      std::string id = std::to_string(i);
      id.resize(id_bytes, 'x');
      REQUIRE(Join(world, id).index() == 0);
    }
    const size_t each = (world.engine.used_bytes() - before) / kPeople;
    // Half of them wait and half are inside, with a session and the timer of their claim.
    INFO(id_bytes, " ", each);
    CHECK(each >= 80 + (id_bytes > 16 ? id_bytes : 0));
    CHECK(each <= 130 + (id_bytes > 16 ? id_bytes + 32 : 0));
    // All that was ever taken from the system, for this or what was before.
    CHECK(world.engine.bytes() + (id_bytes > 16 ? (id_bytes + 32) * kPeople : 0) + 8192 >=
          world.engine.used_bytes());
    REQUIRE(world.desk.Handle(protocol::RoomDeleteOperation{{"sale", true}}).index() == 0);
    world.Advance(100'000);
    world.engine.check_invariants();
    // The least that its tables are.
    CHECK(world.engine.used_bytes() <= nothing + 8192);
  }
}

TEST_CASE("engine: keys of admissions count, and go with their room") {
  DeskWorld world;
  MakeSale(world, 0);
  const size_t before = world.engine.used_bytes();
  for (size_t i = 0; i < limits::kAdmitKeysPerRoomMax + 10; ++i) {
    const std::string key = std::to_string(i);
    REQUIRE(world.desk.Handle(protocol::AdmitOperation{{"sale", 1, key}}).index() == 0);
  }
  CHECK(world.engine.used_bytes() - before >= limits::kAdmitKeysPerRoomMax * 100);
  world.engine.check_invariants();
  REQUIRE(world.desk.Handle(protocol::RoomDeleteOperation{{"sale", true}}).index() == 0);
  world.Advance(1000);
  CHECK(world.engine.used_bytes() < before);
  world.engine.check_invariants();
}

}  // namespace
}  // namespace anteroom
