// Losing the daemon and finding it again: addresses, back-off, greetings, policies.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/async_client.h"
#include "client/backoff.h"
#include "client/failure.h"
#include "tests/support/fake_server.h"
#include "tests/support/seed.h"
#include "tests/support/test_loop.h"

namespace anteroom::client {
namespace {

using protocol::Operation;
using protocol::PingReply;
using protocol::VisitorReply;
using Received = FakeServer::Received;

ClientOptions OptionsOf(std::vector<std::string> addresses) {
  ClientOptions options;
  options.addresses = std::move(addresses);
  options.call_deadline_ms = 60'000;
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 20;
  return options;
}

// A port on which nobody listens: taken, and given back.
std::string NobodysAddress() {
  FakeServer server;
  return server.address();
}

void AnswerAll(FakeServer& server) {
  server.Answer([](FakeServer& from, const Received& request) {
    if (request.operation() == Operation::kPing) return from.Reply(request, PingReply{1});
    from.Reply(request, VisitorReply{});
  });
}

// Pings once, and waits for what comes of it.
absl::Status Ping(TestLoop& loop, AsyncClient& client) {
  std::optional<absl::Status> status;
  client.Ping([&](const absl::StatusOr<PingReply>& reply) { status = reply.status(); });
  loop.RunUntil([&] { return status.has_value(); });
  return *status;
}

TEST_CASE(
    "a call that was sent when the connection is lost fails and says what may have been done") {
  FakeServer server;
  TestLoop loop;
  AsyncClient client(loop.get(), OptionsOf({server.address()}));
  std::vector<Failure> failures;
  const auto keep = [&](const absl::StatusOr<VisitorReply>& reply) {
    failures.push_back(FailureOf(reply.status()).value());
  };
  client.Join("concert", "ann", {}, keep);
  client.Status("concert", "ann", keep);
  loop.RunUntil([&] { return server.HasNext(); });
  server.HangUp(server.Next().connection);
  loop.RunUntil([&] { return failures.size() == 2; });
  CHECK(failures[0].cause == FailureCause::kConnectionLost);
  CHECK(failures[0].may_have_been_applied);
  CHECK(failures[0].refusal.retry);
  CHECK_FALSE(failures[1].may_have_been_applied);
  loop.RunUntil([&] { return client.connected(); });
  CHECK(server.connections() == 2);
  client.check_invariants();
}

TEST_CASE("calls wait for the connection that is being made, and go out in order") {
  FakeServer server;
  TestLoop loop;
  AsyncClient client(loop.get(), OptionsOf({server.address()}));
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    client.Join("concert", std::to_string(i), {},
                [&](const absl::StatusOr<VisitorReply>& reply) { answered += reply.ok(); });
  }
  CHECK_FALSE(client.connected());
  for (int i = 0; i < 10; ++i) {
    loop.RunUntil([&] { return server.HasNext(); });
    const Received request = server.Next();
    CHECK(request.As<Operation::kJoin>().visitor == std::to_string(i));
    server.Reply(request, VisitorReply{});
  }
  loop.RunUntil([&] { return answered == 10; });
}

TEST_CASE("while the daemon is known to be away calls fail at once, unsent, with a time to retry") {
  TestLoop loop;
  ClientOptions options = OptionsOf({NobodysAddress(), NobodysAddress()});
  options.reconnect_delay_min_ms = options.reconnect_delay_max_ms = 60'000;
  AsyncClient client(loop.get(), options);
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = Ping(loop, client);
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    const Failure failure = FailureOf(status).value();
    CHECK(failure.cause == FailureCause::kUnreachable);
    CHECK_FALSE(failure.may_have_been_applied);
    CHECK(failure.refusal.error == protocol::ErrorCode::kUnavailable);
    CHECK(failure.refusal.retry);
    CHECK(failure.refusal.retry_after_ms > 1000);
    CHECK(failure.refusal.message.find("connection refused") != std::string::npos);
  }
}

TEST_CASE("with wait_for_connection a call waits for the daemon to come back") {
  FakeServer server;
  server.Stop();
  TestLoop loop;
  ClientOptions options = OptionsOf({server.address()});
  options.wait_for_connection = true;
  AsyncClient client(loop.get(), options);
  std::optional<absl::Status> status;
  client.Ping([&](const absl::StatusOr<PingReply>& reply) { status = reply.status(); });
  for (int i = 0; i < 50; ++i) loop.Turn();
  CHECK_FALSE(status.has_value());
  AnswerAll(server);
  server.Start();
  loop.RunUntil([&] { return status.has_value(); });
  CHECK(status->ok());
}

TEST_CASE("a call that waits for the daemon in vain ends at its deadline, not sent") {
  TestLoop loop;
  ClientOptions options = OptionsOf({NobodysAddress()});
  options.wait_for_connection = true;
  AsyncClient client(loop.get(), options);
  std::optional<Failure> failure;
  client.Join(
      "concert", "ann", {},
      [&](const absl::StatusOr<VisitorReply>& reply) { failure = FailureOf(reply.status()); },
      {.deadline_ms = 40});
  loop.RunUntil([&] { return failure.has_value(); });
  CHECK(failure->cause == FailureCause::kDeadline);
  CHECK_FALSE(failure->may_have_been_applied);
  CHECK(client.requests_in_flight() == 0);
}

TEST_CASE("of several addresses the next is tried, and after a loss the one that worked first") {
  FakeServer first;
  FakeServer second;
  AnswerAll(first);
  AnswerAll(second);
  first.Stop();
  TestLoop loop;
  AsyncClient client(loop.get(), OptionsOf({first.address(), "unix:/nowhere/at/all", "no address",
                                            second.address()}));
  CHECK(Ping(loop, client).ok());
  CHECK(second.connections() == 1);
  first.Start();
  second.HangUp(1);
  loop.RunUntil([&] { return second.connections() == 2 && client.connected(); });
  CHECK(first.connections() == 0);
  second.Stop();
  loop.RunUntil([&] { return first.connections() == 1 && client.connected(); });
  CHECK(Ping(loop, client).ok());
}

TEST_CASE("names are looked up, Unix sockets connected to") {
  FakeServer tcp;
  FakeServer local("/tmp/anteroom_client_test_" + std::to_string(getpid()) + ".sock");
  AnswerAll(tcp);
  AnswerAll(local);
  TestLoop loop;
  const std::string port = tcp.address().substr(tcp.address().rfind(':'));
  AsyncClient named(loop.get(), OptionsOf({"localhost" + port}));
  CHECK(Ping(loop, named).ok());
  AsyncClient unix_client(loop.get(), OptionsOf({local.address()}));
  CHECK(Ping(loop, unix_client).ok());
  AsyncClient nowhere(loop.get(), OptionsOf({"no-such-host.invalid:1"}));
  CHECK(RefusalOf(Ping(loop, nowhere))->message.find("looked up") != std::string::npos);
  AsyncClient none(loop.get(), OptionsOf({}));
  CHECK(RefusalOf(Ping(loop, none))->message.find("no address") != std::string::npos);
}

TEST_CASE("without reconnect a lost connection is final") {
  FakeServer server;
  TestLoop loop;
  ClientOptions options = OptionsOf({server.address()});
  options.reconnect = false;
  AsyncClient client(loop.get(), options);
  std::optional<Failure> failure;
  client.Join("concert", "ann", {}, [&](const absl::StatusOr<VisitorReply>& reply) {
    failure = FailureOf(reply.status());
  });
  std::optional<VisitorEvent> last;
  client.Watch("concert", "ann", [&](const VisitorEvent& event) { last = event; });
  loop.RunUntil([&] { return server.HasNext(); });
  server.HangUp(server.Next().connection);
  loop.RunUntil([&] { return failure.has_value() && last.has_value(); });
  CHECK(failure->cause == FailureCause::kConnectionLost);
  CHECK(last->last);
  CHECK(IsUnreachable(last->status));
  CHECK(FailureOf(Ping(loop, client))->cause == FailureCause::kUnreachable);
  CHECK_FALSE(client.FinishLater("concert", "ann").ok());
  CHECK(server.connections() == 1);
  client.check_invariants();
}

TEST_CASE("without reconnect and without a daemon the first failure is final") {
  FakeServer server;
  server.Stop();
  TestLoop loop;
  ClientOptions options = OptionsOf({server.address()});
  options.reconnect = false;
  options.wait_for_connection = true;
  AsyncClient client(loop.get(), options);
  CHECK(FailureOf(Ping(loop, client))->cause == FailureCause::kUnreachable);
  server.Start();
  CHECK(FailureOf(Ping(loop, client))->cause == FailureCause::kUnreachable);
  CHECK(server.connections() == 0);
}

TEST_CASE("a daemon that does not greet as it should is not one, and is tried again") {
  using Greeting = FakeServer::Greeting;
  const std::vector<std::pair<Greeting, std::string>> greetings = {
      {Greeting::kRefuse, "too many connections"},
      {Greeting::kOtherVersion, "version 2"},
      {Greeting::kNonsense, "not a frame"},
      {Greeting::kSilent, "no greeting within"},
  };
  for (const auto& [greeting, words] : greetings) {
    FakeServer server;
    AnswerAll(server);
    server.SetGreeting(greeting);
    TestLoop loop;
    ClientOptions options = OptionsOf({server.address()});
    options.connect_timeout_ms = 50;
    AsyncClient client(loop.get(), options);
    const Failure failure = FailureOf(Ping(loop, client)).value();
    CHECK(failure.cause == FailureCause::kUnreachable);
    INFO(failure.refusal.message);
    CHECK(failure.refusal.message.find(words) != std::string::npos);
    server.SetGreeting(Greeting::kGreet);
    loop.RunUntil([&] { return client.connected(); });
    CHECK(Ping(loop, client).ok());
  }
}

TEST_CASE("a daemon that says why before it hangs up is quoted") {
  FakeServer server;
  TestLoop loop;
  AsyncClient client(loop.get(), OptionsOf({server.address()}));
  std::optional<Failure> failure;
  client.Join("concert", "ann", {}, [&](const absl::StatusOr<VisitorReply>& reply) {
    failure = FailureOf(reply.status());
  });
  loop.RunUntil([&] { return server.HasNext(); });
  Received about_all = server.Next();
  about_all.header.request_id = 0;
  server.Refuse(about_all, protocol::Refuse(protocol::ErrorCode::kTooLarge, "a frame too far"));
  server.HangUp(about_all.connection);
  loop.RunUntil([&] { return failure.has_value(); });
  CHECK(failure->refusal.message.find("a frame too far") != std::string::npos);
}

TEST_CASE("a silent daemon is asked for a sign of life, then given up") {
  FakeServer server;
  TestLoop loop;
  ClientOptions options = OptionsOf({server.address()});
  options.silence_max_ms = 20;
  AsyncClient client(loop.get(), options);
  std::optional<Failure> failure;
  client.Join("concert", "ann", {}, [&](const absl::StatusOr<VisitorReply>& reply) {
    failure = FailureOf(reply.status());
  });
  loop.RunUntil([&] { return server.HasNext(); });
  CHECK(server.Next().operation() == Operation::kJoin);
  loop.RunUntil([&] { return server.HasNext() || failure.has_value(); });
  CHECK(server.Next().operation() == Operation::kPing);
  loop.RunUntil([&] { return failure.has_value(); });
  CHECK(failure->cause == FailureCause::kConnectionLost);
  CHECK(failure->refusal.message.find("silent") != std::string::npos);
}

TEST_CASE("a sign of life keeps the connection") {
  FakeServer server;
  TestLoop loop;
  ClientOptions options = OptionsOf({server.address()});
  options.silence_max_ms = 20'000;
  int pings = 0;
  server.Answer([&](FakeServer& from, const Received& request) {
    ++pings;
    from.Reply(request, PingReply{1});
  });
  AsyncClient client(loop.get(), options);
  CHECK(Ping(loop, client).ok());
  CHECK(client.connected());
}

TEST_CASE(
    "Enter without a daemon: hold is an error, let pass opens the door, a refusal never does") {
  struct Case {
    UnreachablePolicy policy;
    bool passes;
  };
  for (const auto& [policy, passes] :
       {Case{UnreachablePolicy::kHold, false}, Case{UnreachablePolicy::kLetPass, true}}) {
    FakeServer server;
    TestLoop loop;
    ClientOptions options = OptionsOf({server.address()});
    options.when_unreachable = policy;
    AsyncClient client(loop.get(), options);
    std::optional<absl::StatusOr<EnterReply>> entered;
    const auto enter = [&](auto during) {
      entered.reset();
      client.Enter("concert", "ann", {},
                   [&](absl::StatusOr<EnterReply> reply) { entered = std::move(reply); });
      during();
      loop.RunUntil([&] { return entered.has_value(); });
    };
    const auto next = [&] {
      loop.RunUntil([&] { return server.HasNext(); });
      return server.Next();
    };
    enter([&] {
      VisitorReply active;
      active.state = protocol::State::kActive;
      server.Reply(next(), active);
    });
    CHECK((*entered)->may_pass());
    CHECK_FALSE((*entered)->let_pass);
    enter([&] { server.Reply(next(), VisitorReply{}); });
    CHECK_FALSE((*entered)->may_pass());
    enter([&] { server.Refuse(next(), protocol::Refuse(protocol::ErrorCode::kClosed, "closed")); });
    CHECK(RefusalOf(entered->status())->error == protocol::ErrorCode::kClosed);
    enter([&] {
      protocol::Refusal full = protocol::Refuse(protocol::ErrorCode::kUnavailable, "disk full");
      full.reason = protocol::Reason::kDiskFull;
      server.Refuse(next(), full);
    });
    CHECK_FALSE(entered->ok());
    for (int i = 0; i < 2; ++i) {
      // The first is lost with the connection, the second cannot be sent.
      enter([&] {
        if (i == 0) next();
        server.Stop();
      });
      CHECK(entered->ok() == passes);
      if (passes) {
        CHECK((*entered)->may_pass());
        CHECK((*entered)->let_pass);
        CHECK_FALSE((*entered)->reply.has_value());
        CHECK(IsUnreachable((*entered)->unreachable));
      }
    }
  }
}

TEST_CASE("a loop that was busy for longer than a deadline reads its answers first") {
  FakeServer server;
  AnswerAll(server);
  TestLoop loop;
  AsyncClient client(loop.get(), OptionsOf({server.address()}));
  CHECK(Ping(loop, client).ok());
  std::optional<absl::Status> status;
  client.Ping([&](const absl::StatusOr<PingReply>& reply) { status = reply.status(); },
              {.deadline_ms = 300});
  std::atomic<bool> sent = false;
  server.Answer([&](FakeServer& from, const Received& request) {
    from.Reply(request, PingReply{1});
    sent = true;
  });
  while (!sent) loop.Turn();
  if (!status.has_value()) {
    usleep(400'000);  // the program is busy elsewhere
    loop.RunUntil([&] { return status.has_value(); });
    CHECK(status->ok());
  }
}

TEST_CASE("sockets are close-on-exec") {
  std::set<int> before;
  const auto open_fds = [] {
    std::set<int> fds;
    for (int fd = 0; fd < 1000; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0) fds.insert(fd);
    }
    return fds;
  };
  FakeServer server;
  AnswerAll(server);
  TestLoop loop;
  before = open_fds();
  AsyncClient client(loop.get(), OptionsOf({server.address()}));
  CHECK(Ping(loop, client).ok());
  int more = 0;
  for (const int fd : open_fds()) {
    if (before.contains(fd)) continue;
    ++more;
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(more >= 1);
}

TEST_CASE("back-off doubles up to its most, jittered, and begins anew") {
  Backoff backoff(100, 1000, TestSeed());
  for (const int64_t whole : {100, 200, 400, 800, 1000, 1000}) {
    const int64_t delay = backoff.Next();
    CHECK(delay >= whole / 2);
    CHECK(delay <= whole);
  }
  for (int i = 0; i < 100; ++i) CHECK(backoff.Short() <= 100);
  backoff.Reset();
  CHECK(backoff.Next() <= 100);
  std::set<int64_t> different;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    different.insert(Backoff(1000, 1000, TestSeed() + seed).Next());
  }
  CHECK(different.size() > 10);
}

}  // namespace
}  // namespace anteroom::client
