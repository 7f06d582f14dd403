// Connections that have to prove who they are, over a real socket, on a clock that the test moves.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/gatekeeper.h"
#include "server/base/limits.h"
#include "server/base/listen_address.h"
#include "server/net/connections.h"
#include "server/net/listener.h"
#include "tests/support/raw_client.h"
#include "tests/support/test_loop.h"

namespace anteroom::net {
namespace {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Refusal;
using protocol::Role;

// Answers what it is given with an empty reply, and remembers who asked.
class Remembering : public RequestWorker {
 public:
  void Work(std::span<const protocol::Request> requests,
            std::span<const Arrival> arrivals) override {
    worked += requests.size();
    for (const Arrival& arrival : arrivals) {
      asker = arrival.connection->name();
      protocol::AppendFrame(0, FrameKind::kReply, arrival.request_id, protocol::Empty(),
                            arrival.connection->Immediate());
    }
  }
  void OnGone(Connection*) override {}

  size_t worked = 0;
  std::string asker;
};

constexpr std::string_view kSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

// Knows ann, in the role that the test gives her, and counts how often it judges.
class Door : public Gatekeeper {
 public:
  std::optional<Known> Judge(const protocol::Handshake& handshake,
                             std::string_view proof) const override {
    ++judged;
    const auto secret = *protocol::Secret::FromText(kSecret);
    const bool right =
        protocol::SameProof(MakeProof(secret, protocol::Prover::kClient, handshake), proof);
    if (!right || handshake.name != "ann") return std::nullopt;
    return Known{"ann", role, MakeProof(secret, protocol::Prover::kDaemon, handshake)};
  }
  Role role = Role::kOperator;
  mutable size_t judged = 0;
};

struct GuardedNetwork {
  GuardedNetwork() {
    auto listening =
        Listener::ListenTcp(loop.get(), *ParseListenAddress("127.0.0.1:0"), &connections);
    REQUIRE(listening.ok());
    listener = *std::move(listening);
    const std::string& name = listener->name();
    REQUIRE(client.ConnectTcp(std::stoi(name.substr(name.rfind(':') + 1))));
    RunUntil([&] { return connections.count() == 1; });
  }
  ~GuardedNetwork() {
    listener->Close();
    connections.CloseAll();
    loop.RunUntil([&] { return connections.empty(); });
  }

  template <typename Condition>
  void RunUntil(Condition condition) {
    loop.RunUntil([&] {
      connections.SetTime(now_ms);
      connections.Work();
      connections.Flush();
      connections.check_invariants();
      return condition();
    });
  }
  void RunOn() {
    int turns = 0;
    RunUntil([&] { return ++turns == 50; });
  }
  bool StaysFor(uint64_t ms) {
    now_ms += ms;
    connections.SetTime(now_ms);
    connections.CheckDeadlines(limits::kLingerMsMax);
    RunOn();
    return connections.count() == 1;
  }
  std::optional<RawFrame> Answer() {
    RunOn();
    return client.Read();
  }

  // The challenge of HELLO's reply, empty when there is none.
  std::string Hello(std::optional<std::string_view> key_id) {
    protocol::HelloRequest hello;
    hello.key_id = key_id;
    REQUIRE(client.Ask<Operation::kHello>(1, hello));
    const auto frame = Answer();
    REQUIRE(frame);
    REQUIRE(frame->header.kind == FrameKind::kReply);
    return frame->As<protocol::HelloReply>()->challenge.value_or("");
  }
  std::optional<RawFrame> Prove(std::string_view name, std::string_view challenge,
                                std::string_view secret = kSecret) {
    const protocol::Proof proof =
        MakeProof(*protocol::Secret::FromText(secret), protocol::Prover::kClient,
                  {protocol::kVersionMax, name, challenge, kNonce});
    REQUIRE(client.Ask<Operation::kAuthenticate>(2, {kNonce, {proof.data(), proof.size()}}));
    return Answer();
  }
  // Why the answer is a refusal.
  static Refusal Why(const std::optional<RawFrame>& frame) {
    REQUIRE(frame);
    REQUIRE(frame->header.kind == FrameKind::kRefusal);
    return *frame->As<Refusal>();
  }

  static constexpr std::string_view kNonce = "0123456789abcdef";
  TestLoop loop;
  Remembering worker;
  Door door;
  Connections connections{&worker, {.connections = 10}, &door};
  std::unique_ptr<Listener> listener;
  RawClient client;
  uint64_t now_ms = 1000;
};

TEST_CASE("credentials on a connection: the right proof opens it, and the daemon gives its own") {
  GuardedNetwork network;
  const std::string challenge = network.Hello("ann");
  REQUIRE(challenge.size() == protocol::kNonceBytes);
  const auto frame = network.Prove("ann", challenge);
  REQUIRE(frame);
  REQUIRE(frame->header.kind == FrameKind::kReply);
  CHECK(protocol::SameProof(
      MakeProof(*protocol::Secret::FromText(kSecret), protocol::Prover::kDaemon,
                {protocol::kVersionMax, "ann", challenge, GuardedNetwork::kNonce}),
      frame->As<protocol::AuthenticateReply>()->proof));
  REQUIRE(network.client.Ask<Operation::kRoomReset>(3, {"sale"}));
  REQUIRE(network.Answer()->header.kind == FrameKind::kReply);
  CHECK(network.worker.asker == "ann");
  // Proven once is enough.
  CHECK(network.Why(network.Prove("ann", challenge)).error == ErrorCode::kConflict);
  CHECK(network.door.judged == 1);
  CHECK(network.StaysFor(10 * Limits().hello_ms));
}

TEST_CASE("credentials on a connection: before the proof there is hello, authenticate and ping") {
  GuardedNetwork network;
  std::optional<std::string_view> key_id;
  SUBCASE("a name was said") {
    key_id = "ann";
  }
  SUBCASE("no name was said") {}
  CHECK(network.Hello(key_id).empty() != key_id.has_value());
  REQUIRE(network.client.Ask<Operation::kPing>(3, {}));
  CHECK(network.Answer()->header.kind == FrameKind::kReply);
  CHECK(network.worker.worked == 1);
  size_t asked = 0;
  for (int number = 0; number < 256; ++number) {
    const auto operation = static_cast<Operation>(number);
    if (operation == Operation::kHello || operation == Operation::kPing ||
        operation == Operation::kAuthenticate) {
      continue;
    }
    std::string frame;
    protocol::AppendFrame(static_cast<uint8_t>(number), FrameKind::kRequest, 4, protocol::Empty(),
                          &frame);
    REQUIRE(network.client.Send(frame));
    ++asked;
  }
  network.RunOn();
  for (; asked > 0; --asked) {
    const auto frame = network.client.Read();
    CAPTURE(frame->header.operation);
    const Refusal why = network.Why(frame);
    CHECK(why.error == ErrorCode::kUnauthorized);
    CHECK_FALSE(why.retry);
  }
  CHECK(network.worker.worked == 1);
}

TEST_CASE("credentials on a connection: a name that nobody has is a wrong proof like any other") {
  std::vector<std::string> answers;
  for (const std::string_view name : {"ann", "nobody", ""}) {
    GuardedNetwork network;
    const std::string challenge = network.Hello(name);
    REQUIRE(challenge.size() == protocol::kNonceBytes);
    const std::string wrong(64, 'f');
    const auto frame = network.Prove(name, challenge, wrong);
    CHECK(network.Why(frame).error == ErrorCode::kUnauthorized);
    answers.push_back(frame->payload);
    CHECK(network.door.judged == 1);
  }
  CHECK(answers[1] == answers[0]);
  CHECK(answers[2] == answers[0]);
}

TEST_CASE("credentials on a connection: the third wrong proof closes it, the second does not") {
  GuardedNetwork network;
  const std::string challenge = network.Hello("ann");
  const std::string wrong(64, 'f');
  for (int i = 1; i < limits::kWrongProofsMax; ++i) {
    CHECK(network.Why(network.Prove("ann", challenge, wrong)).error == ErrorCode::kUnauthorized);
  }
  SUBCASE("a right one comes in time") {
    CHECK(network.Prove("ann", challenge)->header.kind == FrameKind::kReply);
  }
  SUBCASE("one more wrong one") {
    CHECK(network.Why(network.Prove("ann", challenge, wrong)).error == ErrorCode::kUnauthorized);
    CHECK(network.client.AtEnd());
    CHECK(network.door.judged == limits::kWrongProofsMax);
  }
}

TEST_CASE("credentials on a connection: what is no proof at all") {
  GuardedNetwork network;
  SUBCASE("fields that are none") {
    network.Hello("ann");
    std::string frame;
    protocol::AppendFrame(static_cast<uint8_t>(Operation::kAuthenticate), FrameKind::kRequest, 2,
                          protocol::PingReply(), &frame);
    REQUIRE(network.client.Send(frame));
    CHECK(network.Why(network.Answer()).error == ErrorCode::kInvalid);
  }
  SUBCASE("for no challenge") {
    network.Hello({});
    CHECK(network.Why(network.Prove("ann", "0123456789abcdef")).error == ErrorCode::kUnauthorized);
    CHECK(network.door.judged == 0);
  }
  SUBCASE("for the challenge of another connection") {
    const std::string other = GuardedNetwork().Hello("ann");
    network.Hello("ann");
    CHECK(network.Why(network.Prove("ann", other)).error == ErrorCode::kUnauthorized);
  }
  SUBCASE("of another name than hello said") {
    const std::string challenge = network.Hello("nobody");
    CHECK(network.Why(network.Prove("ann", challenge)).error == ErrorCode::kUnauthorized);
  }
}

TEST_CASE("credentials on a connection: a stranger costs little and not for long") {
  GuardedNetwork network;
  network.Hello("ann");
  SUBCASE("the time for HELLO is the time for the proof") {
    CHECK(network.StaysFor(Limits().hello_ms));
    CHECK_FALSE(network.StaysFor(1));
  }
  SUBCASE("a large frame is refused before it has come") {
    REQUIRE(network.client.Send(std::string("\x01\x02\0\0\x05\0\0\0\x02\0\0\0", 12)));
    CHECK(network.Why(network.Answer()).error == ErrorCode::kTooLarge);
    CHECK(network.client.AtEnd());
  }
}

TEST_CASE("credentials on a connection: what lies behind the proof is worked as proven") {
  GuardedNetwork network;
  const std::string challenge = network.Hello("ann");
  const protocol::Proof proof =
      MakeProof(*protocol::Secret::FromText(kSecret), protocol::Prover::kClient,
                {protocol::kVersionMax, "ann", challenge, GuardedNetwork::kNonce});
  // More than the first buffer holds, in one write.
  for (uint32_t id = 0; id <= 100; ++id) {
    if (id == 0) {
      REQUIRE(network.client.Ask<Operation::kAuthenticate>(
          id, {GuardedNetwork::kNonce, {proof.data(), proof.size()}}));
    } else {
      REQUIRE(network.client.Ask<Operation::kJoin>(id, {"sale", std::string(200, 'v'), {}}));
    }
  }
  network.RunUntil([&] { return network.worker.worked == 100; });
  for (uint32_t id = 0; id <= 100; ++id) {
    const auto frame = network.client.Read();
    REQUIRE(frame);
    CHECK(frame->header.kind == FrameKind::kReply);
  }
  CHECK(network.worker.worked == 100);
}

TEST_CASE("credentials on a connection: a role may do its part, and is told what takes more") {
  GuardedNetwork network;
  network.door.role = Role::kApp;
  REQUIRE(network.Prove("ann", network.Hello("ann"))->header.kind == FrameKind::kReply);
  REQUIRE(network.client.Ask<Operation::kJoin>(3, {"sale", "bob", {}}));
  CHECK(network.Answer()->header.kind == FrameKind::kReply);
  REQUIRE(network.client.Ask<Operation::kFinish>(4, {"sale", "bob", "token", {}}));
  CHECK(network.Answer()->header.kind == FrameKind::kReply);
  CHECK(network.worker.worked == 2);
  REQUIRE(network.client.Ask<Operation::kFinish>(5, {"sale", "bob", {}, {}}));
  const Refusal finish = network.Why(network.Answer());
  CHECK(finish.error == ErrorCode::kUnauthorized);
  CHECK(finish.message == "finish without a token takes the role operator; ann is app");
  REQUIRE(network.client.Ask<Operation::kAdmit>(6, {"sale", 1, {}}));
  CHECK(network.Why(network.Answer()).message == "admit takes the role operator; ann is app");
  CHECK(network.worker.worked == 2);
  // Unknown and malformed ones are what they are.
  REQUIRE(network.client.Send(std::string("\0\0\0\0\xfe\0\0\0\0\0\0\0", 12)));
  CHECK(network.Why(network.Answer()).error == ErrorCode::kInvalid);
}

TEST_CASE("credentials on a connection: without a gatekeeper nobody is asked") {
  TestLoop loop;
  Remembering worker;
  Connections connections(&worker, {.connections = 10});
  auto listener =
      *Listener::ListenTcp(loop.get(), *ParseListenAddress("127.0.0.1:0"), &connections);
  const std::string name = listener->name();
  RawClient client;
  REQUIRE(client.ConnectTcp(std::stoi(name.substr(name.rfind(':') + 1))));
  const auto answer = [&] {
    int turns = 0;
    loop.RunUntil([&] {
      connections.SetTime(1000);
      connections.Work();
      connections.Flush();
      return ++turns == 50;
    });
    return client.Read();
  };
  protocol::HelloRequest hello;
  hello.key_id = "ann";
  REQUIRE(client.Ask<Operation::kHello>(1, hello));
  CHECK_FALSE(answer()->As<protocol::HelloReply>()->challenge.has_value());
  REQUIRE(client.Ask<Operation::kAuthenticate>(2, {"nonce", "proof"}));
  CHECK(answer()->As<Refusal>()->error == ErrorCode::kConflict);
  REQUIRE(client.Ask<Operation::kFinish>(3, {"sale", "bob", {}, {}}));
  CHECK(answer()->header.kind == FrameKind::kReply);
  CHECK(worker.asker.empty());
  listener->Close();
  connections.CloseAll();
  loop.RunUntil([&] { return connections.empty(); });
}

}  // namespace
}  // namespace anteroom::net
