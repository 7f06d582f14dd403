// Every limit that a flag sets, small, on the real daemon: that it binds, and that nobody who is
// there already loses anything by it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/limits.h"
#include "tests/support/daemon_process.h"
#include "tests/support/raw_client.h"

namespace anteroom {
namespace {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Reason;
using protocol::State;
using std::chrono::steady_clock;

using Arguments = std::vector<std::string>;

struct Folder {
  Folder() {
    path = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
    REQUIRE(mkdtemp(path.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

Arguments With(const Folder& folder, const Arguments& more) {
  Arguments arguments = {"--listen",        "127.0.0.1:0", "--data",       folder.path + "/data",
                         "--segment-bytes", "1M",          "--durability", "none"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A daemon with a room "sale" that admits nobody.
struct Running {
  explicit Running(const Arguments& more) : Running(own, more) {}
  Running(const Folder& folder, const Arguments& more) {
    const bool started = daemon.Start(With(folder, more));
    INFO(daemon.said());
    REQUIRE(started);
    Connect(&client);
    // There already after a restart.
    MakeRoom("sale", 0);
  }
  ~Running() { daemon.Stop(SIGKILL); }

  void Connect(RawClient* one) const {
    REQUIRE(one->ConnectTcp(daemon.port()));
    REQUIRE(one->Hello());
  }
  bool MakeRoom(std::string_view name, uint64_t capacity) {
    protocol::RoomSettings settings;
    settings.capacity = protocol::Limit{capacity};
    settings.remember_ttl = protocol::Duration{1000};
    return client.Call<Operation::kRoomCreate>({name, settings}).has_value();
  }
  bool SetCapacity(uint64_t capacity) {
    protocol::RoomSettings settings;
    settings.capacity = protocol::Limit{capacity};
    return client.Call<Operation::kRoomSet>({"sale", settings, std::nullopt}).has_value();
  }
  bool Join(std::string_view visitor) {
    return client.Call<Operation::kJoin>({"sale", visitor, std::nullopt}).has_value();
  }
  uint64_t MemoryBytes() { return *client.Call<Operation::kHealth>({})->memory_bytes; }

  Folder own;
  DaemonProcess daemon;
  RawClient client;
};

bool Eventually(const std::function<bool()>& condition) {
  const auto limit = steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string FrameOf(Operation operation, const auto& message, uint32_t id) {
  std::string frame;
  protocol::AppendFrame(static_cast<uint8_t>(operation), FrameKind::kRequest, id, message, &frame);
  return frame;
}

// People with ids of 200 bytes, so that a page of them is long.
void Fill(Running* running, int people) {
  std::vector<std::string> ids;
  for (int i = 0; i < people; ++i) {
    ids.push_back(std::to_string(i));
    ids.back().resize(200, 'x');
  }
  protocol::JoinManyRequest joins;
  for (const std::string& id : ids) joins.items.push_back({"sale", id, std::nullopt});
  REQUIRE(running->client.Call<Operation::kJoinMany>(joins));
}

TEST_CASE("a daemon starts with every limit at its smallest, and with every one at its largest") {
  for (const auto extreme : {&LimitFlag::smallest, &LimitFlag::largest}) {
    Folder folder;
    Arguments more;
    for (const LimitFlag& limit : kLimitFlags) {
      more.push_back("--" + std::string(limit.name));
      more.push_back(std::to_string(limit.*extreme) + (limit.unit == LimitUnit::kMs ? "ms" : ""));
    }
    Running running(folder, more);
    CHECK(running.Join("ann"));
    CHECK(running.daemon.Stop(SIGTERM) == 0);
  }
}

TEST_CASE("a value out of its range is refused with what would be right") {
  for (const LimitFlag& limit : kLimitFlags) {
    const std::string name = "--" + std::string(limit.name);
    const std::string unit = limit.unit == LimitUnit::kMs ? "ms" : "";
    for (const std::string& value :
         {std::to_string(limit.smallest - 1) + unit, std::to_string(limit.largest + 1) + unit,
          std::string("much")}) {
      DaemonProcess daemon;
      REQUIRE_FALSE(daemon.Start({name, value}));
      CHECK(daemon.Wait() == 2);
      INFO(daemon.said());
      const std::string words = absl::StrCat(name, " ", value, ": it takes a ");
      CHECK(daemon.said().find(words) != std::string::npos);
    }
  }
}

TEST_CASE("--max-hello-bytes: a longer frame of a stranger is refused") {
  const auto answer_to = [](const Arguments& flags, size_t bytes) {
    const Running running(flags);
    RawClient stranger;
    REQUIRE(stranger.ConnectTcp(running.daemon.port()));
    std::string frame = FrameOf(Operation::kHello, protocol::HelloRequest(), 0);
    frame.resize(protocol::kHeaderBytes);
    const auto length = static_cast<uint32_t>(bytes);
    for (size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>(length >> 8 * i);
    REQUIRE(stranger.Send(frame + std::string(bytes, 'x')));
    return stranger.Read()->As<protocol::Refusal>()->error;
  };
  CHECK(answer_to({"--max-hello-bytes", "300"}, 301) == ErrorCode::kTooLarge);
  CHECK(answer_to({"--max-hello-bytes", "300"}, 300) == ErrorCode::kInvalid);
  CHECK(answer_to({}, 513) == ErrorCode::kTooLarge);
  CHECK(answer_to({"--max-hello-bytes", "20K"}, 20 << 10) == ErrorCode::kInvalid);
  CHECK(answer_to({"--max-hello-bytes", "20K"}, (20 << 10) + 1) == ErrorCode::kTooLarge);
}

// The defaults are 10 s and 30 s, and a RawClient waits for no longer than 10 s.
TEST_CASE("--max-hello-time, --max-frame-time: who is too slow is closed") {
  Running running({"--max-hello-time", "100ms", "--max-frame-time", "200ms"});
  RawClient silent;
  REQUIRE(silent.ConnectTcp(running.daemon.port()));
  RawClient slow;
  running.Connect(&slow);
  REQUIRE(slow.Send(FrameOf(Operation::kPing, protocol::Empty(), 1).substr(0, 5)));
  CHECK(silent.AtEnd());
  CHECK(slow.AtEnd());
  CHECK(running.client.Call<Operation::kPing>({}));
}

TEST_CASE("--max-hello-time: nobody is closed sooner, whenever they come") {
  constexpr std::chrono::milliseconds kLimit(500);
  Running running({"--max-hello-time", "500ms"});
  // The daemon looks once a second: these come all over one.
  constexpr size_t kStrangers = 10;
  std::vector<steady_clock::duration> stayed(kStrangers);
  std::vector<std::thread> strangers;
  strangers.reserve(kStrangers);
  for (size_t i = 0; i < kStrangers; ++i) {
    strangers.emplace_back([&, i] {
      RawClient silent;
      const auto came = steady_clock::now();
      if (silent.ConnectTcp(running.daemon.port()) && silent.AtEnd()) {
        stayed[i] = steady_clock::now() - came;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (std::thread& stranger : strangers) stranger.join();
  for (const auto& time : stayed) CHECK(time >= kLimit);
}

// What a connection has sent, or was answered, while it reads nothing of it, as the daemon counts
// its memory.
uint64_t BytesOfAGlutton(const Arguments& flags, const std::string& questions, uint64_t enough) {
  Running running(flags);
  Fill(&running, 1000);
  const uint64_t before = running.MemoryBytes();
  RawClient glutton;
  running.Connect(&glutton);
  std::thread sender([&] { glutton.Send(questions); });
  uint64_t most = 0;
  const auto limit = steady_clock::now() + std::chrono::seconds(enough == 0 ? 1 : 20);
  do {
    most = std::max(most, running.MemoryBytes() - before);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while ((enough == 0 || most < enough) && steady_clock::now() < limit);
  shutdown(glutton.socket(), SHUT_RDWR);
  sender.join();
  return most;
}

TEST_CASE(
    "--max-unread-bytes, --max-input-bytes: who does not read is not answered, and not read") {
  constexpr uint64_t kMiB = 1 << 20;
  // 200 pages of some 220 KiB, and then 10 MiB of small questions.
  std::string questions;
  for (uint32_t i = 0; i < 200; ++i) {
    questions += FrameOf(Operation::kPeek, protocol::PageRequest{"sale", 0, 1000}, i);
  }
  for (uint32_t i = 200; questions.size() < 10 * kMiB; ++i) {
    questions += FrameOf(Operation::kPing, protocol::Empty(), i);
  }
  // Each is answered as far as one chunk goes.
  const uint64_t chunk = limits::kRequestsPerChunk * 256 * 1024;
  CHECK(BytesOfAGlutton({"--max-unread-bytes", "1K", "--max-input-bytes", "1K"}, questions, 0) <
        chunk);
  CHECK(BytesOfAGlutton({"--max-unread-bytes", "30M", "--max-input-bytes", "1K"}, questions,
                        2 * chunk) >= 2 * chunk);
  // Nothing is taken any more when all that is asked is small, and there is room for it.
  const std::string small = questions.substr(questions.size() / 2 / 12 * 12);
  const auto one_page = FrameOf(Operation::kPeek, protocol::PageRequest{"sale", 0, 1000}, 1);
  std::string pages;
  for (int i = 0; i < 40; ++i) pages += one_page;
  const auto input_of = [&](const std::string& most) {
    return BytesOfAGlutton({"--max-unread-bytes", "1K", "--max-input-bytes", most}, pages + small,
                           0);
  };
  const uint64_t with_little = input_of("1K");
  const uint64_t with_much = input_of("1M");
  CHECK(with_much >= with_little + kMiB / 2);
}

TEST_CASE("--max-output-bytes: who is owed more is closed") {
  const auto answers = [](const Arguments& flags) {
    Running running(flags);
    Fill(&running, 1000);
    std::string questions;
    for (uint32_t i = 0; i < 32; ++i) {
      questions += FrameOf(Operation::kPeek, protocol::PageRequest{"sale", 0, 1000}, i);
    }
    // All of them are there when the daemon looks.
    running.daemon.Signal(SIGSTOP);
    REQUIRE(running.client.Send(questions));
    running.daemon.Signal(SIGCONT);
    int count = 0;
    while (count < 32 && running.client.Read()) ++count;
    return count;
  };
  // In one chunk, whatever a page counts for.
  Arguments flags = {"--max-connection-requests", "1000000"};
  CHECK(answers(flags) == 32);
  flags.insert(flags.end(), {"--max-output-bytes", "2M"});
  CHECK(answers(flags) < 32);
}

TEST_CASE("--max-connection-requests: so many of one connection, then others have their turn") {
  const auto first_of_the_second = [](const Arguments& flags) {
    Running running(flags);
    RawClient second;
    running.Connect(&second);
    running.daemon.Signal(SIGSTOP);
    const auto joins = [](char who) {
      std::string frames;
      for (uint32_t i = 0; i < 100; ++i) {
        const std::string id = who + std::to_string(i);
        frames += FrameOf(Operation::kJoin, protocol::JoinRequest{"sale", id, std::nullopt}, i);
      }
      return frames;
    };
    REQUIRE(running.client.Send(joins('a')));
    REQUIRE(second.Send(joins('b')));
    running.daemon.Signal(SIGCONT);
    for (int i = 0; i < 100; ++i) {
      REQUIRE(running.client.Read());
      REQUIRE(second.Read());
    }
    const auto line = running.client.Call<Operation::kPeek>({"sale", 0, 200});
    REQUIRE(line->items.size() == 200);
    const char first = line->items[0].visitor[0];
    return std::find_if(line->items.begin(), line->items.end(),
                        [&](const auto& item) { return item.visitor[0] != first; }) -
           line->items.begin();
  };
  CHECK(first_of_the_second({"--max-connection-requests", "1"}) == 1);
  CHECK(first_of_the_second({"--max-connection-requests", "10"}) == 10);
  CHECK(first_of_the_second({}) == 100);
}

TEST_CASE("--max-connection-watches, --max-watches: the next watch is refused") {
  Running running({"--max-connection-watches", "2", "--max-watches", "3"});
  const auto reason = [](RawClient* client, std::vector<std::string_view> visitors) {
    REQUIRE_FALSE(client->Call<Operation::kWatch>({"sale", std::move(visitors)}));
    return client->last_refusal.reason;
  };
  REQUIRE(running.Join("a"));
  REQUIRE(running.Join("b"));
  CHECK(reason(&running.client, {"a", "b", "c"}) == Reason::kTooManyWatches);
  CHECK(running.client.last_refusal.message.find(" 2 ") != std::string::npos);
  REQUIRE(running.client.Ask<Operation::kWatch>(1000, {"sale", {"a", "b"}}));
  REQUIRE(running.client.Read()->header.kind == FrameKind::kReply);
  RawClient second;
  running.Connect(&second);
  CHECK(reason(&second, {"a", "b"}) == Reason::kTooManyWatches);
  REQUIRE(second.Ask<Operation::kWatch>(1000, {"sale", {"a"}}));
  REQUIRE(second.Read()->header.kind == FrameKind::kReply);
}

TEST_CASE("--max-visitors, --max-rooms: no more than these, and fewer than there are do no harm") {
  Folder folder;
  {
    Running running(folder, {"--max-visitors", "3", "--max-rooms", "2"});
    CHECK(running.Join("a"));
    CHECK(running.Join("b"));
    CHECK(running.Join("c"));
    CHECK_FALSE(running.Join("d"));
    CHECK(running.client.last_refusal.reason == Reason::kTooManyVisitors);
    CHECK(running.Join("a"));
    CHECK(running.MakeRoom("second", 1));
    CHECK_FALSE(running.MakeRoom("third", 1));
    CHECK(running.client.last_refusal.reason == Reason::kTooManyRooms);
    CHECK(running.daemon.Stop(SIGTERM) == 0);
  }
  Running running(folder, {"--max-visitors", "1", "--max-rooms", "1"});
  CHECK(running.client.Call<Operation::kStatus>({"sale", "c"})->ahead == 2);
  CHECK(running.client.Call<Operation::kRoomShow>({"second"}));
  CHECK(running.SetCapacity(1));
  CHECK(running.client.Call<Operation::kStatus>({"sale", "a"})->state == State::kAdmitted);
  CHECK_FALSE(running.Join("d"));
}

// As many as are taken, the last ones one by one: a batch is itself of some memory. The refusal.
protocol::Refusal JoinUntilRefused(Running* running, uint64_t* joined) {
  for (uint64_t next = *joined;; next += 1000) {
    // Far more than there is memory for.
    REQUIRE(*joined < 200'000);
    std::vector<std::string> ids;
    ids.reserve(1000);
    for (uint64_t i = 0; i < 1000; ++i) ids.push_back("v" + std::to_string(next + i));
    protocol::JoinManyRequest joins;
    joins.items.reserve(1000);
    for (const std::string& id : ids) joins.items.push_back({"sale", id, std::nullopt});
    const auto results = running->client.Call<Operation::kJoinMany>(joins);
    REQUIRE(results);
    const auto taken = [](const protocol::VisitorResult& result) {
      return result.reply.has_value();
    };
    *joined +=
        static_cast<uint64_t>(std::count_if(results->items.begin(), results->items.end(), taken));
    if (taken(results->items.back())) continue;
    while (running->Join("one by one " + std::to_string(*joined))) ++*joined;
    return running->client.last_refusal;
  }
}

TEST_CASE("--max-memory: no newcomers, everybody already in goes on, and then newcomers again") {
  Folder folder;
  const Arguments flags = {"--max-memory", "2M", "--virtual-clock"};
  uint64_t joined = 0;
  {
    Running running(folder, flags);
    CHECK(running.client.Call<Operation::kHealth>({})->status == "ok");
    const protocol::Refusal refusal = JoinUntilRefused(&running, &joined);
    CHECK(refusal.error == ErrorCode::kUnavailable);
    CHECK(refusal.reason == Reason::kMemoryFull);
    CHECK(refusal.retry_after_ms);
    CHECK(joined > 10'000);
    CHECK(joined < 40'000);
    const auto health = running.client.Call<Operation::kHealth>({});
    CHECK(health->status == "memory_full");
    CHECK(*health->memory_bytes >= 2 << 20);
    CHECK(*health->memory_max_bytes == 2 << 20);
    CHECK_FALSE(running.MakeRoom("second", 1));
    CHECK(running.client.last_refusal.reason == Reason::kMemoryFull);
    // It says so when it next looks, which it does every second.
    CHECK(Eventually([&] {
      return running.client.Call<Operation::kHealth>({})->uptime_ms > health->uptime_ms + 2000;
    }));

    // Who is there is let in, claims, is watched and finishes.
    CHECK(running.Join("v0"));
    CHECK(running.SetCapacity(1));
    const auto first = running.client.Call<Operation::kStatus>({"sale", "v0"});
    REQUIRE(first->state == State::kAdmitted);
    const std::string token(first->token->view());
    CHECK(running.client.Call<Operation::kClaim>({"sale", "v0", token}));
    RawClient watcher;
    running.Connect(&watcher);
    REQUIRE(watcher.Ask<Operation::kWatch>(7, {"sale", {"v1"}}));
    CHECK(watcher.Read()->header.kind == FrameKind::kReply);
    CHECK(watcher.Read()->header.kind == FrameKind::kPush);
    CHECK(running.client.Call<Operation::kFinish>(
        {"sale", "v0", token, protocol::Outcome::kCompleted}));
    CHECK(watcher.Read()->header.kind == FrameKind::kPush);
    CHECK(running.client.Call<Operation::kStatus>({"sale", "v1"})->state == State::kAdmitted);
    CHECK(running.client.Call<Operation::kLeave>({"sale", "v1"}));
    CHECK_FALSE(running.Join("new"));
    CHECK(running.client.last_refusal.reason == Reason::kMemoryFull);

    // Thousands leave, and newcomers are taken when they are forgotten.
    for (int i = 2; i < 2000; ++i) {
      const std::string id = "v" + std::to_string(i);
      REQUIRE(running.client.Call<Operation::kLeave>({"sale", id}));
    }
    CHECK_FALSE(running.Join("new"));
    CHECK(running.client.Call<Operation::kClockAdvance>({5000}));
    CHECK(running.Join("new"));
    CHECK(running.client.Call<Operation::kHealth>({})->status == "ok");
    JoinUntilRefused(&running, &joined);
    CHECK(running.daemon.Stop(SIGTERM) == 0);
    CHECK(running.daemon.said().find("--max-memory 2M: no newcomers") != std::string::npos);
  }
  // A directory that holds more than the limit opens, and nobody is missing.
  Running running(folder, {"--max-memory", "1M", "--virtual-clock"});
  CHECK(running.client.Call<Operation::kHealth>({})->status == "memory_full");
  CHECK(running.client.Call<Operation::kStatus>({"sale", "v2500"}));
  CHECK(running.Join("new"));
  CHECK_FALSE(running.Join("newer"));
}

TEST_CASE("--max-memory: what connections hold counts") {
  constexpr int kCrowd = 500;
  Running running({"--max-memory", "1M"});
  const uint64_t before = running.MemoryBytes();
  std::vector<RawClient> crowd(kCrowd);
  for (RawClient& one : crowd) running.Connect(&one);
  const uint64_t each = (running.MemoryBytes() - before) / kCrowd;
  CHECK(each >= 300);
  CHECK(each <= 2048);
  for (RawClient& one : crowd) one.Close();
  CHECK(Eventually([&] { return running.MemoryBytes() <= before + 4096; }));
}

}  // namespace
}  // namespace anteroom
