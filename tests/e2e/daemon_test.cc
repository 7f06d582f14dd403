// The real daemon, over real sockets, as a well-behaved and as a bad client see it: what it keeps
// over kill -9, how it starts and refuses to start, what it answers to bytes that are none.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/support/daemon_process.h"
#include "tests/support/raw_client.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Reason;
using protocol::State;

// A folder that is gone afterwards.
struct Scratch {
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Scratch() { std::filesystem::remove_all(path); }
  std::string data() const { return path + "/data"; }
  std::string path;
};

struct Running {
  explicit Running(const Scratch& scratch, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--listen",     "127.0.0.1:0",     "--data",
                                          scratch.data(), "--segment-bytes", "1M"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    INFO(daemon.said());
    REQUIRE(daemon.Start(arguments));
    REQUIRE(client.ConnectTcp(daemon.port()));
    REQUIRE(client.Hello());
  }
  void MakeRoom(std::string_view name, uint64_t capacity) {
    protocol::RoomSettings settings;
    settings.capacity = protocol::Limit{capacity};
    REQUIRE(client.Call<Operation::kRoomCreate>({name, settings}));
  }
  std::optional<protocol::VisitorReply> Join(std::string_view visitor) {
    return client.Call<Operation::kJoin>({"sale", visitor, std::nullopt});
  }

  DaemonProcess daemon;
  RawClient client;
};

TEST_CASE("what was answered is there after kill -9, tokens too") {
  Scratch scratch;
  std::vector<protocol::VisitorReply> before;
  {
    Running running(scratch);
    running.MakeRoom("sale", 3);
    for (int i = 0; i < 10; ++i) {
      const auto reply = running.Join("visitor " + std::to_string(i));
      REQUIRE(reply);
      before.push_back(*reply);
    }
    REQUIRE(running.daemon.Stop(SIGKILL) == -SIGKILL);
  }
  Running running(scratch);
  for (int i = 0; i < 10; ++i) {
    const std::string visitor = "visitor " + std::to_string(i);
    const auto reply = running.client.Call<Operation::kStatus>({"sale", visitor});
    REQUIRE(reply);
    REQUIRE(reply->state == before[static_cast<size_t>(i)].state);
    REQUIRE(reply->arrival == before[static_cast<size_t>(i)].arrival);
    REQUIRE(reply->token == before[static_cast<size_t>(i)].token);
    REQUIRE(reply->ahead == before[static_cast<size_t>(i)].ahead);
  }
  REQUIRE(running.daemon.Stop(SIGTERM) == 0);
}

TEST_CASE("a clean stop answers, says goodbye and exits 0") {
  Scratch scratch;
  Running running(scratch);
  running.MakeRoom("sale", 0);
  REQUIRE(running.client.Ask<Operation::kWatchRoom>(77, {"sale"}));
  REQUIRE(running.client.Read()->header.kind == FrameKind::kReply);
  REQUIRE(running.client.Read()->header.kind == FrameKind::kPush);
  for (uint32_t i = 0; i < 100; ++i) {
    REQUIRE(running.client.Ask<Operation::kJoin>(1000 + i, {"sale", std::to_string(i), {}}));
  }
  running.daemon.Signal(SIGTERM);
  int answers = 0;
  bool ended = false;
  while (const auto frame = running.client.Read()) {
    if (frame->header.kind == FrameKind::kEnd) {
      REQUIRE(frame->As<protocol::Refusal>()->reason == Reason::kStopping);
      ended = true;
    } else if (frame->header.request_id >= 1000) {
      if (frame->header.kind == FrameKind::kRefusal) {
        REQUIRE(frame->As<protocol::Refusal>()->reason == Reason::kStopping);
      }
      ++answers;
    }
  }
  REQUIRE(ended);
  REQUIRE(answers == 100);
  REQUIRE(running.daemon.Wait() == 0);
}

TEST_CASE("a second daemon on a directory ends at once and says so") {
  Scratch scratch;
  Running running(scratch);
  DaemonProcess second;
  REQUIRE_FALSE(second.Start({"--listen", "127.0.0.1:0", "--data", scratch.data()}));
  REQUIRE(second.Wait() == 1);
  REQUIRE(second.said().find("in use") != std::string::npos);
}

TEST_CASE("wrong usage is told and exits 2") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--listen", "0.0.0.0:7411"}, "loopback"},
      {{"--listen", "192.168.1.5:7411"}, "loopback"},
      {{"--listen", "nonsense"}, "HOST:PORT"},
      {{"--durability", "perhaps"}, "commit, interval or none"},
      {{"--durabilty", "commit"}, "--durability"},
      {{"--durability-interval", "5"}, "100ms"},
      {{"--segment-bytes", "5000"}, "4096"},
      {{"--max-connections", "0"}, "1000000"},
      {{"--credentials", "/nowhere", "--credentials="}, "without its value"},
      {{"--listen", "127.0.0.1:0", "--credentials", ""}, "name of a file"},
      {{"--data"}, "without its value"},
      {{"stray"}, "no flag"},
  };
  for (const auto& [arguments, words] : wrong) {
    DaemonProcess daemon;
    REQUIRE_FALSE(daemon.Start(arguments));
    REQUIRE(daemon.Wait() == 2);
    INFO(daemon.said());
    REQUIRE(daemon.said().find(words) != std::string::npos);
  }
}

TEST_CASE("where a socket's directory is missing it is not said to be forbidden") {
  Scratch scratch;
  DaemonProcess daemon;
  REQUIRE_FALSE(daemon.Start(
      {"--listen", "none", "--unix", scratch.path + "/missing/socket", "--data", scratch.data()}));
  REQUIRE(daemon.Wait() == 1);
  INFO(daemon.said());
  REQUIRE(daemon.said().find("no such file or directory") != std::string::npos);
}

TEST_CASE("a log without its secrets, or of the other kind of clock, is refused") {
  Scratch scratch;
  { Running(scratch).daemon.Stop(SIGTERM); }
  const std::vector<std::string> real = {"--listen", "127.0.0.1:0", "--data", scratch.data()};
  std::vector<std::string> test = real;
  test.emplace_back("--virtual-clock");
  DaemonProcess daemon;
  REQUIRE_FALSE(daemon.Start(test));
  REQUIRE(daemon.Wait() == 1);
  REQUIRE(std::filesystem::status(scratch.data() + "/secrets").permissions() ==
          std::filesystem::perms(0600));
  std::filesystem::rename(scratch.data() + "/secrets", scratch.path + "/elsewhere");
  REQUIRE_FALSE(daemon.Start(real));
  REQUIRE(daemon.Wait() == 1);
  REQUIRE(daemon.said().find("secrets") != std::string::npos);
  // Another daemon's.
  Scratch other;
  { Running(other).daemon.Stop(SIGTERM); }
  std::filesystem::copy(other.data() + "/secrets", scratch.data() + "/secrets");
  REQUIRE_FALSE(daemon.Start(real));
  REQUIRE(daemon.Wait() == 1);
  REQUIRE(daemon.said().find("another daemon") != std::string::npos);
  std::filesystem::remove(scratch.data() + "/secrets");
  std::filesystem::rename(scratch.path + "/elsewhere", scratch.data() + "/secrets");
  REQUIRE(daemon.Start(real));
  REQUIRE(daemon.Stop(SIGTERM) == 0);
}

TEST_CASE("a Unix socket works, and one that a killed daemon left is no obstacle") {
  Scratch scratch;
  const std::string path = scratch.path + "/socket";
  for (int i = 0; i < 2; ++i) {
    Running running(scratch, {"--unix", path});
    RawClient client;
    REQUIRE(client.ConnectUnix(path));
    REQUIRE(client.Hello());
    REQUIRE(client.Call<Operation::kPing>({}));
    if (i == 0) {
      DaemonProcess second;
      REQUIRE_FALSE(
          second.Start({"--listen", "none", "--unix", path, "--data", scratch.path + "/other"}));
      REQUIRE(second.Wait() == 1);
    }
    REQUIRE(running.daemon.Stop(i == 0 ? SIGKILL : SIGTERM) == (i == 0 ? -SIGKILL : 0));
  }
  REQUIRE_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a virtual clock stands still until it is advanced") {
  Scratch scratch;
  Running running(scratch, {"--virtual-clock"});
  running.MakeRoom("sale", 1);
  REQUIRE(running.Join("a")->state == State::kAdmitted);
  REQUIRE(running.Join("b")->state == State::kWaiting);
  const auto first = running.client.Call<Operation::kClockAdvance>({0});
  REQUIRE(first);
  const auto later = running.client.Call<Operation::kClockAdvance>({300'000});
  REQUIRE(later->at_ms == first->at_ms + 300'000);
  const auto gone = running.client.Call<Operation::kStatus>({"sale", "a"});
  REQUIRE(gone->state == State::kEnded);
  REQUIRE(gone->reason == Reason::kNoShow);
  const auto next = running.client.Call<Operation::kStatus>({"sale", "b"});
  REQUIRE(next->state == State::kAdmitted);
  REQUIRE(next->expires_in_ms == 300'000);
  // What is asked right behind an advance sees it done.
  REQUIRE(running.client.Ask<Operation::kClockAdvance>(501, {300'000}));
  REQUIRE(running.client.Ask<Operation::kStatus>(502, {"sale", "b"}));
  REQUIRE(running.client.Read()->header.request_id == 501);
  REQUIRE(running.client.Read()->As<protocol::VisitorReply>()->state == State::kEnded);
  REQUIRE_FALSE(running.client.Call<Operation::kClockAdvance>({-1}));
  REQUIRE(running.client.last_refusal.error == ErrorCode::kInvalid);
}

TEST_CASE("a real clock is not advanced") {
  Scratch scratch;
  Running running(scratch);
  REQUIRE_FALSE(running.client.Call<Operation::kClockAdvance>({1000}));
  REQUIRE(running.client.last_refusal.error == ErrorCode::kConflict);
  REQUIRE(running.client.Call<Operation::kPing>({}));
}

TEST_CASE("every durability answers, and keeps what it has stopped with") {
  for (const char* durability : {"commit", "interval", "none"}) {
    Scratch scratch;
    {
      Running running(scratch, {"--durability", durability});
      running.MakeRoom("sale", 1);
      REQUIRE(running.Join("a")->state == State::kAdmitted);
      REQUIRE(running.client.Call<Operation::kHealth>({})->durability == durability);
      REQUIRE(running.daemon.Stop(SIGTERM) == 0);
    }
    Running running(scratch, {"--durability", durability});
    REQUIRE(running.client.Call<Operation::kStatus>({"sale", "a"})->state == State::kAdmitted);
  }
}

TEST_CASE("a watch pushes over the wire") {
  Scratch scratch;
  Running running(scratch);
  running.MakeRoom("sale", 1);
  running.Join("a");
  running.Join("b");
  RawClient watcher;
  REQUIRE(watcher.ConnectTcp(running.daemon.port()));
  REQUIRE(watcher.Hello());
  REQUIRE(watcher.Ask<Operation::kWatch>(5, {"sale", {"a", "b"}}));
  REQUIRE(watcher.Read()->header.kind == FrameKind::kReply);
  REQUIRE(watcher.Read()->As<protocol::VisitorPush>()->reply->state == State::kAdmitted);
  REQUIRE(watcher.Read()->As<protocol::VisitorPush>()->reply->state == State::kWaiting);
  REQUIRE(running.client.Call<Operation::kFinish>(
      {"sale", "a", std::nullopt, protocol::Outcome::kCompleted}));
  REQUIRE(watcher.Read()->As<protocol::VisitorPush>()->reply->reason == Reason::kCompleted);
  const auto admitted = watcher.Read()->As<protocol::VisitorPush>();
  REQUIRE(admitted->visitor == "b");
  REQUIRE(admitted->reply->token);
  REQUIRE(running.client.Call<Operation::kHealth>({})->watches == 1);
}

TEST_CASE("bad input is answered in words and hurts nobody else") {
  Scratch scratch;
  Running running(scratch);
  const auto refusal_of = [&](std::string_view bytes, bool hello) {
    RawClient client;
    REQUIRE(client.ConnectTcp(running.daemon.port()));
    if (hello) REQUIRE(client.Hello());
    REQUIRE(client.Send(bytes));
    const auto frame = client.Read();
    REQUIRE(frame);
    REQUIRE(frame->header.kind == FrameKind::kRefusal);
    const auto refusal = frame->As<protocol::Refusal>();
    REQUIRE(refusal);
    const bool closed = !client.Ask<Operation::kPing>(9, {}) || !client.Read();
    return std::pair(refusal->error, closed);
  };
  const auto header = [](uint32_t bytes, uint8_t operation, uint8_t kind, uint16_t zero) {
    std::string frame;
    protocol::ByteWriter writer(&frame);
    writer.Put(bytes);
    writer.Put(operation);
    writer.Put(kind);
    writer.Put(zero);
    writer.Put(uint32_t{1});
    return frame;
  };
  using Outcome = std::pair<ErrorCode, bool>;
  // Unknown operation, malformed payload: the connection lives on.
  REQUIRE(refusal_of(header(0, 99, 0, 0), true) == Outcome(ErrorCode::kInvalid, false));
  REQUIRE(refusal_of(header(1, 10, 0, 0) + "x", true) == Outcome(ErrorCode::kInvalid, false));
  // What cannot go on is closed.
  REQUIRE(refusal_of(header(0, 2, 0, 7), true) == Outcome(ErrorCode::kInvalid, true));
  REQUIRE(refusal_of(header(0, 2, 1, 0), true) == Outcome(ErrorCode::kInvalid, true));
  REQUIRE(refusal_of(header(UINT32_MAX, 10, 0, 0), true) == Outcome(ErrorCode::kTooLarge, true));
  REQUIRE(refusal_of(header((1 << 20) + 1, 10, 0, 0), true) == Outcome(ErrorCode::kTooLarge, true));
  REQUIRE(refusal_of(header(0, 2, 0, 0), false) == Outcome(ErrorCode::kInvalid, true));
  // A stranger's frame is small, or not waited for.
  REQUIRE(refusal_of(header(600, 1, 0, 0), false) == Outcome(ErrorCode::kTooLarge, true));
  std::string hello;
  protocol::HelloRequest other_version;
  other_version.version_min = other_version.version_max = 99;
  protocol::AppendFrame(1, FrameKind::kRequest, 1, other_version, &hello);
  REQUIRE(refusal_of(hello, false) == Outcome(ErrorCode::kInvalid, true));
  hello.clear();
  protocol::AppendFrame(1, FrameKind::kRequest, 1, protocol::HelloRequest(), &hello);
  REQUIRE(refusal_of(hello, true) == Outcome(ErrorCode::kInvalid, true));

  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 200; ++i) {
    RawClient client;
    REQUIRE(client.ConnectTcp(running.daemon.port()));
    if (i % 2 == 0) client.Hello();
    std::string noise(random() % 200, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    client.Send(noise);
  }
  REQUIRE(running.client.Call<Operation::kPing>({}));
}

TEST_CASE("requests are worked however they are cut into pieces") {
  Scratch scratch;
  Running running(scratch);
  running.MakeRoom("sale", 0);
  std::string frames;
  for (uint32_t i = 0; i < 20; ++i) {
    const std::string visitor = "v" + std::to_string(i);
    protocol::AppendFrame(10, FrameKind::kRequest, i, protocol::JoinRequest{"sale", visitor, {}},
                          &frames);
  }
  for (const char byte : frames) REQUIRE(running.client.Send(std::string_view(&byte, 1)));
  for (uint32_t i = 0; i < 20; ++i) {
    const auto frame = running.client.Read();
    REQUIRE(frame->header.request_id == i);
    REQUIRE(frame->As<protocol::VisitorReply>()->ahead == i);
  }
}

TEST_CASE("a client that closes its sending side still gets its answers") {
  Scratch scratch;
  Running running(scratch);
  running.MakeRoom("sale", 0);
  for (uint32_t i = 0; i < 3000; ++i) {
    REQUIRE(running.client.Ask<Operation::kJoin>(i, {"sale", "v" + std::to_string(i), {}}));
  }
  running.client.ShutdownWrite();
  for (uint32_t i = 0; i < 3000; ++i) {
    const auto frame = running.client.Read();
    REQUIRE(frame);
    REQUIRE(frame->header.request_id == i);
  }
  REQUIRE(running.client.AtEnd());
}

TEST_CASE("connections beyond the limit are told so, and places are free again") {
  Scratch scratch;
  Running running(scratch, {"--max-connections", "3"});
  RawClient second;
  RawClient third;
  REQUIRE(second.ConnectTcp(running.daemon.port()));
  REQUIRE(second.Hello());
  REQUIRE(third.ConnectTcp(running.daemon.port()));
  REQUIRE(third.Hello());
  RawClient fourth;
  REQUIRE(fourth.ConnectTcp(running.daemon.port()));
  fourth.Ask<Operation::kHello>(0, {});
  const auto frame = fourth.Read();
  REQUIRE(frame);
  REQUIRE(frame->header.operation == 1);
  REQUIRE(frame->As<protocol::Refusal>()->reason == Reason::kTooManyConnections);
  REQUIRE(fourth.AtEnd());
  REQUIRE(running.client.Call<Operation::kHealth>({})->connections == 3);
  third.Close();
  while (running.client.Call<Operation::kHealth>({})->connections == 3) {
  }
  REQUIRE(fourth.ConnectTcp(running.daemon.port()));
  REQUIRE(fourth.Hello());
}

TEST_CASE("who does not read is not read from, and others stay fast") {
  Scratch scratch;
  Running running(scratch);
  running.MakeRoom("sale", 0);
  for (int i = 0; i < 100; ++i) running.Join(std::string(200, 'x') + std::to_string(i));
  RawClient glutton;
  REQUIRE(glutton.ConnectTcp(running.daemon.port()));
  REQUIRE(glutton.Hello());
  // Each answer is hundreds of times as long as its question: without limits this would be
  // gigabytes.
  std::string questions;
  for (uint32_t i = 0; i < 1000; ++i) {
    protocol::AppendFrame(60, FrameKind::kRequest, i, protocol::PageRequest{"sale", 0, 100},
                          &questions);
  }
  const timeval patience{0, 200'000};
  setsockopt(glutton.socket(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  bool full = false;
  for (int i = 0; i < 300 && !full; ++i) full = !glutton.Send(questions);
  REQUIRE(full);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) REQUIRE(running.client.Call<Operation::kPing>({}));
  REQUIRE(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  std::ifstream status("/proc/" + std::to_string(running.daemon.pid()) + "/status");
  std::string word;
  long resident_kib = 0;
  while (status >> word) {
    if (word == "VmRSS:") status >> resident_kib;
  }
  REQUIRE(resident_kib > 0);
  REQUIRE(resident_kib < 200 * 1024);
}

}  // namespace
}  // namespace anteroom
