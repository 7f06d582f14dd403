// FinishLater: never waits, is bounded, is retried, and says what it lost.

#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/async_client.h"
#include "client/client.h"
#include "client/failure.h"
#include "tests/support/fake_server.h"
#include "tests/support/test_loop.h"

namespace anteroom::client {
namespace {

using protocol::Operation;
using protocol::VisitorReply;
using Received = FakeServer::Received;

struct LateFinishes {
  std::vector<LostFinish> lost;  // outlives the loop, which tells of the last ones
  FakeServer server;
  TestLoop loop;

  ClientOptions Options() {
    ClientOptions options;
    options.addresses = {server.address()};
    options.call_deadline_ms = 60'000;
    options.reconnect_delay_min_ms = 1;
    options.reconnect_delay_max_ms = 5;
    options.on_finish_lost = [this](const LostFinish& finish) { lost.push_back(finish); };
    return options;
  }
  Received Next() {
    loop.RunUntil([&] { return server.HasNext(); });
    return server.Next();
  }
};

TEST_CASE("finishes given away during an outage are delivered after it") {
  LateFinishes test;
  test.server.Stop();
  AsyncClient client(test.loop.get(), test.Options());
  std::mutex mutex;
  std::set<std::string> delivered;
  test.server.Answer([&](FakeServer& server, const Received& request) {
    const std::lock_guard lock(mutex);
    const auto finish = request.As<Operation::kFinish>();
    CHECK(finish.outcome == protocol::Outcome::kCompleted);
    CHECK(finish.token == "0123456789abcdefghijkl");
    delivered.emplace(finish.visitor);
    server.Reply(request, VisitorReply{});
  });
  for (int i = 0; i < 300; ++i) {
    REQUIRE(client
                .FinishLater(
                    "concert", std::to_string(i),
                    {.token = "0123456789abcdefghijkl", .outcome = protocol::Outcome::kCompleted})
                .ok());
  }
  for (int i = 0; i < 20; ++i) test.loop.Turn();
  CHECK(client.finish_later_counts().pending == 300);
  client.check_invariants();
  test.server.Start();
  test.loop.RunUntil([&] { return client.finish_later_counts().delivered == 300; });
  CHECK(client.finish_later_counts().pending == 0);
  CHECK(test.lost.empty());
  const std::lock_guard lock(mutex);
  CHECK(delivered.size() == 300);
  client.check_invariants();
}

TEST_CASE(
    "a finish is sent again after a lost reply and after `unavailable`, not after a refusal") {
  LateFinishes test;
  AsyncClient client(test.loop.get(), test.Options());
  REQUIRE(client.FinishLater("concert", "ann").ok());
  test.server.HangUp(test.Next().connection);
  test.server.Refuse(test.Next(), protocol::Refuse(protocol::ErrorCode::kUnavailable, "slow"));
  test.server.Reply(test.Next(), VisitorReply{});
  test.loop.RunUntil([&] { return client.finish_later_counts().delivered == 1; });
  REQUIRE(client.FinishLater("concert", "bob").ok());
  test.server.Refuse(test.Next(), protocol::Refuse(protocol::ErrorCode::kBadToken, "no"));
  test.loop.RunUntil([&] { return client.finish_later_counts().lost == 1; });
  REQUIRE(test.lost.size() == 1);
  CHECK(test.lost[0].room == "concert");
  CHECK(test.lost[0].visitor == "bob");
  CHECK(RefusalOf(test.lost[0].why)->error == protocol::ErrorCode::kBadToken);
  CHECK_FALSE(test.server.HasNext());
}

TEST_CASE("finishes are bounded in number, and do not wait for the limit of requests in flight") {
  LateFinishes test;
  ClientOptions options = test.Options();
  options.finish_later_max = 5;
  options.requests_in_flight_max = 1;
  AsyncClient client(test.loop.get(), options);
  client.Ping([](const absl::StatusOr<protocol::PingReply>&) {});
  CHECK(test.Next().operation() == Operation::kPing);
  for (int i = 0; i < 5; ++i) CHECK(client.FinishLater("concert", "ann").ok());
  const absl::Status full = client.FinishLater("concert", "ann");
  CHECK(FailureOf(full)->cause == FailureCause::kTooManyInFlight);
  CHECK_FALSE(client.FinishLater("concert", std::string(300, 'x')).ok());
  for (int i = 0; i < 5; ++i) test.server.Reply(test.Next(), VisitorReply{});
  test.loop.RunUntil([&] { return client.finish_later_counts().delivered == 5; });
  CHECK(client.FinishLater("concert", "ann").ok());
}

TEST_CASE("a finish that grows too old is lost, and so is what is open when the client closes") {
  LateFinishes test;
  test.server.Stop();
  ClientOptions options = test.Options();
  options.finish_later_keep_ms = 1;
  {
    AsyncClient client(test.loop.get(), options);
    REQUIRE(client.FinishLater("concert", "old").ok());
    test.loop.RunUntil([&] { return test.lost.size() == 1; });
    CHECK(FailureOf(test.lost[0].why)->cause == FailureCause::kDeadline);
  }
  AsyncClient client(test.loop.get(), test.Options());
  REQUIRE(client.FinishLater("concert", "waiting").ok());
  client.Close();
  CHECK(test.lost.size() == 1);
  CHECK_FALSE(client.FinishLater("concert", "late").ok());
  test.loop.RunUntil([&] { return test.lost.size() == 2; });
  CHECK(test.lost[1].visitor == "waiting");
  CHECK(FailureOf(test.lost[1].why)->cause == FailureCause::kClosed);
  CHECK(client.finish_later_counts().pending == 0);
}

TEST_CASE("the blocking client's FinishLater returns without a daemon, and flushes with one") {
  FakeServer server;
  server.Stop();
  server.Answer(
      [](FakeServer& from, const Received& request) { from.Reply(request, VisitorReply{}); });
  ClientOptions options;
  options.addresses = {server.address()};
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 5;
  options.finish_later_max = 100;
  Client client(options);
  for (int i = 0; i < 100; ++i) REQUIRE(client.FinishLater("concert", "ann").ok());
  CHECK_FALSE(client.FinishLater("concert", "ann").ok());
  CHECK_FALSE(client.FlushFinishes(10));
  server.Start();
  CHECK(client.FlushFinishes(60'000));
  CHECK(client.finish_later_counts().delivered == 100);
  client.check_invariants();
}

}  // namespace
}  // namespace anteroom::client
