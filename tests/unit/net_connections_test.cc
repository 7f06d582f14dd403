// Connections over a real socket, on a clock that the test moves: who is let go, and when.
#include <doctest/doctest.h>

#include <sys/socket.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "server/base/limits.h"
#include "server/base/listen_address.h"
#include "server/net/connections.h"
#include "server/net/listener.h"
#include "tests/support/raw_client.h"
#include "tests/support/test_loop.h"

namespace anteroom::net {
namespace {

// Answers every request with so many bytes of whatever.
class Echo : public RequestWorker {
 public:
  void Work(std::span<const protocol::Request> requests,
            std::span<const Arrival> arrivals) override {
    worked += requests.size();
    for (const Arrival& arrival : arrivals) {
      arrival.connection->Immediate()->append(answer_bytes, 'a');
      last = arrival.connection;
    }
  }
  void OnGone(Connection*) override { ++gone; }

  size_t answer_bytes = 100;
  size_t worked = 0;
  size_t gone = 0;
  Connection* last = nullptr;  // that asked
};

struct Network {
  explicit Network(const Limits& limits = {.connections = 10}) : connections(&worker, limits) {
    auto listening =
        Listener::ListenTcp(loop.get(), *ParseListenAddress("127.0.0.1:0"), &connections);
    REQUIRE(listening.ok());
    listener = *std::move(listening);
    const std::string& name = listener->name();
    port = std::stoi(name.substr(name.rfind(':') + 1));
    REQUIRE(client.ConnectTcp(port));
    RunUntil([&] { return connections.count() == 1; });
  }
  ~Network() {
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
  // Some turns, for what might happen and should not.
  void RunOn() {
    int turns = 0;
    RunUntil([&] { return ++turns == 50; });
  }
  // Lets the time pass and looks for deadlines that are over; whether the client is still there.
  bool StaysFor(uint64_t ms) {
    now_ms += ms;
    connections.SetTime(now_ms);
    connections.CheckDeadlines(limits::kLingerMsMax);
    RunOn();
    return connections.count() == 1;
  }
  // The client reads so much.
  void Take(size_t bytes) {
    std::string taken(bytes, '\0');
    RunUntil([&] {
      const ssize_t got = recv(client.socket(), taken.data(), bytes, MSG_DONTWAIT);
      if (got > 0) bytes -= static_cast<size_t>(got);
      return bytes == 0;
    });
    RunOn();
  }
  void Greet() {
    REQUIRE(client.Ask<protocol::Operation::kHello>(0, {}));
    RunOn();
  }

  TestLoop loop;
  Echo worker;
  Connections connections;
  int port = 0;
  std::unique_ptr<Listener> listener;
  RawClient client;
  uint64_t now_ms = 1000;
};

TEST_CASE("connections: who does not say hello is let go after ten seconds") {
  Network network;
  CHECK(network.StaysFor(Limits().hello_ms));
  CHECK_FALSE(network.StaysFor(1));
}

TEST_CASE("connections: half a frame is waited for thirty seconds, no frame for ever") {
  Network network;
  network.Greet();
  CHECK(network.StaysFor(10 * Limits().frame_ms));
  std::string frame;
  protocol::AppendFrame(static_cast<uint8_t>(protocol::Operation::kPing),
                        protocol::FrameKind::kRequest, 1, protocol::Empty(), &frame);
  REQUIRE(network.client.Send(frame.substr(0, 5)));
  network.RunOn();
  CHECK(network.StaysFor(Limits().frame_ms));
  SUBCASE("the rest comes in time") {
    REQUIRE(network.client.Send(frame.substr(5)));
    network.RunUntil([&] { return network.worker.worked == 1; });
    CHECK(network.StaysFor(10 * Limits().frame_ms));
  }
  SUBCASE("the rest does not come") {
    CHECK_FALSE(network.StaysFor(1));
    CHECK(network.worker.gone == 1);
  }
}

TEST_CASE("connections: what is worked in a turn is counted in people, not in requests") {
  Network network;
  network.Greet();
  constexpr uint32_t kAsked = 30;
  // The most requests that one turn worked.
  const auto ask = [&](uint32_t people) {
    std::string questions;
    for (uint32_t i = 0; i < kAsked; ++i) {
      protocol::AppendFrame(static_cast<uint8_t>(protocol::Operation::kPeek),
                            protocol::FrameKind::kRequest, i,
                            protocol::PageRequest{"sale", 0, people}, &questions);
    }
    REQUIRE(network.client.Send(questions));
    const size_t before = network.worker.worked;
    size_t last = before;
    size_t most = 0;
    network.RunUntil([&] {
      most = std::max(most, network.worker.worked - last);
      last = network.worker.worked;
      return last == before + kAsked;
    });
    return most;
  };
  CHECK(ask(Limits().connection_requests / 2) == 2);
  // However many one asks for, it has its turn.
  CHECK(ask(1'000'000) == 1);
}

// In one turn, of two connections that ask 30 times each.
size_t WorkedAtOnce(const Limits& limits) {
  Network network(limits);
  network.Greet();
  RawClient second;
  REQUIRE(second.ConnectTcp(network.port));
  REQUIRE(second.Ask<protocol::Operation::kHello>(0, {}));
  network.RunUntil([&] { return network.connections.count() == 2; });
  network.RunOn();
  std::string questions;
  for (uint32_t i = 0; i < 30; ++i) {
    protocol::AppendFrame(static_cast<uint8_t>(protocol::Operation::kPing),
                          protocol::FrameKind::kRequest, i, protocol::Empty(), &questions);
  }
  REQUIRE(network.client.Send(questions));
  REQUIRE(second.Send(questions));
  // Both are read before either is worked.
  network.loop.RunUntil([&, turns = 0]() mutable { return ++turns == 50; });
  network.connections.Work();
  const size_t worked = network.worker.worked;
  network.RunUntil([&] { return network.worker.worked == 60; });
  return worked;
}

TEST_CASE("connections: the requests of one, and of all in a turn, are as many as the limits say") {
  CHECK(WorkedAtOnce({.connections = 10}) == 60);
  CHECK(WorkedAtOnce({.connections = 10, .connection_requests = 7}) == 14);
  // Once it is begun with, a connection has its own share.
  CHECK(WorkedAtOnce({.connections = 10, .requests = 1}) == 30);
  CHECK(WorkedAtOnce({.connections = 10, .connection_requests = 7, .requests = 8}) == 14);
  CHECK(WorkedAtOnce({.connections = 10, .connection_requests = 7, .requests = 7}) == 7);
}

TEST_CASE("connections: what they hold is what each holds, and gone with it") {
  Network network;
  network.Greet();
  const size_t quiet = network.connections.held_bytes();
  CHECK(quiet >= sizeof(Connection));
  network.worker.answer_bytes = 32 << 20;
  REQUIRE(network.client.Ask<protocol::Operation::kPing>(1, {}));
  network.RunUntil([&] { return network.worker.worked == 1; });
  network.RunOn();
  CHECK(network.connections.held_bytes() >= quiet + (1 << 20));
  network.client.Close();
  network.RunUntil([&] { return network.connections.empty(); });
  CHECK(network.connections.held_bytes() == 0);
}

TEST_CASE("connections: who takes nothing of what there is for a minute is let go") {
  Network network;
  network.worker.answer_bytes = Limits().output_bytes / 2;
  network.Greet();
  REQUIRE(network.client.Ask<protocol::Operation::kPing>(1, {}));
  network.RunUntil([&] { return network.worker.worked == 1; });
  network.RunOn();
  // As much as the sockets hold has gone by now; a millisecond for seeing that it has.
  CHECK(network.StaysFor(1));
  CHECK(network.StaysFor(limits::kOutputStalledMsMax - 1));
  SUBCASE("not a byte") {}
  SUBCASE("a little, now and then") {
    for (int i = 0; i < 3; ++i) {
      network.Take(size_t{4} << 20);
      CHECK(network.StaysFor(1));
      CHECK(network.StaysFor(limits::kOutputStalledMsMax - 1));
    }
  }
  // The sockets may have moved a little more since: each minute in which they have is another one.
  for (size_t before = std::numeric_limits<size_t>::max();;) {
    const size_t unsent = network.worker.last->unsent_bytes();
    if (!network.StaysFor(limits::kOutputStalledMsMax + 1)) break;
    REQUIRE(unsent < before);
    before = unsent;
  }
}

}  // namespace
}  // namespace anteroom::net
