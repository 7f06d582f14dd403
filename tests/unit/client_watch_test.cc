// Watches of the clients: events, resuming, ending, exactly one last event.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/async_client.h"
#include "client/failure.h"
#include "tests/support/fake_server.h"
#include "tests/support/test_loop.h"

namespace anteroom::client {
namespace {

using protocol::Empty;
using protocol::Operation;
using protocol::VisitorPush;
using Received = FakeServer::Received;

ClientOptions WatchOptions(const FakeServer& server) {
  ClientOptions options;
  options.addresses = {server.address()};
  options.call_deadline_ms = 60'000;
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 20;
  return options;
}

VisitorPush Ahead(std::string visitor, uint64_t ahead) {
  VisitorPush push;
  push.visitor = std::move(visitor);
  push.reply.emplace().ahead = ahead;
  return push;
}

VisitorPush Gone(std::string visitor, protocol::ErrorCode error) {
  VisitorPush push;
  push.visitor = std::move(visitor);
  push.refusal = protocol::Refuse(error, "gone");
  return push;
}

// A daemon, a client, and what the client's watches told, in words.
struct Watching {
  std::vector<std::string> told;  // outlives the loop, which tells the last events
  FakeServer server;
  TestLoop loop;
  std::unique_ptr<AsyncClient> client =
      std::make_unique<AsyncClient>(loop.get(), WatchOptions(server));

  OnVisitorEvent Tell() {
    return [this](const VisitorEvent& event) {
      std::string words = event.visitor;
      if (event.reply.has_value()) words += " " + std::to_string(event.reply->ahead.value_or(99));
      if (event.refusal.has_value()) {
        words += " " + std::string(protocol::NameOf(event.refusal->error));
      }
      if (event.last) words += " last";
      told.push_back(words);
    };
  }
  Received Next() {
    loop.RunUntil([&] { return server.HasNext(); });
    return server.Next();
  }
  void Told(size_t count) {
    loop.RunUntil([&] { return told.size() >= count; });
    REQUIRE(told.size() == count);
  }
  // An answer to a ping comes after all that was sent before it.
  void Settle() {
    bool answered = false;
    client->Ping([&](const absl::StatusOr<protocol::PingReply>&) { answered = true; });
    server.Reply(Next(), protocol::PingReply{1});
    loop.RunUntil([&] { return answered; });
    client->check_invariants();
  }
};

TEST_CASE("a watch tells what is pushed, for each visitor") {
  Watching test;
  const std::vector<std::string_view> visitors = {"ann", "bob"};
  test.client->Watch("concert", visitors, test.Tell());
  const Received watch = test.Next();
  const auto request = watch.As<Operation::kWatch>();
  CHECK(request.room == "concert");
  CHECK(request.visitors == visitors);
  test.server.Reply(watch, Empty{});
  test.server.Push(watch, Ahead("ann", 4));
  test.server.Push(watch, Ahead("bob", 5));
  test.server.Push(watch, Ahead("ann", 3));
  test.Told(3);
  CHECK(test.told == std::vector<std::string>{"ann 4", "bob 5", "ann 3"});
  test.Settle();
}

TEST_CASE("after a reconnect a watch goes on with the present state, of those it still concerns") {
  Watching test;
  const std::vector<std::string_view> visitors = {"ann", "bob", "cat"};
  test.client->Watch("concert", visitors, test.Tell());
  const Received watch = test.Next();
  test.server.Reply(watch, Empty{});
  test.server.Push(watch, Gone("bob", protocol::ErrorCode::kNotFound));
  test.Told(1);
  test.server.HangUp(watch.connection);
  const Received again = test.Next();
  CHECK(again.connection == 2);
  CHECK(again.As<Operation::kWatch>().visitors == std::vector<std::string_view>{"ann", "cat"});
  test.server.Reply(again, Empty{});
  test.server.Push(again, Ahead("ann", 2));
  test.Told(2);
  CHECK(test.told == std::vector<std::string>{"bob not_found", "ann 2"});
  test.Settle();
}

TEST_CASE("a watch made while there is no daemon begins when there is") {
  int told = 0;
  FakeServer server;
  server.Stop();
  TestLoop loop;
  AsyncClient client(loop.get(), WatchOptions(server));
  client.Watch("concert", "ann", [&](const VisitorEvent&) { ++told; });
  for (int i = 0; i < 30; ++i) loop.Turn();
  CHECK(told == 0);
  server.Start();
  loop.RunUntil([&] { return server.HasNext(); });
  server.Push(server.Next(), Ahead("ann", 2));
  loop.RunUntil([&] { return told == 1; });
}

TEST_CASE("the end of a watch is told once, with its reason") {
  SUBCASE("by the daemon") {
    Watching test;
    test.client->Watch("concert", "ann", test.Tell());
    const Received watch = test.Next();
    test.server.Reply(watch, Empty{});
    test.server.End(watch, protocol::Refuse(protocol::ErrorCode::kNotFound, "room deleted"));
    test.Told(1);
    CHECK(test.told[0] == " not_found last");
    test.server.Push(watch, Ahead("ann", 1));
    test.Settle();
    test.server.HangUp(watch.connection);
    test.loop.RunUntil([&] { return test.server.connections() == 2; });
    test.Settle();
    CHECK(test.told.size() == 1);
  }
  SUBCASE("refused at once") {
    Watching test;
    test.client->WatchRoom("nowhere", [&](const RoomEvent& event) {
      CHECK(event.last);
      test.told.emplace_back(protocol::NameOf(event.refusal->error));
    });
    test.server.Refuse(test.Next(), protocol::Refuse(protocol::ErrorCode::kNotFound, ""));
    test.Told(1);
    CHECK(test.told[0] == "not_found");
    test.Settle();
  }
  SUBCASE("with the last of its visitors") {
    Watching test;
    const std::vector<std::string_view> visitors = {"ann", "bob"};
    test.client->Watch("concert", visitors, test.Tell());
    const Received watch = test.Next();
    test.server.Push(watch, Gone("bob", protocol::ErrorCode::kNotFound));
    test.server.Push(watch, Gone("ann", protocol::ErrorCode::kExpired));
    test.Told(2);
    CHECK(test.told[1] == "ann expired last");
    // The daemon ends it as well, which is not told again.
    test.server.End(watch, protocol::Refuse(protocol::ErrorCode::kNotFound, "nobody left"));
    test.Settle();
    CHECK(test.told.size() == 2);
  }
  SUBCASE("with the ended state of its last visitor, also when the daemon's end is lost") {
    Watching test;
    test.client->Watch("concert", "ann", test.Tell());
    const Received watch = test.Next();
    VisitorPush push = Ahead("ann", 0);
    push.reply->state = protocol::State::kEnded;
    test.server.Push(watch, push);
    test.Told(1);
    CHECK(test.told[0] == "ann 0 last");
    test.Settle();
    test.server.HangUp(watch.connection);
    test.loop.RunUntil([&] { return test.server.connections() == 2; });
    test.Settle();
    CHECK(test.told.size() == 1);
  }
  SUBCASE("when the client is closed") {
    Watching test;
    test.client->Watch("concert", "ann", test.Tell());
    test.Next();
    test.client->Close();
    CHECK(test.told.empty());
    test.Told(1);
    CHECK(test.told[0] == " unavailable last");
    test.client->Watch("concert", "ann", test.Tell());
    CHECK(test.told.size() == 1);
    test.Told(2);
  }
  SUBCASE("when it cannot be put into a message") {
    Watching test;
    test.client->Watch(std::string(300, 'r'), "ann", test.Tell());
    CHECK(test.told.empty());
    test.Told(1);
    CHECK(test.told[0] == " invalid last");
  }
}

TEST_CASE("a daemon that stops does not end a watch that can be resumed") {
  Watching test;
  test.client->Watch("concert", "ann", test.Tell());
  const Received watch = test.Next();
  test.server.Reply(watch, Empty{});
  protocol::Refusal stopping = protocol::Refuse(protocol::ErrorCode::kUnavailable, "stopping");
  stopping.reason = protocol::Reason::kStopping;
  stopping.retry_after_ms = 60'000;
  test.server.End(watch, stopping);
  test.server.HangUp(watch.connection);
  const Received again = test.Next();
  CHECK(again.operation() == Operation::kWatch);
  protocol::Refusal starting = protocol::Refuse(protocol::ErrorCode::kUnavailable, "starting");
  starting.reason = protocol::Reason::kStarting;
  starting.retry_after_ms = 1;
  test.server.Refuse(again, starting);
  const Received once_more = test.Next();
  CHECK(once_more.operation() == Operation::kWatch);
  test.server.Push(once_more, Ahead("ann", 1));
  test.Told(1);
  CHECK(test.told[0] == "ann 1");
  test.Settle();
}

TEST_CASE("after Unwatch nothing is told, also from inside the callback") {
  Watching test;
  const WatchHandle first = test.client->Watch("concert", "ann", test.Tell());
  const Received watch = test.Next();
  WatchHandle second;
  second = test.client->Watch("concert", "bob", [&](const VisitorEvent& event) {
    test.Tell()(event);
    test.client->Unwatch(second);
    test.client->Unwatch(second);
  });
  const Received other = test.Next();
  test.client->Unwatch(first);
  test.server.Push(watch, Ahead("ann", 1));
  test.server.Push(other, Ahead("bob", 1));
  test.server.Push(other, Ahead("bob", 2));
  for (int i = 0; i < 2; ++i) {
    const Received unwatch = test.Next();
    CHECK(unwatch.operation() == Operation::kUnwatch);
    test.server.Push(watch, Ahead("ann", 2));
    test.server.Push(other, Ahead("bob", 3));
    test.server.Reply(unwatch, Empty{});
  }
  test.Settle();
  CHECK(test.told == std::vector<std::string>{"bob 1"});
  test.client->Close();
  test.loop.Turn();
  CHECK(test.told.size() == 1);
}

TEST_CASE("a room's watch tells counts and events, and a wrong push loses the connection") {
  Watching test;
  test.client->WatchRoom("concert", [&](const RoomEvent& event) {
    std::string words = event.begins ? "begins" : "";
    if (event.missed > 0) words += " missed " + std::to_string(event.missed);
    for (const protocol::RoomEvent& one : event.events) {
      words += " " + one.visitor + " " + std::string(protocol::NameOf(one.state));
    }
    if (event.reply.has_value()) words += " " + std::to_string(event.reply->counts.waiting);
    test.told.push_back(words);
  });
  const Received watch = test.Next();
  CHECK(watch.As<Operation::kWatchRoom>().room == "concert");
  protocol::RoomPush counts;
  counts.room.emplace().room = "concert";
  counts.room->counts.waiting = 12;
  protocol::RoomPush events;
  events.missed = 7;
  events.events.resize(2);
  events.events[0].visitor = "ann";
  events.events[1].visitor = "bob";
  events.events[1].state = protocol::State::kEnded;
  test.server.Push(watch, counts);
  test.server.Push(watch, events);
  test.Told(2);
  CHECK(test.told[0] == "begins 12");
  CHECK(test.told[1] == " missed 7 ann waiting bob ended");
  SUBCASE("of another kind") {
    test.server.SendBytes(watch.connection,
                          FakeServer::Frame(watch, protocol::FrameKind::kPush, Empty{}));
  }
  SUBCASE("that tells nothing") {
    test.server.Push(watch, protocol::RoomPush{});
  }
  const Received again = test.Next();
  CHECK(again.connection == 2);
  CHECK(again.operation() == Operation::kWatchRoom);
  test.server.Push(again, counts);
  test.Told(3);
  CHECK(test.told[2] == "begins 12");
  test.Settle();
}

TEST_CASE("watches are limited, and the one too many is told so") {
  Watching test;
  int ended = 0;
  for (size_t i = 0; i <= kWatchesMax; ++i) {
    test.client->Watch("concert", "ann", [&](const VisitorEvent& event) {
      CHECK(FailureOf(event.status)->cause == FailureCause::kTooManyInFlight);
      ended += event.last;
    });
  }
  test.loop.RunUntil([&] { return ended == 1; });
  for (int i = 0; i < 10; ++i) test.loop.Turn();
  CHECK(ended == 1);
  for (uint64_t id = 1; id <= kWatchesMax; ++id) test.client->Unwatch({id});
}

}  // namespace
}  // namespace anteroom::client
