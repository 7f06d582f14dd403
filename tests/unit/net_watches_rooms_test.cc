// What watches of a room are told: counts, settings, and every event in its order.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "server/base/limits.h"
#include "tests/support/seed.h"
#include "tests/support/watch_hall.h"

namespace anteroom::net {
namespace {

using protocol::FrameKind;
using protocol::Reason;
using protocol::RoomEvent;
using protocol::State;

// `a waiting, b ended left, 3 missed, room`
std::string InWords(const std::vector<Told>& all) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  for (const Told& told : all) {
    if (told.kind == FrameKind::kEnd) {
      add("end");
      continue;
    }
    if (told.room.missed) add(std::to_string(*told.room.missed) + " missed");
    for (const RoomEvent& event : told.room.events) {
      add(event.visitor + " " + std::string(NameOf(event.state)));
      if (event.reason) words += " " + std::string(NameOf(*event.reason));
    }
    if (told.room.room) add("room");
  }
  return words;
}

uint64_t EventsIn(const std::vector<Told>& all) {
  uint64_t count = 0;
  for (const Told& told : all) {
    REQUIRE(told.room.events.size() <= protocol::kRoomEventsMax);
    count += told.room.events.size();
  }
  return count;
}

uint64_t MissedIn(const std::vector<Told>& all) {
  uint64_t count = 0;
  for (const Told& told : all) count += told.room.missed.value_or(0);
  return count;
}

TEST_CASE("a room's counts are pushed at most once a second") {
  Hall hall;
  FakeConnection connection;
  hall.WatchRoom(&connection, 2);
  REQUIRE(InWords(connection.Take()) == "room");
  for (int i = 0; i < 10; ++i) hall.Join("visitor " + std::to_string(i));
  REQUIRE(EventsIn(connection.Take()) == 12);  // two were let in
  hall.Turn(0, 999);
  REQUIRE(connection.Take().empty());
  hall.Turn(0, 1000);
  const std::vector<Told> told = connection.Take();
  REQUIRE(InWords(told) == "room");
  REQUIRE(told[0].room.room->counts.joined_total == 10);
  hall.Turn(0, 5000);
  REQUIRE(connection.Take().empty());
  hall.Join("late");
  REQUIRE(InWords(connection.Take()) == "late waiting, room");
}

TEST_CASE("an event is told of each change of state, with what belongs to it") {
  Hall hall;
  hall.Join("before");
  FakeConnection connection;
  hall.WatchRoom(&connection, 2);
  connection.Take();
  hall.desk.BeginTurn(500);
  REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "ann", 7}})));
  REQUIRE(hall.Done(hall.desk.Handle(protocol::EnterOperation{{"sale", "ann", std::nullopt}})));
  REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "bob", std::nullopt}})));
  REQUIRE(hall.Done(hall.desk.Handle(protocol::LeaveOperation{{"sale", "bob"}})));
  REQUIRE(connection.out.empty());  // until the turn ends
  hall.Finish("ann");
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 1);
  REQUIRE(InWords(told) ==
          "ann waiting, ann admitted, ann active, bob waiting, bob ended left, "
          "ann ended completed");
  const std::vector<RoomEvent>& events = told[0].room.events;
  for (const RoomEvent& event : events) {
    CAPTURE(NameOf(event.state));
    REQUIRE(event.at_ms == 500);
    const bool waiting = event.state == State::kWaiting;
    REQUIRE(event.arrival.has_value() == waiting);
    REQUIRE(event.lane.has_value() == waiting);
    REQUIRE(event.admission.has_value() == (event.visitor == "ann" && !waiting));
    REQUIRE(event.reason.has_value() == (event.state == State::kEnded));
  }
  REQUIRE(events[0].lane == 7);
  REQUIRE(events[3].lane == protocol::kLaneDefault);
  REQUIRE(*events[3].arrival > *events[0].arrival);
  REQUIRE(events[5].admission == events[1].admission);
}

TEST_CASE("back in line is an event of its own, and so is every step that one record takes") {
  Hall hall;
  protocol::RoomSettings settings;
  settings.claim_ttl = protocol::Duration{1000};
  settings.no_show = protocol::NoShow::kRequeue;
  settings.requeue_max = 1;
  settings.capacity = protocol::Limit{1};
  hall.Set(settings);
  FakeConnection connection;
  hall.WatchRoom(&connection, 2);
  hall.Join("a");
  connection.Take();
  SUBCASE("and let in again") {
    hall.Turn(1000, 0);
    const std::vector<Told> told = connection.Take();
    REQUIRE(InWords(told) == "a waiting no_show, a admitted");
    REQUIRE(*told[0].room.events[0].arrival > 1);
    hall.Turn(2000, 0);
    REQUIRE(InWords(connection.Take()) == "a ended no_show");
  }
  SUBCASE("and away by the record that was to do something else") {
    hall.Join("b");
    connection.Take();
    // Not the turn but the command finds that the claim is over.
    Effects effects;
    hall.engine.Apply(1000, command::Leave{1, "a"}, &effects);
    hall.watches.OnEffects(effects);
    hall.watches.Push();
    const std::vector<Told> told = connection.Take();
    REQUIRE(InWords(told) == "a waiting no_show, b admitted, a ended left");
    REQUIRE(told[0].room.events[0].arrival == 3);
    REQUIRE(told[0].room.events[0].lane == protocol::kLaneDefault);
    REQUIRE_FALSE(told[0].room.events[2].admission);
  }
}

TEST_CASE("events come before counts that include them") {
  Hall hall;
  FakeConnection connection;
  hall.WatchRoom(&connection, 2);
  connection.Take();
  hall.Turn(0, 2000);
  REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "a", std::nullopt}})));
  protocol::RoomSettings settings;
  settings.mode = protocol::Mode::kPaused;
  hall.Set(settings);
  REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "b", std::nullopt}})));
  hall.watches.Push();
  const std::vector<Told> told = connection.Take();
  REQUIRE(InWords(told) == "a waiting, a admitted, b waiting, room");
  REQUIRE(told.back().room.room->counts.waiting == 1);
  REQUIRE(told.back().room.room->counts.admitted == 1);
}

TEST_CASE("who watches another room, or only visitors, is told no events") {
  Hall hall;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{1};
  REQUIRE(hall.Done(hall.desk.Handle(protocol::RoomCreateOperation{{"other", settings}})));
  FakeConnection connection;
  REQUIRE_FALSE(hall.watches.WatchRoom(&connection, 1, {"other"}));
  hall.watches.Push();
  connection.Take();
  hall.Join("a");
  REQUIRE(connection.Take().empty());
  REQUIRE_FALSE(hall.Watch(&connection, 2, {"a"}));
  hall.Finish("a");
  for (const Told& told : connection.Take()) REQUIRE(told.watch == 2);
}

TEST_CASE("a subscriber that does not read is told how many events it missed") {
  Hall hall;
  FakeConnection connection;
  FakeConnection other;
  hall.WatchRoom(&connection, 2);
  hall.WatchRoom(&other, 2);
  connection.Take();
  other.Take();
  connection.room = false;
  for (int i = 0; i < 5000; ++i) hall.Join("v" + std::to_string(i));
  REQUIRE(connection.out.empty());
  REQUIRE(EventsIn(other.Take()) == 5002);
  connection.room = true;
  SUBCASE("with the next event") {
    hall.Join("next");
    REQUIRE(InWords(connection.Take()) == "5002 missed, next waiting");
  }
  SUBCASE("or with the counts") {
    hall.Turn(0, 1000);
    REQUIRE(InWords(connection.Take()) == "5002 missed, room");
  }
  hall.Join("later");
  REQUIRE(InWords(connection.Take()) == "later waiting");
}

TEST_CASE("who has yet to be told the present state misses nothing") {
  Hall hall;
  FakeConnection connection;
  connection.room = false;
  hall.WatchRoom(&connection, 2);
  hall.Join("a");
  connection.room = true;
  hall.Turn(0, 100);
  const std::vector<Told> told = connection.Take();
  REQUIRE(InWords(told) == "room");
  REQUIRE(told[0].room.room->counts.joined_total == 1);
  hall.Join("b");
  REQUIRE(InWords(connection.Take()) == "b waiting, b admitted");
}

TEST_CASE("more events than one push holds come in several, all in order") {
  Hall hall;
  FakeConnection connection;
  hall.WatchRoom(&connection, 2);
  connection.Take();
  const size_t count = 2 * limits::kRoomEventsGatheredMax + 500;
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(hall.Done(
        hall.desk.Handle(protocol::JoinOperation{{"sale", std::to_string(i), std::nullopt}})));
  }
  hall.watches.Push();
  const std::vector<Told> told = connection.Take();
  REQUIRE(told.size() == 3);
  REQUIRE(EventsIn(told) == count + 2);
  REQUIRE(MissedIn(told) == 0);
  size_t next = 0;
  for (const Told& one : told) {
    for (const RoomEvent& event : one.room.events) {
      if (event.state == State::kWaiting) REQUIRE(event.visitor == std::to_string(next++));
    }
  }
  REQUIRE(next == count);
}

TEST_CASE("so many events are told in one turn, and the turns of all subscribers come") {
  Hall hall;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{0};
  hall.Set(settings);
  constexpr size_t kSubscribers = 40;
  std::vector<std::unique_ptr<FakeConnection>> connections;
  for (size_t i = 0; i < kSubscribers; ++i) {
    connections.push_back(std::make_unique<FakeConnection>());
    hall.WatchRoom(connections.back().get(), 2);
    connections.back()->Take();
  }
  // In each turn so many of them can be told.
  const size_t count = limits::kRoomEventsGatheredMax;
  const size_t subscribers_told = limits::kRoomEventsToldPerTurn / count;
  REQUIRE(subscribers_told < kSubscribers / 2);
  std::vector<uint64_t> told(kSubscribers);
  std::vector<uint64_t> missed(kSubscribers);
  size_t joined = 0;
  for (int turn = 0; turn < 10; ++turn) {
    hall.watches.BeginTurn(0);
    for (size_t i = 0; i < count; ++i) {
      const std::string visitor = std::to_string(joined++);
      REQUIRE(
          hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", visitor, std::nullopt}})));
    }
    hall.watches.Push();
    uint64_t in_turn = 0;
    for (size_t i = 0; i < kSubscribers; ++i) {
      const std::vector<Told> all = connections[i]->Take();
      in_turn += EventsIn(all);
      told[i] += EventsIn(all);
      missed[i] += MissedIn(all);
    }
    REQUIRE(in_turn == subscribers_told * count);
  }
  hall.Turn(0, 1000);  // what they missed last comes with the counts
  for (size_t i = 0; i < kSubscribers; ++i) {
    missed[i] += MissedIn(connections[i]->Take());
    REQUIRE(told[i] + missed[i] == joined);
    REQUIRE(told[i] > joined / 4);
  }
}

TEST_CASE("a watch that has ended is told no more events") {
  Hall hall;
  FakeConnection connection;
  hall.WatchRoom(&connection, 2);
  connection.Take();
  SUBCASE("unwatched") {
    REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "a", std::nullopt}})));
    REQUIRE_FALSE(hall.watches.Unwatch(&connection, 2));
    hall.Turn(0, 1);
    REQUIRE(connection.Take().empty());
  }
  SUBCASE("its connection is gone") {
    REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "a", std::nullopt}})));
    hall.watches.OnGone(&connection);
    hall.watches.Push();
    REQUIRE(connection.Take().empty());
  }
  SUBCASE("its room is gone") {
    REQUIRE(hall.Done(hall.desk.Handle(protocol::JoinOperation{{"sale", "a", std::nullopt}})));
    REQUIRE(hall.Done(hall.desk.Handle(protocol::RoomResetOperation{{"sale"}})));
    hall.watches.Push();
    hall.Turn(0, 1);
    REQUIRE(InWords(connection.Take()) == "a waiting, a admitted, end");
    hall.Join("b");
    REQUIRE(connection.Take().empty());
  }
  hall.watches.check_invariants();
}

// What somebody who keeps account of the events from the first push on believes.
class Account {
 public:
  void Take(const std::vector<Told>& all) {
    for (const Told& told : all) {
      if (told.kind == FrameKind::kEnd) return Forget();
      if (told.room.missed) sure_ = false;
      missed_ += told.room.missed.value_or(0);
      for (const RoomEvent& event : told.room.events) Follow(event);
      if (!told.room.room) continue;
      const protocol::Counts& counts = told.room.room->counts;
      if (!begun_ && counts.waiting + counts.admitted + counts.active > 0) sure_ = false;
      begun_ = true;
      if (!sure_) continue;
      ++compared_;
      REQUIRE(CountOf(State::kWaiting) == counts.waiting);
      REQUIRE(CountOf(State::kAdmitted) == counts.admitted);
      REQUIRE(CountOf(State::kActive) == counts.active);
    }
  }
  void Forget() { *this = Account(compared_, missed_); }
  uint64_t compared() const { return compared_; }
  uint64_t missed() const { return missed_; }

  Account() = default;

 private:
  Account(uint64_t compared, uint64_t missed) : compared_(compared), missed_(missed) {}

  void Follow(const RoomEvent& event) {
    REQUIRE(event.at_ms >= at_ms_);
    at_ms_ = event.at_ms;
    if (!sure_) return;
    const auto found = people_.find(event.visitor);
    const std::optional<State> before =
        found == people_.end() ? std::nullopt : std::optional<State>(found->second);
    switch (event.state) {
      case State::kWaiting:
        if (event.reason) {
          REQUIRE(event.reason == Reason::kNoShow);
          REQUIRE(before == State::kAdmitted);
        } else {
          REQUIRE_FALSE(before.has_value());
        }
        break;
      case State::kAdmitted:
        REQUIRE(before == State::kWaiting);
        break;
      case State::kActive:
        REQUIRE(before == State::kAdmitted);
        break;
      case State::kEnded:
        REQUIRE(before.has_value());
        REQUIRE(event.reason.has_value());
        people_.erase(event.visitor);
        return;
    }
    people_[event.visitor] = event.state;
  }
  uint64_t CountOf(State state) const {
    uint64_t count = 0;
    for (const auto& one : people_) count += one.second == state;
    return count;
  }

  bool begun_ = false;
  bool sure_ = true;  // nothing was missed, and the room was empty at first
  uint64_t at_ms_ = 0;
  std::map<std::string, State> people_;
  uint64_t compared_ = 0;
  uint64_t missed_ = 0;
};

TEST_CASE("after any history the events told add up to the counts told") {
  std::mt19937_64 random(TestSeed());
  Hall hall;
  protocol::RoomSettings settings;
  settings.waiting_ttl = protocol::Duration{60'000};
  settings.claim_ttl = protocol::Duration{5'000};
  settings.session_ttl = protocol::Duration{8'000};
  settings.no_show = protocol::NoShow::kRequeue;
  settings.requeue_max = 2;
  settings.capacity = protocol::Limit{6};
  hall.Set(settings);
  FakeConnection eager;
  FakeConnection slow;
  hall.WatchRoom(&eager, 1);
  hall.WatchRoom(&slow, 1);
  Account account;
  Account slow_account;
  int64_t now_ms = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::string visitor = "visitor-with-a-long-name-" + std::to_string(random() % 30);
    switch (random() % 8) {
      case 0:
        slow.room = random() % 2 == 0;
        break;
      case 1:
        if (random() % 200 != 0) break;
        hall.desk.Handle(protocol::RoomResetOperation{{"sale"}});
        hall.watches.Push();
        hall.Turn(now_ms, now_ms);
        account.Take(eager.Take());
        slow_account.Take(slow.Take());
        hall.WatchRoom(&eager, 1);
        hall.WatchRoom(&slow, 1);
        break;
      case 2:
        hall.desk.Handle(protocol::LeaveOperation{{"sale", visitor}});
        break;
      case 3:
        hall.desk.Handle(protocol::FinishOperation{{"sale", visitor, std::nullopt, std::nullopt}});
        break;
      case 4:
        hall.desk.Handle(protocol::EnterOperation{{"sale", visitor, std::nullopt}});
        break;
      case 5:
        now_ms += static_cast<int64_t>(random() % 2000);
        break;
      default:
        hall.desk.Handle(protocol::JoinOperation{{"sale", visitor, std::nullopt}});
    }
    if (random() % 4 == 0) continue;  // the turn goes on
    hall.watches.Push();
    hall.Turn(now_ms, now_ms);
    account.Take(eager.Take());
    slow_account.Take(slow.Take());
  }
  REQUIRE(account.missed() == 0);
  REQUIRE(account.compared() > 100);
  REQUIRE(slow_account.missed() > 0);
}

}  // namespace
}  // namespace anteroom::net
