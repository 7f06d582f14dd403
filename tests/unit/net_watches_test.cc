// Watches of visitors, and what all watches have in common.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "server/base/limits.h"
#include "tests/support/seed.h"
#include "tests/support/watch_hall.h"

namespace anteroom::net {
namespace {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Reason;
using protocol::State;

TEST_CASE("the nearer the front, the more often a position is pushed") {
  REQUIRE(PositionPushMs(0) == 1000);
  REQUIRE(PositionPushMs(99) == 1000);
  REQUIRE(PositionPushMs(200) == 2000);
  REQUIRE(PositionPushMs(3000) == 30'000);
  REQUIRE(PositionPushMs(10'000'000) == 30'000);
}

TEST_CASE("a watch begins with the present state of each, in order") {
  Hall hall;
  for (const char* visitor : {"a", "b", "c", "d"}) hall.Join(visitor);
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 9, {"d", "a", "nobody", "c"}));
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 4);
  REQUIRE(told[0].watch == 9);
  REQUIRE(told[0].push.visitor == "d");
  REQUIRE(told[0].push.reply->state == State::kWaiting);
  REQUIRE(told[0].push.reply->ahead == 1);
  REQUIRE(told[1].push.reply->state == State::kAdmitted);
  REQUIRE(told[1].push.reply->token);
  REQUIRE(told[2].push.visitor == "nobody");
  REQUIRE(told[2].push.refusal->error == ErrorCode::kNotFound);
  REQUIRE(told[3].push.visitor == "c");
  REQUIRE(hall.watches.count() == 3);
  REQUIRE(connection.last_mark == hall.log.last);
}

TEST_CASE("a change of state is pushed at once, and the end is the last word") {
  Hall hall;
  for (const char* visitor : {"a", "b", "c"}) hall.Join(visitor);
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a", "c"}));
  connection.Take();
  hall.Finish("a");
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 2);
  REQUIRE(told[0].push.visitor == "a");
  REQUIRE(told[0].push.reply->state == State::kEnded);
  REQUIRE(told[0].push.reply->reason == Reason::kCompleted);
  REQUIRE(told[1].push.visitor == "c");
  REQUIRE(told[1].push.reply->state == State::kAdmitted);
  hall.Finish("c");
  const std::vector<Told> last = connection.Take();
  REQUIRE(last.size() == 2);
  REQUIRE(last[0].push.reply->state == State::kEnded);
  REQUIRE(last[1].kind == FrameKind::kEnd);
  REQUIRE(last[1].end.error == ErrorCode::kNotFound);
  REQUIRE(hall.watches.count() == 0);
  // Its id is free again.
  hall.Join("a");
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a"}));
  REQUIRE(connection.Take().size() == 1);
}

TEST_CASE("a state is pushed that does not last until the turn's end") {
  Hall hall;
  protocol::RoomSettings settings;
  settings.claim_ttl = protocol::Duration{1000};
  settings.no_show = protocol::NoShow::kRequeue;
  settings.requeue_max = 1;
  hall.Set(settings);
  for (const char* visitor : {"a", "b", "c", "d"}) hall.Join(visitor);
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"c"}));
  connection.Take();
  for (int64_t now_ms = 1000; now_ms <= 4000; now_ms += 1000) hall.desk.BeginTurn(now_ms);
  std::string states;
  for (const Told& told : connection.Take()) {
    if (told.kind != FrameKind::kPush) continue;
    states += std::string(NameOf(told.push.reply->state)) + " ";
    if (told.push.reply->state == State::kAdmitted) {
      REQUIRE(told.push.reply->token);
      REQUIRE(told.push.reply->expires_in_ms == 1000);
    }
  }
  REQUIRE(states == "admitted waiting admitted ended ");
}

TEST_CASE("positions are pushed by the loop's time, when they have changed") {
  Hall hall;
  for (const char* visitor : {"a", "b", "c", "d"}) hall.Join(visitor);
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"d"}));
  REQUIRE(connection.Take().size() == 1);
  hall.Turn(0, 1000);
  REQUIRE(connection.Take().empty());
  REQUIRE(hall.Done(hall.desk.Handle(protocol::LeaveOperation{{"sale", "c"}})));
  hall.watches.Push();
  REQUIRE(connection.Take().empty());
  hall.Turn(0, 1999);
  REQUIRE(connection.Take().empty());
  REQUIRE(hall.watches.NextDueMs() == 2000);
  hall.Turn(0, 2000);
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 1);
  REQUIRE(told[0].push.reply->ahead == 0);
}

TEST_CASE("who does not read is told the latest, once there is room") {
  Hall hall;
  for (const char* visitor : {"a", "b", "c"}) hall.Join(visitor);
  FakeConnection connection;
  FakeConnection other;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a", "c"}));
  REQUIRE_FALSE(hall.Watch(&other, 1, {"c"}));
  connection.Take();
  other.Take();
  connection.room = false;
  hall.Finish("a");
  hall.Finish("c");
  REQUIRE(connection.out.empty());
  REQUIRE(other.Take().size() == 3);  // admitted, ended, the watch's end
  hall.Turn(0, 100);
  REQUIRE(connection.out.empty());
  connection.room = true;
  hall.Turn(0, 200);
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 3);
  REQUIRE(told[0].push.reply->state == State::kEnded);
  REQUIRE(told[1].push.reply->state == State::kEnded);
  REQUIRE(told[2].kind == FrameKind::kEnd);
  hall.watches.check_invariants();
}

TEST_CASE("a room's new settings are told to everybody who waits") {
  Hall hall;
  for (const char* visitor : {"a", "b", "c"}) hall.Join(visitor);
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a", "c"}));
  REQUIRE_FALSE(hall.watches.WatchRoom(&connection, 2, {"sale"}));
  hall.watches.Push();
  REQUIRE(connection.Take().size() == 3);
  protocol::RoomSettings closed;
  closed.mode = protocol::Mode::kClosed;
  hall.Set(closed);
  hall.Turn(0, 1);
  const std::vector<Told> told = connection.Take();
  bool waiting_told = false;
  bool room_told = false;
  for (const Told& one : told) {
    waiting_told |= one.push.visitor == "c" && one.push.reply->reason == Reason::kClosed;
    room_told |= one.watch == 2 &&
                 (one.room.room && one.room.room->settings.mode == protocol::Mode::kClosed);
  }
  REQUIRE(waiting_told);
  REQUIRE(room_told);
}

TEST_CASE("a room that is reset ends its watches") {
  Hall hall;
  hall.Join("a");
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a"}));
  REQUIRE_FALSE(hall.watches.WatchRoom(&connection, 2, {"sale"}));
  hall.watches.Push();
  connection.Take();
  REQUIRE(hall.Done(hall.desk.Handle(protocol::RoomResetOperation{{"sale"}})));
  hall.Turn(0, 1);
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 3);
  REQUIRE(told[0].push.refusal->error == ErrorCode::kNotFound);
  REQUIRE(told[1].kind == FrameKind::kEnd);
  REQUIRE(told[2].kind == FrameKind::kEnd);
  REQUIRE(hall.watches.count() == 0);
}

TEST_CASE("whoever is let in by the very record that removes the room hears of its end") {
  Hall hall;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{0};
  hall.Set(settings);
  // More than one record lets in.
  const size_t count = 2 * limits::kAdmissionsPerRecordMax;
  for (size_t i = 0; i < count; ++i) hall.Join("v" + std::to_string(i));
  const std::string last = "v" + std::to_string(count - 1);
  FakeConnection connection;
  REQUIRE_FALSE(hall.Watch(&connection, 1, {last}));
  connection.Take();
  settings.capacity = protocol::Limit{count};
  hall.Set(settings);
  REQUIRE(hall.Done(hall.desk.Handle(protocol::RoomDeleteOperation{{"sale", true}})));
  hall.Turn(0, 1);
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 2);
  REQUIRE(told[0].push.refusal->error == ErrorCode::kNotFound);
  REQUIRE(told[1].kind == FrameKind::kEnd);
}

TEST_CASE("what cannot be watched is refused in words") {
  Hall hall;
  hall.Join("a");
  FakeConnection connection;
  REQUIRE(hall.Watch(&connection, 1, {})->error == ErrorCode::kInvalid);
  REQUIRE(hall.Watch(&connection, 1, {""})->error == ErrorCode::kInvalid);
  REQUIRE(hall.Watch(&connection, 1, std::vector<std::string_view>(1001, "a"))->error ==
          ErrorCode::kTooLarge);
  REQUIRE(hall.watches.Watch(&connection, 1, {"no-such-room", {"a"}})->error ==
          ErrorCode::kNotFound);
  REQUIRE(hall.watches.WatchRoom(&connection, 1, {"no-such-room"})->error == ErrorCode::kNotFound);
  REQUIRE(hall.watches.Unwatch(&connection, 1)->error == ErrorCode::kNotFound);
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a"}));
  REQUIRE(hall.Watch(&connection, 1, {"a"})->error == ErrorCode::kConflict);
  REQUIRE_FALSE(hall.watches.Unwatch(&connection, 1));
  REQUIRE(hall.watches.Unwatch(&connection, 1)->error == ErrorCode::kNotFound);
  REQUIRE_FALSE(hall.Watch(&connection, 1, {"a"}));
  hall.watches.check_invariants();
}

TEST_CASE("one connection watches so many at most") {
  Hall hall;
  FakeConnection connection;
  connection.room = false;
  std::vector<std::string> names;
  uint32_t id = 0;
  for (size_t watched = 0; watched < Limits().connection_watches; watched += 1000) {
    names.clear();
    for (size_t i = 0; i < 1000; ++i) names.push_back("v" + std::to_string(watched + i));
    REQUIRE_FALSE(
        hall.Watch(&connection, ++id, std::vector<std::string_view>(names.begin(), names.end())));
  }
  const auto refusal = hall.Watch(&connection, ++id, {"one more"});
  REQUIRE(refusal->error == ErrorCode::kUnavailable);
  REQUIRE(refusal->reason == Reason::kTooManyWatches);
  // Its going frees them in steps, and others are served between.
  hall.watches.OnGone(&connection);
  int turns = 0;
  for (; hall.watches.count() > 0; ++turns) hall.watches.BeginTurn(turns);
  REQUIRE(turns >= static_cast<int>(Limits().connection_watches / limits::kWatchStepsPerTurn));
  hall.watches.check_invariants();
}

// What each subscriber believes after any history is what a status says.
TEST_CASE("after any history every subscriber knows the present state") {
  std::mt19937_64 random(TestSeed());
  Hall hall;
  protocol::RoomSettings settings;
  settings.waiting_ttl = protocol::Duration{60'000};
  settings.claim_ttl = protocol::Duration{5'000};
  hall.Set(settings);
  constexpr size_t kConnections = 5;
  constexpr size_t kVisitors = 30;
  std::vector<std::unique_ptr<FakeConnection>> connections;
  for (size_t i = 0; i < kConnections; ++i)
    connections.push_back(std::make_unique<FakeConnection>());
  // Of each connection: what it watches under which id, and what it was told last.
  std::vector<std::map<std::pair<uint32_t, std::string>, std::optional<State>>> known(kConnections);
  const auto take = [&](size_t c) {
    for (const Told& told : connections[c]->Take()) {
      if (told.kind == FrameKind::kEnd) {
        std::erase_if(known[c], [&](const auto& one) { return one.first.first == told.watch; });
        continue;
      }
      const auto found = known[c].find({told.watch, told.push.visitor});
      if (found == known[c].end()) continue;  // unwatched in between
      if (told.push.refusal || told.push.reply->state == State::kEnded) {
        known[c].erase(found);
      } else {
        found->second = told.push.reply->state;
      }
    }
  };
  uint32_t next_id = 1;
  int64_t now_ms = 0;
  for (int step = 0; step < 20'000; ++step) {
    const size_t c = random() % kConnections;
    const std::string visitor = "visitor-with-a-long-name-" + std::to_string(random() % kVisitors);
    switch (random() % 12) {
      case 0: {
        const std::string second =
            "visitor-with-a-long-name-" + std::to_string(random() % kVisitors);
        if (visitor == second) break;
        take(c);
        known[c][{next_id, visitor}] = std::nullopt;
        known[c][{next_id, second}] = std::nullopt;
        REQUIRE_FALSE(hall.Watch(connections[c].get(), next_id++, {visitor, second}));
        break;
      }
      case 1:
        if (known[c].empty()) break;
        take(c);
        if (known[c].empty()) break;
        {
          const uint32_t id = known[c].begin()->first.first;
          REQUIRE_FALSE(hall.watches.Unwatch(connections[c].get(), id));
          std::erase_if(known[c], [&](const auto& one) { return one.first.first == id; });
        }
        break;
      case 2:
        connections[c]->room = random() % 2 == 0;
        break;
      case 3:
        if (random() % 20 != 0) break;
        hall.watches.OnGone(connections[c].get());
        connections[c]->out.clear();
        connections[c]->last_mark = 0;
        known[c].clear();
        break;
      case 4:
        if (random() % 50 == 0) hall.desk.Handle(protocol::RoomResetOperation{{"sale"}});
        break;
      case 5:
        hall.desk.Handle(protocol::LeaveOperation{{"sale", visitor}});
        break;
      case 6:
        hall.desk.Handle(protocol::FinishOperation{{"sale", visitor, std::nullopt, std::nullopt}});
        break;
      case 7:
        hall.desk.Handle(protocol::EnterOperation{{"sale", visitor, std::nullopt}});
        break;
      case 8:
        now_ms += static_cast<int64_t>(random() % 2000);
        break;
      default:
        hall.desk.Handle(protocol::JoinOperation{{"sale", visitor, std::nullopt}});
    }
    hall.watches.Push();
    hall.desk.BeginTurn(now_ms);
    hall.watches.BeginTurn(now_ms);
    hall.watches.Push();
    if (step % 100 != 0) continue;
    for (const auto& connection : connections) connection->room = true;
    for (int turn = 0; turn < 5; ++turn) {
      now_ms += 30;
      hall.Turn(now_ms, now_ms);
    }
    REQUIRE_FALSE(hall.watches.has_backlog());
    for (size_t i = 0; i < kConnections; ++i) {
      take(i);
      for (const auto& [key, state] : known[i]) {
        const auto answer = hall.desk.Look("sale", key.second);
        REQUIRE(hall.Done(answer));
        REQUIRE(state == std::get<protocol::VisitorReply>(answer).state);
      }
    }
  }
}

}  // namespace
}  // namespace anteroom::net
