// Bad neighbours on the network, as the real daemon meets them: who says nothing, who watches and
// never reads, and crowds of connections that come and go.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
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
  const size_t before = daemon.Descriptors();
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
  RawClient watcher;
  daemon.Connect(&watcher);
  REQUIRE(watcher.Ask<Operation::kWatch>(
      1, {"sale", std::vector<std::string_view>(people.begin(), people.end())}));
  // Each change of the mode is told to everybody who waits: in all many megabytes.
  protocol::RoomSettings change;
  for (int i = 0; i < 200; ++i) {
    change.mode = i % 2 == 0 ? protocol::Mode::kPaused : protocol::Mode::kQueue;
    REQUIRE(daemon.client.Call<Operation::kRoomSet>({"sale", change, std::nullopt}));
  }
  const auto start = steady_clock::now();
  for (int i = 0; i < 100; ++i) REQUIRE(daemon.client.Call<Operation::kPing>({}));
  REQUIRE(steady_clock::now() - start < std::chrono::seconds(5));
  REQUIRE(daemon.ResidentKib() > 0);
  REQUIRE(daemon.ResidentKib() < 200 * 1024);
  REQUIRE(daemon.process.Stop(SIGTERM) == 0);
}

}  // namespace
}  // namespace anteroom
