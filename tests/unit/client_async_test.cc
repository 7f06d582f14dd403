// The asynchronous client against a fake daemon: calls, deadlines, limits, closing.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/async_client.h"
#include "client/failure.h"
#include "tests/support/fake_server.h"
#include "tests/support/seed.h"
#include "tests/support/test_loop.h"

namespace anteroom::client {
namespace {

using protocol::FrameKind;
using protocol::Operation;
using protocol::VisitorReply;
using Received = FakeServer::Received;

VisitorReply Waiting(uint64_t ahead) {
  VisitorReply reply;
  reply.state = protocol::State::kWaiting;
  reply.ahead = ahead;
  reply.position = ahead + 1;
  return reply;
}

// Takes one answer; more than one fails the test.
template <typename Reply>
struct Answer {
  std::optional<absl::StatusOr<Reply>> result;
  auto Callback() {
    return [this](absl::StatusOr<Reply> answer) {
      REQUIRE_FALSE(result.has_value());
      result = std::move(answer);
    };
  }
  bool given() const { return result.has_value(); }
  Failure failure() const { return FailureOf(result->status()).value(); }
};

struct Fixture {
  FakeServer server;
  TestLoop loop;
  std::unique_ptr<AsyncClient> client;

  ClientOptions Options() const {
    ClientOptions options;
    options.addresses = {server.address()};
    options.call_deadline_ms = 60'000;
    options.reconnect_delay_min_ms = 1;
    options.reconnect_delay_max_ms = 20;
    return options;
  }
  void Connect(const ClientOptions& options) {
    client = std::make_unique<AsyncClient>(loop.get(), options);
    loop.RunUntil([&] { return client->connected(); });
  }
  Received NextRequest() {
    loop.RunUntil([&] { return server.HasNext(); });
    return server.Next();
  }
};

TEST_CASE("an asynchronous call is answered once, on the loop, never from inside the call") {
  Fixture test;
  test.client = std::make_unique<AsyncClient>(test.loop.get(), test.Options());
  Answer<VisitorReply> answer;
  test.client->Join("concert", "ann", {.lane = 3}, answer.Callback());
  CHECK_FALSE(answer.given());
  CHECK(test.client->requests_in_flight() == 1);
  const Received request = test.NextRequest();
  const auto join = request.As<Operation::kJoin>();
  CHECK(join.room == "concert");
  CHECK(join.visitor == "ann");
  CHECK(join.lane == 3);
  test.server.Reply(request, Waiting(7));
  test.loop.RunUntil([&] { return answer.given(); });
  REQUIRE(answer.result->ok());
  CHECK((*answer.result)->ahead == 7);
  CHECK(test.client->requests_in_flight() == 0);
  test.client->check_invariants();
}

TEST_CASE("many requests share one connection, and answers may come in any order") {
  Fixture test;
  test.Connect(test.Options());
  constexpr size_t kCalls = 500;
  std::vector<std::optional<uint64_t>> ahead(kCalls);
  size_t answered = 0;
  for (size_t i = 0; i < kCalls; ++i) {
    test.client->Status("concert", std::to_string(i), [&, i](absl::StatusOr<VisitorReply> reply) {
      REQUIRE(reply.ok());
      REQUIRE_FALSE(ahead[i].has_value());
      ahead[i] = reply->ahead;
      ++answered;
    });
  }
  std::vector<Received> requests;
  while (requests.size() < kCalls) requests.push_back(test.NextRequest());
  std::mt19937_64 random(TestSeed());
  std::shuffle(requests.begin(), requests.end(), random);
  for (const Received& request : requests) {
    test.server.Reply(request,
                      Waiting(std::stoull(std::string(request.As<Operation::kStatus>().visitor))));
  }
  test.loop.RunUntil([&] { return answered == kCalls; });
  for (size_t i = 0; i < kCalls; ++i) CHECK(ahead[i] == i);
  CHECK(test.server.connections() == 1);
}

TEST_CASE("answers that arrive byte by byte, or many at once, are the same answers") {
  Fixture test;
  test.Connect(test.Options());
  std::vector<uint64_t> ahead;
  for (int i = 0; i < 20; ++i) {
    test.client->Status("concert", "ann", [&](absl::StatusOr<VisitorReply> reply) {
      REQUIRE(reply.ok());
      ahead.push_back(*reply->ahead);
    });
  }
  std::string bytes;
  int connection = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    const Received request = test.NextRequest();
    connection = request.connection;
    bytes += FakeServer::Frame(request, FrameKind::kReply, Waiting(i));
  }
  const size_t half = bytes.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    test.server.SendBytes(connection, bytes.substr(i, 1));
    test.loop.Turn();
  }
  test.server.SendBytes(connection, bytes.substr(half));
  test.loop.RunUntil([&] { return ahead.size() == 20; });
  for (uint64_t i = 0; i < 20; ++i) CHECK(ahead[i] == i);
}

TEST_CASE("a refusal of the daemon tells the typed reason and whether a retry can help") {
  Fixture test;
  test.Connect(test.Options());
  Answer<VisitorReply> answer;
  test.client->Join("concert", "ann", {}, answer.Callback());
  protocol::Refusal refusal = protocol::Refuse(protocol::ErrorCode::kLineFull, "the line is full");
  refusal.retry_after_ms = 1500;
  test.server.Refuse(test.NextRequest(), refusal);
  test.loop.RunUntil([&] { return answer.given(); });
  CHECK(answer.result->status().code() == absl::StatusCode::kResourceExhausted);
  const Failure failure = answer.failure();
  CHECK(failure.cause == FailureCause::kRefused);
  CHECK_FALSE(failure.may_have_been_applied);
  CHECK(failure.refusal.error == protocol::ErrorCode::kLineFull);
  CHECK(failure.refusal.retry);
  CHECK(failure.refusal.retry_after_ms == 1500);
  CHECK(failure.refusal.message == "the line is full");
}

TEST_CASE("a call without an answer ends at its deadline, and a late answer meets nobody") {
  Fixture test;
  test.Connect(test.Options());
  Answer<VisitorReply> join;
  Answer<VisitorReply> status;
  test.client->Join("concert", "ann", {}, join.Callback(), {.deadline_ms = 30});
  test.client->Status("concert", "ann", status.Callback(), {.deadline_ms = 30});
  const Received late = test.NextRequest();
  const Received later = test.NextRequest();
  test.loop.RunUntil([&] { return join.given() && status.given(); });
  CHECK(join.result->status().code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(join.failure().cause == FailureCause::kDeadline);
  CHECK(join.failure().may_have_been_applied);
  CHECK(join.failure().refusal.retry);
  CHECK_FALSE(status.failure().may_have_been_applied);
  // They stay in flight until their answers come.
  CHECK(test.client->requests_in_flight() == 2);
  test.client->check_invariants();
  Answer<protocol::PingReply> ping;
  test.client->Ping(ping.Callback());
  test.server.Reply(late, Waiting(1));
  test.server.Reply(later, Waiting(1));
  test.server.Reply(test.NextRequest(), protocol::PingReply{5});
  test.loop.RunUntil([&] { return ping.given(); });
  CHECK(ping.result->value().at_ms == 5);
  CHECK(test.client->requests_in_flight() == 0);
}

TEST_CASE("no time left is a deadline passed, and nothing is sent") {
  Fixture test;
  test.Connect(test.Options());
  Answer<VisitorReply> answer;
  test.client->Join("concert", "ann", {}, answer.Callback(), {.deadline_ms = 0});
  CHECK_FALSE(answer.given());
  test.loop.RunUntil([&] { return answer.given(); });
  CHECK(answer.failure().cause == FailureCause::kDeadline);
  CHECK_FALSE(answer.failure().may_have_been_applied);
  CHECK_FALSE(test.server.HasNext());
}

TEST_CASE("over the limit of requests in flight calls fail at once, unsent, and then go again") {
  Fixture test;
  ClientOptions options = test.Options();
  options.requests_in_flight_max = 3;
  test.Connect(options);
  Answer<VisitorReply> answers[4];
  for (auto& answer : answers) test.client->Join("concert", "ann", {}, answer.Callback());
  CHECK_FALSE(answers[3].given());
  test.loop.RunUntil([&] { return answers[3].given(); });
  CHECK(answers[3].result->status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(answers[3].failure().cause == FailureCause::kTooManyInFlight);
  CHECK_FALSE(answers[3].failure().may_have_been_applied);
  CHECK(answers[3].failure().refusal.retry);
  for (int i = 0; i < 3; ++i) test.server.Reply(test.NextRequest(), Waiting(0));
  test.loop.RunUntil([&] { return answers[2].given(); });
  CHECK_FALSE(test.server.HasNext());
  Answer<VisitorReply> again;
  test.client->Join("concert", "ann", {}, again.Callback());
  test.server.Reply(test.NextRequest(), Waiting(0));
  test.loop.RunUntil([&] { return again.given(); });
  CHECK(again.result->ok());
}

TEST_CASE("bytes that the daemon does not take are bounded") {
  Fixture test;
  ClientOptions options = test.Options();
  options.silence_max_ms = 60'000;
  test.Connect(options);
  test.server.StopReading();
  const std::string id(200, 'x');
  std::vector<protocol::JoinRequest> batch(1000, protocol::JoinRequest{"concert", id, {}});
  size_t answered = 0;
  size_t refused = 0;
  for (int i = 0; i < 500; ++i) {
    test.client->JoinMany(batch, [&](const absl::StatusOr<protocol::VisitorResults>& results) {
      ++answered;
      refused += FailureOf(results.status())->cause == FailureCause::kTooManyInFlight;
    });
  }
  test.loop.RunUntil([&] { return answered > 0; });
  CHECK(refused == answered);
  CHECK(test.client->requests_in_flight() * 200'000 < 2 * kOutputBytesMax);
  test.client.reset();
  test.loop.RunUntil([&] { return answered == 500; });
}

TEST_CASE("what cannot be put into a message is refused here") {
  Fixture test;
  test.Connect(test.Options());
  Answer<VisitorReply> long_id;
  test.client->Join("concert", std::string(256, 'x'), {}, long_id.Callback());
  Answer<protocol::VisitorResults> long_batch;
  const std::string id(255, 'x');
  test.client->StatusMany(std::vector<protocol::VisitorRequest>(5000, {"concert", id}),
                          long_batch.Callback());
  CHECK_FALSE(long_id.given());
  test.loop.RunUntil([&] { return long_id.given() && long_batch.given(); });
  CHECK(long_id.failure().cause == FailureCause::kInvalidRequest);
  CHECK(long_id.failure().refusal.error == protocol::ErrorCode::kInvalid);
  CHECK(long_id.failure().refusal.message.find("visitor") != std::string::npos);
  CHECK(long_batch.failure().refusal.error == protocol::ErrorCode::kTooLarge);
}

TEST_CASE("an answer that cannot be read fails its call and the connection, not the program") {
  Fixture test;
  test.Connect(test.Options());
  Answer<VisitorReply> unreadable;
  Answer<VisitorReply> beside;
  test.client->Join("concert", "ann", {}, unreadable.Callback());
  test.client->Join("concert", "bob", {}, beside.Callback());
  const Received request = test.NextRequest();
  std::string bytes = FakeServer::Frame(request, FrameKind::kReply, Waiting(1));
  bytes[protocol::kHeaderBytes + 2] = '\x80';  // a presence bit beyond the last field
  test.server.SendBytes(request.connection, bytes);
  test.loop.RunUntil([&] { return unreadable.given() && beside.given(); });
  CHECK(unreadable.failure().cause == FailureCause::kBadAnswer);
  CHECK(unreadable.failure().may_have_been_applied);
  CHECK(beside.failure().cause == FailureCause::kConnectionLost);
  test.loop.RunUntil([&] { return test.client->connected(); });
  CHECK(test.server.connections() == 2);
}

TEST_CASE("bytes that are no frames end the connection") {
  for (const std::string& bytes :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string(64, '\xff')}) {
    Fixture test;
    test.Connect(test.Options());
    Answer<VisitorReply> answer;
    test.client->Join("concert", "ann", {}, answer.Callback());
    test.server.SendBytes(test.NextRequest().connection, bytes);
    test.loop.RunUntil([&] { return answer.given(); });
    CHECK(answer.failure().cause == FailureCause::kConnectionLost);
  }
}

TEST_CASE("closing fails what is open, later, once; calls after it too") {
  Fixture test;
  test.Connect(test.Options());
  Answer<VisitorReply> sent;
  Answer<VisitorReply> read;
  test.client->Join("concert", "ann", {}, sent.Callback());
  test.client->Status("concert", "ann", read.Callback());
  test.NextRequest();
  bool closed = false;
  test.client->Close([&] { closed = true; });
  Answer<VisitorReply> after;
  test.client->Join("concert", "bob", {}, after.Callback());
  CHECK_FALSE(sent.given());
  CHECK_FALSE(after.given());
  test.loop.RunUntil([&] { return closed; });
  CHECK(sent.failure().cause == FailureCause::kClosed);
  CHECK(sent.failure().may_have_been_applied);
  CHECK_FALSE(read.failure().may_have_been_applied);
  CHECK(after.failure().cause == FailureCause::kClosed);
  CHECK_FALSE(after.failure().may_have_been_applied);
  Answer<VisitorReply> long_after;
  test.client->Join("concert", "bob", {}, long_after.Callback());
  CHECK_FALSE(long_after.given());
  test.loop.RunUntil([&] { return long_after.given(); });
  CHECK(long_after.failure().cause == FailureCause::kClosed);
}

TEST_CASE("the client may be destroyed from inside a callback") {
  Fixture test;
  test.Connect(test.Options());
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    test.client->Join("concert", "ann", {}, [&](const absl::StatusOr<VisitorReply>&) {
      test.client.reset();
      ++answered;
    });
  }
  for (int i = 0; i < 9; ++i) test.server.Reply(test.NextRequest(), Waiting(0));
  test.loop.RunUntil([&] { return answered == 10; });
}

TEST_CASE("a client that is destroyed while it connects leaves nothing behind") {
  FakeServer server;
  TestLoop loop;
  int answered = 0;
  for (const std::string& address : {server.address(), std::string("localhost:1")}) {
    for (int turns = 0; turns < 6; ++turns) {
      AsyncClient client(loop.get(), {.addresses = {address}});
      client.Ping([&](const absl::StatusOr<protocol::PingReply>&) { ++answered; });
      for (int i = 0; i < turns; ++i) loop.Turn();
    }
  }
  loop.RunUntil([&] { return answered == 12; });
}

TEST_CASE("writing to a daemon that is gone raises no SIGPIPE") {
  // With the default action a SIGPIPE would end this process.
  struct sigaction before;
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &by_default, &before);
  FakeServer server("/tmp/anteroom_sigpipe_test_" + std::to_string(getpid()) + ".sock");
  TestLoop loop;
  AsyncClient client(loop.get(), {.addresses = {server.address()}});
  loop.RunUntil([&] { return client.connected(); });
  server.HangUp(1);
  bool failed = false;
  client.Ping([&](const absl::StatusOr<protocol::PingReply>& reply) { failed = !reply.ok(); });
  // The write comes before the turn reads that the daemon has hung up.
  loop.RunUntil([&] { return failed; });
  sigaction(SIGPIPE, &before, nullptr);
}

TEST_CASE("a move-only callback and every operation of the table can be called") {
  Fixture test;
  test.Connect(test.Options());
  test.server.Answer([](FakeServer& server, const Received& request) {
    server.Refuse(request, protocol::Refuse(protocol::ErrorCode::kInvalid,
                                            std::to_string(request.header.operation)));
  });
  size_t calls = 0;
  size_t answered = 0;
  auto count = [&](Operation operation) {
    ++calls;
    // Move-only, as a callback may be.
    return [&, operation, once = std::make_unique<int>(1)](const auto& result) {
      REQUIRE(*once == 1);
      CHECK(RefusalOf(result.status())->message == std::to_string(static_cast<int>(operation)));
      ++answered;
    };
  };
#define ANTEROOM_X(number, Name, ...)                                     \
  if constexpr (IsPlainCall(Operation::k##Name)) {                        \
    test.client->Call<Operation::k##Name>({}, count(Operation::k##Name)); \
  }
  ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  test.loop.RunUntil([&] { return answered == calls; });
  CHECK(calls > 20);
}

TEST_CASE("random answers, refusals, lost replies and hang-ups: every callback exactly once") {
  std::mt19937_64 random(TestSeed());
  Fixture test;
  ClientOptions options = test.Options();
  options.requests_in_flight_max = 200;
  options.wait_for_connection = true;
  std::mt19937_64 server_random(random());
  test.server.Answer([&](FakeServer& server, const Received& request) {
    const uint64_t dice = server_random() % 100;
    if (dice < 80) return server.Reply(request, Waiting(dice));
    if (dice < 90) {
      return server.Refuse(request, protocol::Refuse(protocol::ErrorCode::kClosed, ""));
    }
    if (dice < 97) return;  // the reply is lost
    const std::string bytes = FakeServer::Frame(request, FrameKind::kReply, Waiting(1));
    server.SendBytes(request.connection, bytes.substr(0, server_random() % bytes.size()));
    server.HangUp(request.connection);
  });
  test.client = std::make_unique<AsyncClient>(test.loop.get(), options);
  std::vector<int> answers;
  size_t ok = 0;
  for (int i = 0; i < 20'000; ++i) {
    answers.push_back(0);
    test.client->Join("concert", "ann", {},
                      [&, i](const absl::StatusOr<VisitorReply>& reply) {
                        ++answers[static_cast<size_t>(i)];
                        ok += reply.ok();
                      },
                      {.deadline_ms = static_cast<int64_t>(random() % 50)});
    if (random() % 16 == 0) test.loop.Turn();
    if (random() % 512 == 0) test.client->check_invariants();
  }
  test.client.reset();
  test.loop.RunUntil([&] { return std::find(answers.begin(), answers.end(), 0) == answers.end(); });
  for (const int count : answers) REQUIRE(count == 1);
  CHECK(ok > 100);
}

}  // namespace
}  // namespace anteroom::client
