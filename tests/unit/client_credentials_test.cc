// The client's side of credentials: it proves its own, has the daemon prove the same, and asks
// nothing of one that does not.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/async_client.h"
#include "client/client.h"
#include "client/failure.h"
#include "protocol/proof.h"
#include "tests/support/fake_server.h"
#include "tests/support/temporary_file.h"
#include "tests/support/test_loop.h"

namespace anteroom::client {
namespace {

using protocol::ErrorCode;
using protocol::Operation;
using protocol::Prover;
using Received = FakeServer::Received;

constexpr std::string_view kSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
constexpr std::string_view kChallenge = "daemon's 16bytes";

protocol::Secret SecretOf(std::string_view text) {
  return *protocol::Secret::FromText(text);
}

std::string ProofOf(Prover prover, std::string_view nonce, std::string_view secret = kSecret) {
  const protocol::Proof proof =
      MakeProof(SecretOf(secret), prover, {protocol::kVersionMax, "shop-1", kChallenge, nonce});
  return {proof.data(), proof.size()};
}

// A daemon that asks for credentials and answers what a test says to `authenticate`, and to pings.
struct Daemon {
  explicit Daemon(std::function<void(FakeServer&, const Received&)> on_authenticate) {
    server.AskForCredentials(std::string(kChallenge));
    server.Answer([this, on_authenticate = std::move(on_authenticate)](FakeServer& self,
                                                                       const Received& request) {
      if (request.operation() == Operation::kAuthenticate) {
        ++proofs;
        nonce = request.As<Operation::kAuthenticate>().nonce;
        proof = request.As<Operation::kAuthenticate>().proof;
        on_authenticate(self, request);
      } else {
        ++others;
        self.Reply(request, protocol::PingReply{7});
      }
    });
  }
  static void Right(FakeServer& self, const Received& request) {
    const std::string_view nonce = request.As<Operation::kAuthenticate>().nonce;
    self.Reply(request, protocol::AuthenticateReply{ProofOf(Prover::kDaemon, nonce)});
  }
  static void Wrong(FakeServer& self, const Received& request) {
    self.Refuse(request, protocol::Refuse(ErrorCode::kUnauthorized, "the proof does not fit"));
  }
  ClientOptions Options() const {
    ClientOptions options;
    options.addresses = {server.address()};
    options.credential = {.name = "shop-1", .secret = SecretOf(kSecret)};
    return options;
  }

  std::atomic<int> proofs = 0;
  std::atomic<int> others = 0;
  std::string nonce;  // of the last proof; read when a call has been answered
  std::string proof;
  FakeServer server;
};

// Unauthorized, found at the greeting, and nothing was asked.
void CheckUnauthorized(const absl::Status& status) {
  INFO(status.ToString());
  const std::optional<Failure> failure = FailureOf(status);
  REQUIRE(failure);
  CHECK(failure->cause == FailureCause::kUnauthorized);
  CHECK(failure->refusal.error == ErrorCode::kUnauthorized);
  CHECK_FALSE(failure->refusal.retry);
  CHECK_FALSE(failure->may_have_been_applied);
  CHECK(status.code() == absl::StatusCode::kUnauthenticated);
  CHECK_FALSE(IsUnreachable(status));
  CHECK(status.ToString().find(kSecret) == std::string::npos);
}

TEST_CASE("client credentials: the secret is proven, and not said") {
  Daemon daemon(Daemon::Right);
  {
    Client client(daemon.Options());
    CHECK(client.Ping()->at_ms == 7);
    CHECK(daemon.server.key_id() == "shop-1");
    CHECK(daemon.nonce.size() == protocol::kNonceBytes);
    CHECK(daemon.proof == ProofOf(Prover::kClient, daemon.nonce));
  }
  const std::string first = daemon.nonce;
  {
    Client client(daemon.Options());
    CHECK(client.Ping().ok());
  }
  CHECK(daemon.nonce != first);
}

TEST_CASE("client credentials: the asynchronous client proves them too") {
  Daemon daemon(Daemon::Right);
  TestLoop loop;
  AsyncClient client(loop.get(), daemon.Options());
  std::optional<bool> done;
  client.Ping([&](const absl::StatusOr<protocol::PingReply>& reply) { done = reply.ok(); });
  loop.RunUntil([&] { return done.has_value(); });
  client.check_invariants();
  CHECK(*done);
  bool closed = false;
  client.Close([&] { closed = true; });
  loop.RunUntil([&] { return closed; });
}

TEST_CASE("client credentials: a wrong proof is a failure of its own, without a retry") {
  Daemon daemon(Daemon::Wrong);
  ClientOptions options = daemon.Options();
  SUBCASE("it goes on trying") {}
  SUBCASE("nobody waits, whoever waits for connections") {
    options.wait_for_connection = true;
  }
  SUBCASE("the first try is the last") {
    options.reconnect = false;
  }
  SUBCASE("an open door it is not") {
    options.when_unreachable = UnreachablePolicy::kLetPass;
    Client client(options);
    CheckUnauthorized(client.Enter("sale", "ann").status());
  }
  Client client(options);
  CheckUnauthorized(client.Ping().status());
  CheckUnauthorized(client.Join("sale", "ann").status());
  CHECK(daemon.others == 0);
}

TEST_CASE("client credentials: nothing is asked of a daemon that does not prove itself") {
  const auto answering = [](const auto& make) {
    return [make](FakeServer& self, const Received& request) {
      const std::string nonce(request.As<Operation::kAuthenticate>().nonce);
      const std::string proof(request.As<Operation::kAuthenticate>().proof);
      self.Reply(request, protocol::AuthenticateReply{make(nonce, proof)});
    };
  };
  std::function<void(FakeServer&, const Received&)> answer;
  SUBCASE("it sends the client's proof back") {
    answer = answering([](const std::string&, const std::string& proof) { return proof; });
  }
  SUBCASE("it knows another secret") {
    answer = answering([](const std::string& nonce, const std::string&) {
      return ProofOf(Prover::kDaemon, nonce, std::string(64, 'f'));
    });
  }
  SUBCASE("it proves itself for another nonce") {
    answer = answering([](const std::string&, const std::string&) {
      return ProofOf(Prover::kDaemon, "0123456789abcdef");
    });
  }
  SUBCASE("it sends too little") {
    answer = answering([](const std::string& nonce, const std::string&) {
      return ProofOf(Prover::kDaemon, nonce).substr(0, 31);
    });
  }
  SUBCASE("nothing") {
    answer = answering([](const std::string&, const std::string&) { return std::string(); });
  }
  Daemon daemon(answer);
  Client client(daemon.Options());
  CheckUnauthorized(client.Join("sale", "ann").status());
  CHECK(daemon.others == 0);
}

TEST_CASE("client credentials: a daemon that asks for none is not the one") {
  FakeServer server;
  ClientOptions options;
  options.addresses = {server.address()};
  options.credential = {.name = "shop-1", .secret = SecretOf(kSecret)};
  Client client(options);
  CheckUnauthorized(client.Join("sale", "ann").status());
  CHECK_FALSE(server.HasNext());
}

TEST_CASE("client credentials: a challenge that nobody asked for, or of the wrong length") {
  FakeServer server;
  ClientOptions options;
  options.addresses = {server.address()};
  SUBCASE("not asked for") {
    server.AskForCredentials(std::string(kChallenge));
  }
  SUBCASE("too short") {
    server.AskForCredentials("short");
    options.credential = {.name = "shop-1", .secret = SecretOf(kSecret)};
  }
  Client client(options);
  CHECK(FailureOf(client.Ping().status())->cause == FailureCause::kUnreachable);
  CHECK_FALSE(server.HasNext());
}

TEST_CASE("client credentials: each connection proves them anew, and a mended daemon is taken") {
  std::atomic<bool> right = true;
  Daemon daemon([&](FakeServer& self, const Received& request) {
    right ? Daemon::Right(self, request) : Daemon::Wrong(self, request);
  });
  ClientOptions options = daemon.Options();
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 5;
  Client client(options);
  REQUIRE(client.Ping().ok());
  REQUIRE(daemon.proofs == 1);
  right = false;
  daemon.server.HangUp(1);
  // A call may still be caught by the loss itself.
  const auto unauthorized = [&] {
    const std::optional<Failure> failure = FailureOf(client.Ping().status());
    return failure && failure->cause == FailureCause::kUnauthorized;
  };
  while (!unauthorized()) {
  }
  right = true;
  while (!client.Ping().ok()) {
  }
  CHECK(daemon.proofs >= 3);
}

TEST_CASE("client credentials: another address may know better") {
  Daemon wrong(Daemon::Wrong);
  Daemon right(Daemon::Right);
  ClientOptions options = wrong.Options();
  options.addresses.push_back(right.server.address());
  Client client(options);
  CHECK(client.Ping().ok());
  CHECK(wrong.others == 0);
}

TEST_CASE("client credentials: one address unauthorized, one unreachable: the former is said") {
  Daemon wrong(Daemon::Wrong);
  ClientOptions options = wrong.Options();
  options.addresses.push_back("127.0.0.1:1");
  Client client(options);
  CheckUnauthorized(client.Ping().status());
}

TEST_CASE("client credentials: from a file, read anew for each connection") {
  Daemon daemon([](FakeServer& self, const Received& request) {
    const auto message = request.As<Operation::kAuthenticate>();
    message.proof == ProofOf(Prover::kClient, message.nonce) ? Daemon::Right(self, request)
                                                             : Daemon::Wrong(self, request);
  });
  const TemporaryFile file("shop-1 app " + std::string(64, 'f') + "\n");
  ClientOptions options = daemon.Options();
  options.credential.reset();
  options.credentials_path = file.path();
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 5;
  REQUIRE(chmod(file.path().c_str(), 0644) == 0);
  Client client(options);
  const absl::Status others_may = client.Ping().status();
  CheckUnauthorized(others_may);
  CHECK(others_may.ToString().find("chmod 600") != std::string::npos);
  CHECK(daemon.proofs == 0);
  REQUIRE(chmod(file.path().c_str(), 0600) == 0);
  while (daemon.proofs == 0) CheckUnauthorized(client.Ping().status());
  {
    std::ofstream mended(file.path(), std::ios::binary);
    mended << "shop-1 app " << kSecret << "\n";
  }
  while (!client.Ping().ok()) {
  }
}

}  // namespace
}  // namespace anteroom::client
