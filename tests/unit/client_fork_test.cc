// Clients in a forked child: calls fail cleanly, the parent's connection goes on.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "client/async_client.h"
#include "client/client.h"
#include "client/failure.h"
#include "tests/support/fake_server.h"
#include "tests/support/test_loop.h"

namespace anteroom::client {
namespace {

using protocol::PingReply;
using Received = FakeServer::Received;

void AnswerPings(FakeServer& server) {
  server.Answer(
      [](FakeServer& from, const Received& request) { from.Reply(request, PingReply{1}); });
}

// Runs `child` in a forked child; what it returned, or -1.
template <typename Child>
int InChild(Child child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(child());
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

bool IsForked(const absl::Status& status) {
  const std::optional<Failure> failure = FailureOf(status);
  return failure.has_value() && failure->cause == FailureCause::kForked &&
         !failure->may_have_been_applied;
}

TEST_CASE("a blocking client fails cleanly in a child, and the parent's goes on") {
  FakeServer server;
  AnswerPings(server);
  auto client = std::make_unique<Client>(ClientOptions{.addresses = {server.address()}});
  REQUIRE(client->Ping().ok());
  const int failed = InChild([&] {
    if (!IsForked(client->Ping().status())) return 1;
    if (!IsForked(client->Join("concert", "ann").status())) return 2;
    if (!IsForked(client->FinishLater("concert", "ann"))) return 3;
    if (!IsForked(client->Watch("concert", "ann", [](const VisitorEvent&) {}).status())) return 4;
    client->Unwatch({1});
    if (client->connected() || client->FlushFinishes(0)) return 5;
    client->check_invariants();
    client->Close();
    client.reset();
    return 0;
  });
  CHECK(failed == 0);
  CHECK(client->Ping().ok());
  CHECK(server.connections() == 1);
}

TEST_CASE("an asynchronous client fails cleanly in a child that runs its copy of the loop") {
  FakeServer server;
  AnswerPings(server);
  TestLoop loop;
  auto client =
      std::make_unique<AsyncClient>(loop.get(), ClientOptions{.addresses = {server.address()}});
  loop.RunUntil([&] { return client->connected(); });
  server.Answer(nullptr);
  std::optional<absl::Status> open;
  client->Ping([&](const absl::StatusOr<PingReply>& reply) { open = reply.status(); });
  loop.RunUntil([&] { return server.HasNext(); });
  const int failed = InChild([&] {
    if (uv_loop_fork(loop.get()) != 0) return 1;
    std::optional<absl::Status> status;
    bool closed = false;
    client->Ping([&](const absl::StatusOr<PingReply>& reply) { status = reply.status(); });
    if (status.has_value()) return 2;
    if (!IsForked(client->FinishLater("concert", "ann"))) return 3;
    client->Close([&] { closed = true; });
    loop.RunUntil([&] { return closed; });
    if (!status.has_value() || !IsForked(*status)) return 4;
    if (!open.has_value() || FailureOf(*open)->cause != FailureCause::kForked) return 5;
    client.reset();
    return 0;
  });
  CHECK(failed == 0);
  // The answer is for the parent alone.
  CHECK_FALSE(open.has_value());
  server.Reply(server.Next(), PingReply{1});
  loop.RunUntil([&] { return open.has_value(); });
  CHECK(open->ok());
  CHECK(server.connections() == 1);
}

TEST_CASE("an asynchronous client may be destroyed in a child that never runs the loop") {
  FakeServer server;
  AnswerPings(server);
  TestLoop loop;
  auto client =
      std::make_unique<AsyncClient>(loop.get(), ClientOptions{.addresses = {server.address()}});
  loop.RunUntil([&] { return client->connected(); });
  CHECK(InChild([&] {
          client->Ping([](const absl::StatusOr<PingReply>&) {});
          client.reset();
          return 0;
        }) == 0);
  bool answered = false;
  client->Ping([&](const absl::StatusOr<PingReply>& reply) { answered = reply.ok(); });
  loop.RunUntil([&] { return answered; });
  CHECK(server.connections() == 1);
}

}  // namespace
}  // namespace anteroom::client
