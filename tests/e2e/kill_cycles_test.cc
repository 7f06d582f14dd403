// A hundred times kill -9: the real daemon under load, killed at moments of every kind (while it
// answers, while it goes over to another segment, while it still starts), and asked after every
// restart whether all that it had answered is still so. ANTEROOM_KILL_CYCLES sets another number.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/kill_audit.h"
#include "tests/e2e/kill_journal.h"
#include "tests/e2e/kill_load.h"
#include "tests/support/daemon_process.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

constexpr int kCycles = 100;

// Starts a daemon and kills it before it has said anything, or soon after.
void KillWhileStarting(const std::vector<std::string>& arguments, std::chrono::microseconds life) {
  std::vector<std::string> words = arguments;
  const char* folder = std::getenv("ANTEROOM_BIN");
  words.insert(words.begin(), std::string(folder != nullptr ? folder : "build/bin") + "/anteroomd");
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    close(STDERR_FILENO);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  std::this_thread::sleep_for(life);
  kill(pid, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WIFSIGNALED(status));
}

void MakeRooms(Journal* journal, RawClient* client) {
  using protocol::Duration;
  using protocol::Limit;
  using protocol::Rate;
  const Duration hour{3'600'000};
  protocol::RoomSettings settings;
  settings.claim_ttl = settings.session_ttl = settings.remember_ttl = hour;
  const auto make = [&](size_t number, const std::string& name, bool several_lanes) {
    REQUIRE(journal->AddRoom(name, several_lanes) == number);
    const auto reply = client->Call<protocol::Operation::kRoomCreate>({name, settings});
    REQUIRE(reply);
    journal->rooms[number].settings = reply->settings;
    journal->rooms[number].revision = reply->revision;
  };
  settings.capacity = Limit{40};
  settings.rate = Rate{};
  make(kByCapacity, "by-capacity", true);
  settings.capacity = Limit{};
  settings.rate = Rate{2000, 1000};
  make(kByRate, "by-rate", false);
  settings.rate = Rate{};
  settings.mode = protocol::Mode::kPaused;
  make(kByHand, "by-hand", false);
}

TEST_CASE("nothing that was answered is lost over a hundred kill -9, and nobody is let in twice") {
  std::string folder = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const char* wanted = std::getenv("ANTEROOM_KILL_CYCLES");
  const int cycles = wanted != nullptr ? std::atoi(wanted) : kCycles;
  std::mt19937_64 random(TestSeed());
  Journal journal;
  KillLoad load(&journal, &random);
  int torn_ends = 0;
  int snapshots = 0;  // cycles that began with one
  for (int cycle = 0; cycle <= cycles; ++cycle) {
    // Segments small enough to be filled within a cycle, or large enough never to be.
    const char* const sizes[] = {"8K", "16K", "64K", "256K", "1M"};
    const std::vector<std::string> arguments = {
        "--listen", "127.0.0.1:0", "--data", folder, "--segment-bytes",
        sizes[random() % std::size(sizes)],
        // As soon as anything is closed, or now and then.
        "--snapshot-log-bytes", random() % 2 == 0 ? "0" : "256K"};
    if (cycle > 0 && random() % 4 == 0) {
      KillWhileStarting(arguments, std::chrono::microseconds(random() % 60'000));
    }
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      snapshots += file.path().extension() == ".snap";
    }
    DaemonProcess daemon;
    const bool started = daemon.Start(arguments);
    INFO("cycle ", cycle, ", the daemon said: ", daemon.said());
    REQUIRE(started);
    torn_ends += daemon.said().find("torn end") != std::string::npos;
    RawClient client;
    REQUIRE(client.ConnectTcp(daemon.port()));
    REQUIRE(client.Hello());
    const bool is_last = cycle == cycles;
    if (cycle == 0) MakeRooms(&journal, &client);
    if (cycle > 0) KillAudit(&journal, &random, &client).Run(&load.admits(), is_last);
    if (!is_last) {
      REQUIRE(load.Connect(daemon.port()));
      load.Run(random() % 4 == 0 ? random() % 100 : random() % 3000,
               std::chrono::milliseconds(random() % 1000));
      daemon.Signal(SIGKILL);
      load.ReadTheRest();
      REQUIRE(daemon.Wait() == -SIGKILL);
    } else {
      REQUIRE(daemon.Stop(SIGTERM) == 0);
    }
    for (const std::string& violation : journal.violations) MESSAGE(violation);
    REQUIRE(journal.violations.empty());
  }
  std::printf(
      "%d cycles, %zu people, %zu places, %llu answers, %llu observations, %d torn ends, "
      "%d snapshots, %llu times unavailable\n",
      cycles, journal.people.size(), journal.places.size(),
      static_cast<unsigned long long>(load.answers()),
      static_cast<unsigned long long>(journal.observations), torn_ends, snapshots,
      static_cast<unsigned long long>(load.unavailable()));
  // It was a load, and not a row of refusals.
  CHECK(snapshots > cycles / 10);
  CHECK(load.unavailable() * 10 <= load.answers());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace anteroom
