// Bad neighbours on the network, as the real daemon meets them: who says nothing, who watches and
// never reads, and crowds of connections that come and go.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/daemon_process.h"
#include "tests/support/raw_client.h"

namespace anteroom {
namespace {

using protocol::Operation;
using std::chrono::steady_clock;

struct Daemon {
  Daemon() {
    std::string name = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder = name;
    REQUIRE(process.Start(
        {"--listen", "127.0.0.1:0", "--data", folder + "/data", "--segment-bytes", "1M"}));
    Connect(&client);
  }
  ~Daemon() {
    process.Stop(SIGKILL);
    std::filesystem::remove_all(folder);
  }
  void Connect(RawClient* to) {
    REQUIRE(to->ConnectTcp(process.port()));
    REQUIRE(to->Hello());
  }
  size_t Descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(process.pid()) + "/fd");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }
  long ResidentKib() const {
    std::ifstream status("/proc/" + std::to_string(process.pid()) + "/status");
    std::string word;
    long kib = 0;
    while (status >> word) {
      if (word == "VmRSS:") status >> kib;
    }
    return kib;
  }

  std::string folder;
  DaemonProcess process;
  RawClient client;
};

TEST_CASE("who never says hello is closed, and half a hello is no hello") {
  Daemon daemon;
  RawClient silent;
  RawClient half;
  REQUIRE(silent.ConnectTcp(daemon.process.port()));
  REQUIRE(half.ConnectTcp(daemon.process.port()));
  REQUIRE(half.Send("\x09"));
  // The daemon waits ten seconds; the time-out of one reading is as long.
  const auto limit = steady_clock::now() + std::chrono::seconds(40);
  for (RawClient* client : {&silent, &half}) {
    char byte;
    ssize_t got = -1;
    do {
      got = recv(client->socket(), &byte, 1, 0);
    } while (got != 0 && errno == EAGAIN && steady_clock::now() < limit);
    // Either it is closed in silence, or after a refusal.
    REQUIRE(got >= 0);
  }
  REQUIRE(daemon.client.Call<Operation::kPing>({}));
}

TEST_CASE("thousands of connections come and go, and their descriptors return") {
  Daemon daemon;
  // And some of the log's files, which it opens and closes by itself.
  const size_t before = daemon.Descriptors() + 4;
  for (int round = 0; round < 10; ++round) {
    std::vector<RawClient> crowd(300);
    for (size_t i = 0; i < crowd.size(); ++i) {
      REQUIRE(crowd[i].ConnectTcp(daemon.process.port()));
      // Some go without a word, some in the middle of one, some after it.
      if (i % 3 == 1) crowd[i].Send(std::string("\x09\0\0\0\x01", 5));
      if (i % 3 == 2) REQUIRE(crowd[i].Hello());
    }
  }
  const auto limit = steady_clock::now() + std::chrono::seconds(30);
  while (daemon.Descriptors() > before && steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  REQUIRE(daemon.Descriptors() <= before);
  REQUIRE(daemon.client.Call<Operation::kHealth>({})->connections == 1);
}

// Asks without waiting for answers, and reads these all the while, until it is destroyed.
class Flood {
 public:
  explicit Flood(Daemon* daemon) {
    daemon->Connect(&client_);
    for (uint32_t i = 0; i < 2000; ++i) {
      if (i % 2 == 0) {
        protocol::AppendFrame(static_cast<uint8_t>(Operation::kPing), protocol::FrameKind::kRequest,
                              i, protocol::RequestOf<Operation::kPing>::Message{}, &questions_);
      } else {
        protocol::AppendFrame(static_cast<uint8_t>(Operation::kPeek), protocol::FrameKind::kRequest,
                              i, protocol::RequestOf<Operation::kPeek>::Message{"sale", 0, 10},
                              &questions_);
      }
    }
    asking_ = std::thread([this] {
      while (client_.Send(questions_)) {
      }
    });
    reading_ = std::thread([this] {
      char bytes[65536];
      for (ssize_t got; (got = recv(client_.socket(), bytes, sizeof bytes, 0)) > 0;) {
        read_bytes_ += static_cast<uint64_t>(got);
      }
    });
  }
  ~Flood() {
    shutdown(client_.socket(), SHUT_RDWR);
    asking_.join();
    reading_.join();
  }
  uint64_t read_bytes() const { return read_bytes_; }

 private:
  RawClient client_;
  std::string questions_;
  std::atomic<uint64_t> read_bytes_ = 0;
  std::thread asking_;
  std::thread reading_;
};

// Processor time that a process has used so far.
std::chrono::microseconds ProcessorTime(pid_t pid) {
  clockid_t clock;
  timespec used{};
  REQUIRE(clock_getcpuclockid(pid, &clock) == 0);
  REQUIRE(clock_gettime(clock, &used) == 0);
  return std::chrono::microseconds(used.tv_sec * 1'000'000 + used.tv_nsec / 1000);
}

// Of so many pings one after the other: how long all but one in a hundred took at most, and how
// much the daemon worked meanwhile, which is what a busy machine changes little.
struct PingTimes {
  std::chrono::microseconds p99;
  std::chrono::microseconds worked_p99;
};
PingTimes MeasurePings(Daemon* daemon) {
  constexpr size_t kPings = 300;
  std::vector<std::chrono::microseconds> times;
  std::vector<std::chrono::microseconds> worked;
  times.reserve(kPings);
  worked.reserve(kPings);
  for (size_t i = 0; i < kPings; ++i) {
    const auto worked_before = ProcessorTime(daemon->process.pid());
    const auto start = steady_clock::now();
    REQUIRE(daemon->client.Call<Operation::kPing>({}));
    times.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start));
    worked.push_back(ProcessorTime(daemon->process.pid()) - worked_before);
  }
  std::sort(times.begin(), times.end());
  std::sort(worked.begin(), worked.end());
  return {times[kPings * 99 / 100], worked[kPings * 99 / 100]};
}

TEST_CASE("a flood of requests from who reads the answers leaves others fast") {
  Daemon daemon;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{0};
  REQUIRE(daemon.client.Call<Operation::kRoomCreate>({"sale", settings}));
  for (int i = 0; i < 10; ++i) {
    REQUIRE(daemon.client.Call<Operation::kJoin>({"sale", "v" + std::to_string(i), std::nullopt}));
  }
  // The machine has other things to do as well: the best of some rounds counts, and the bound is
  // wide.
  bool is_fast = false;
  for (int round = 0; round < 5 && !is_fast; ++round) {
    const PingTimes quiet = MeasurePings(&daemon);
    const Flood first(&daemon);
    const Flood second(&daemon);
    const auto limit = steady_clock::now() + std::chrono::seconds(10);
    while ((first.read_bytes() == 0 || second.read_bytes() == 0) && steady_clock::now() < limit) {
      std::this_thread::yield();
    }
    const uint64_t before_bytes = first.read_bytes() + second.read_bytes();
    const PingTimes flooded = MeasurePings(&daemon);
    const uint64_t read_bytes = first.read_bytes() + second.read_bytes() - before_bytes;
    std::printf(
        "ping p99 %lld us, in a flood of %llu KiB of answers %lld us, of the daemon's work %lld\n",
        static_cast<long long>(quiet.p99.count()),
        static_cast<unsigned long long>(read_bytes / 1024),
        static_cast<long long>(flooded.p99.count()),
        static_cast<long long>(flooded.worked_p99.count()));
    REQUIRE(read_bytes > 100'000);
    is_fast = flooded.p99 < 20 * quiet.p99 + std::chrono::milliseconds(50) ||
              flooded.worked_p99 < std::chrono::milliseconds(200);
  }
  CHECK(is_fast);
}

// The best of some rounds, for the machine has other work too: of a thousand requests one after
// another, with changes between that everybody who watches is told of.
double P99Microseconds(RawClient& client) {
  double best_us = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<double> times_us;
    protocol::RoomSettings change;
    for (int i = 0; i < 1000; ++i) {
      if (i % 10 == 0) {
        change.mode = i % 20 == 0 ? protocol::Mode::kPaused : protocol::Mode::kQueue;
        REQUIRE(client.Call<Operation::kRoomSet>({"sale", change, std::nullopt}));
      }
      const auto start = steady_clock::now();
      REQUIRE(client.Call<Operation::kRoomShow>({"sale"}));
      const std::chrono::duration<double, std::micro> took = steady_clock::now() - start;
      times_us.push_back(took.count());
    }
    std::nth_element(times_us.begin(), times_us.begin() + 990, times_us.end());
    if (round == 0 || times_us[990] < best_us) best_us = times_us[990];
  }
  return best_us;
}

TEST_CASE("who watches and never reads costs little and hurts nobody") {
  Daemon daemon;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{0};
  REQUIRE(daemon.client.Call<Operation::kRoomCreate>({"sale", settings}));
  std::vector<std::string> people;
  people.reserve(1000);
  for (int i = 0; i < 1000; ++i) people.push_back(std::string(200, 'x') + std::to_string(i));
  protocol::JoinManyRequest joins;
  for (const std::string& id : people) joins.items.push_back({"sale", id, std::nullopt});
  REQUIRE(daemon.client.Call<Operation::kJoinMany>(joins));
  const double alone_us = P99Microseconds(daemon.client);
  RawClient watcher;
  daemon.Connect(&watcher);
  REQUIRE(watcher.Ask<Operation::kWatch>(
      1, {"sale", std::vector<std::string_view>(people.begin(), people.end())}));
  // Each change of the mode is told to everybody who waits: in all many megabytes.
  const double beside_us = P99Microseconds(daemon.client);
  INFO("p99 without it ", alone_us, " us, beside it ", beside_us, " us");
  CHECK(beside_us < 3 * alone_us + 1000);
  REQUIRE(daemon.ResidentKib() > 0);
  REQUIRE(daemon.ResidentKib() < 200 * 1024);
  REQUIRE(daemon.process.Stop(SIGTERM) == 0);
}

}  // namespace
}  // namespace anteroom
