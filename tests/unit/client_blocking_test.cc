// The blocking client: shared between threads, its watches, its end, its use in the wrong place.

#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/client.h"
#include "client/failure.h"
#include "tests/support/fake_server.h"

namespace anteroom::client {
namespace {

using protocol::Operation;
using protocol::VisitorReply;
using Received = FakeServer::Received;

ClientOptions OptionsFor(const FakeServer& server) {
  ClientOptions options;
  options.addresses = {server.address()};
  options.call_deadline_ms = 60'000;
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 20;
  return options;
}

// A lane tells the visitor's number, the reply's `ahead` says it back.
void EchoLane(FakeServer& server, const Received& request) {
  VisitorReply reply;
  reply.ahead = request.As<Operation::kJoin>().lane;
  server.Reply(request, reply);
}

// What happened on another thread, counted.
class Tally {
 public:
  void Add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool WaitFor(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return count_ >= count; });
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST_CASE("many threads share one blocking client and one connection") {
  FakeServer server;
  server.Answer(EchoLane);
  Client client(OptionsFor(server));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (uint8_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const auto reply = client.Join("concert", "ann", {.lane = thread});
        if (!reply.ok() || reply->ahead != thread) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(server.connections() == 1);
  CHECK(client.connected());
  client.check_invariants();
}

TEST_CASE("blocking calls end at their deadline, on a refusal, and when the client is closed") {
  FakeServer server;
  Client client(OptionsFor(server));
  const auto late = client.Join("concert", "ann", {}, {.deadline_ms = 30});
  CHECK(FailureOf(late.status())->cause == FailureCause::kDeadline);
  CHECK(MayHaveBeenApplied(late.status()));
  server.Next();
  server.Answer([](FakeServer& from, const Received& request) {
    from.Refuse(request, protocol::Refuse(protocol::ErrorCode::kNotFound, "no such room"));
  });
  CHECK(client.RoomDelete("concert").code() == absl::StatusCode::kNotFound);
  CHECK(client.Enter("concert", "ann").status().code() == absl::StatusCode::kNotFound);
  server.Answer(nullptr);
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> closed = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto reply = client.Status("concert", "ann");
      closed += FailureOf(reply.status())->cause == FailureCause::kClosed;
    });
  }
  for (int i = 0; i < 4; ++i) server.Next();
  client.Close();
  for (std::thread& thread : threads) thread.join();
  CHECK(closed == 4);
  CHECK(FailureOf(client.Ping().status())->cause == FailureCause::kClosed);
  CHECK(FailureOf(client.FinishLater("concert", "ann"))->cause == FailureCause::kClosed);
  CHECK_FALSE(client.Watch("concert", "ann", [](const VisitorEvent&) {}).ok());
  client.Unwatch({1});
  client.Close();
}

TEST_CASE("threads that race with Close get an answer or are told of the closing") {
  for (int round = 0; round < 20; ++round) {
    FakeServer server;
    server.Answer(EchoLane);
    Client client(OptionsFor(server));
    std::vector<std::thread> threads;
    threads.reserve(4);
    std::atomic<int> strange = 0;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (true) {
          const auto reply = client.Join("concert", "ann", {.lane = 1});
          if (reply.ok()) continue;
          strange += FailureOf(reply.status())->cause != FailureCause::kClosed;
          return;
        }
      });
    }
    server.WaitForConnection(1);
    client.Close();
    for (std::thread& thread : threads) thread.join();
    CHECK(strange == 0);
  }
}

TEST_CASE("a blocking client's watch tells on its own thread, where nothing may block") {
  FakeServer server;
  Client client(OptionsFor(server));
  Tally events;
  Tally ends;
  std::atomic<int> wrong_thread = 0;
  const std::thread::id here = std::this_thread::get_id();
  const auto handle = client.Watch("concert", "ann", [&](const VisitorEvent& event) {
    CHECK(std::this_thread::get_id() != here);
    const auto reply = client.Ping();
    wrong_thread += FailureOf(reply.status())->cause == FailureCause::kWrongThread;
    CHECK(client.FinishLater("concert", "ann").ok());
    if (event.last) ends.Add();
    events.Add();
  });
  REQUIRE(handle.ok());
  const Received watch = server.Next();
  server.Reply(watch, protocol::Empty{});
  protocol::VisitorPush push;
  push.visitor = "ann";
  push.reply.emplace();
  server.Push(watch, push);
  REQUIRE(events.WaitFor(1));
  CHECK(wrong_thread == 1);
  CHECK(server.Next().operation() == Operation::kFinish);
  server.HangUp(watch.connection);
  Received again = server.Next();
  while (again.operation() != Operation::kWatch) again = server.Next();
  server.Push(again, push);
  REQUIRE(events.WaitFor(2));
  CHECK(ends.count() == 0);
  client.Unwatch(*handle);
  const int told = events.count();
  server.Push(again, push);
  server.Answer([](FakeServer& from, const Received& request) {
    if (request.operation() == Operation::kPing) from.Reply(request, protocol::PingReply{1});
  });
  CHECK(client.Ping().ok());
  CHECK(events.count() == told);
}

TEST_CASE("closing a blocking client ends its watches before it returns") {
  FakeServer server;
  Tally ends;
  {
    Client client(OptionsFor(server));
    for (int i = 0; i < 3; ++i) {
      REQUIRE(client
                  .Watch("concert", "ann",
                         [&](const VisitorEvent& event) {
                           if (event.last) ends.Add();
                         })
                  .ok());
    }
    REQUIRE(client
                .WatchRoom("concert",
                           [&](const RoomEvent& event) {
                             if (event.last) ends.Add();
                           })
                .ok());
  }
  CHECK(ends.count() == 4);
}

TEST_CASE("a daemon that is gone raises no SIGPIPE") {
  // With the default action a SIGPIPE would end this process.
  struct sigaction before;
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &by_default, &before);
  FakeServer server;
  server.Answer([](FakeServer& from, const Received& request) { from.HangUp(request.connection); });
  Client client(OptionsFor(server));
  for (int i = 0; i < 30; ++i) {
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int j = 0; j < 4; ++j) {
      threads.emplace_back([&] { CHECK_FALSE(client.Join("concert", "ann").ok()); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  sigaction(SIGPIPE, &before, nullptr);
}

TEST_CASE("every operation of the blocking client asks for what it says") {
  FakeServer server;
  server.Answer([&](FakeServer& from, const Received& request) {
    from.Refuse(request, protocol::Refuse(
                             protocol::ErrorCode::kInvalid,
                             std::string(protocol::FindOperation(request.header.operation)->name)));
  });
  Client client(OptionsFor(server));
  const auto name = [](const auto& result) {
    if constexpr (requires { result.status(); }) {
      return RefusalOf(result.status())->message;
    } else {
      return RefusalOf(result)->message;
    }
  };
  CHECK(name(client.Join("r", "v")) == "join");
  CHECK(name(client.Enter("r", "v")) == "enter");
  CHECK(name(client.Status("r", "v")) == "status");
  CHECK(name(client.Leave("r", "v")) == "leave");
  CHECK(name(client.Verify("r", "v", "t")) == "verify");
  CHECK(name(client.Claim("r", "v", "t")) == "claim");
  CHECK(name(client.Touch("r", "v", "t")) == "touch");
  CHECK(name(client.Finish("r", "v")) == "finish");
  CHECK(name(client.JoinMany({{"r", "v", {}}})) == "join_many");
  CHECK(name(client.StatusMany({{"r", "v"}})) == "status_many");
  CHECK(name(client.Admit("r", 1, {.key = "k"})) == "admit");
  CHECK(name(client.AdmitVisitor("r", "v", {.over = true})) == "admit_visitor");
  CHECK(name(client.Revoke("r", "v", {.block_ms = 1})) == "revoke");
  CHECK(name(client.RoomCreate("r", {})) == "room_create");
  CHECK(name(client.RoomSet("r", {}, {.if_revision = 1})) == "room_set");
  CHECK(name(client.RoomShow("r")) == "room_show");
  CHECK(name(client.RoomList("", 10)) == "room_list");
  CHECK(name(client.RoomDelete("r", {.force = true})) == "room_delete");
  CHECK(name(client.RoomReset("r")) == "room_reset");
  CHECK(name(client.Peek("r", 0, 10)) == "peek");
  CHECK(name(client.Inside("r", 0, 10)) == "inside");
  CHECK(name(client.Ping()) == "ping");
  CHECK(name(client.Health()) == "health");
  CHECK(name(client.Stats()) == "stats");
  CHECK(name(client.RotateTokenKey()) == "rotate_token_key");
  CHECK(name(client.ClockAdvance(5)) == "clock_advance");
}

}  // namespace
}  // namespace anteroom::client
