// As many connections as one process can have, idle: what each costs the real daemon, and that it
// comes back when they are gone. The connections come from several addresses, for one has
// fewer ports than are wanted.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/limits.h"
#include "server/auth/credential_book.h"
#include "tests/support/daemon_process.h"
#include "tests/support/raw_client.h"

namespace anteroom {
namespace {

using protocol::Operation;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr size_t kConnectionsWanted = 18'000;
// Of descriptors, for all that is no connection, here and in the daemon.
constexpr size_t kDescriptorsReserved = 500;
// Of the log's files that it opens and closes by itself meanwhile.
constexpr size_t kLogDescriptorsMax = 4;
constexpr size_t kConnectionsPerAddress = 6'000;
constexpr long kBytesPerConnectionMax = 1024;

// As many as the limit of descriptors, raised as far as may be, allows.
size_t ConnectionsPossible() {
  rlimit descriptors{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  const size_t possible = std::min<size_t>(kConnectionsWanted + kDescriptorsReserved,
                                           static_cast<size_t>(descriptors.rlim_cur)) -
                          kDescriptorsReserved;
  if (possible < kConnectionsWanted) {
    std::printf("only %zu connections and not %zu: a process may have %zu descriptors here\n",
                possible, kConnectionsWanted, static_cast<size_t>(descriptors.rlim_cur));
  }
  return possible;
}

// As the longest name that there may be: a connection may keep it.
const std::string kName(protocol::kCredentialNameBytesMax, 'n');

struct Daemon {
  explicit Daemon(bool with_credentials = false) {
    folder = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    std::vector<std::string> arguments = {"--listen",       "127.0.0.1:0",     "--data",
                                          folder + "/data", "--segment-bytes", "1M"};
    if (with_credentials) {
      secret = auth::NewSecretText();
      const std::string path = folder + "/credentials";
      std::ofstream(path) << kName << " reader " << secret << "\n";
      REQUIRE(chmod(path.c_str(), 0600) == 0);
      arguments.insert(arguments.end(), {"--credentials", path});
    }
    REQUIRE(process.Start(arguments));
    REQUIRE(Greet(&client));
  }
  // Connects, from the address `from` when one is given, and says hello, with the proof where one
  // is asked for.
  bool Greet(RawClient* one, const std::string& from = {}) const {
    if (!one->ConnectTcp(process.port(), from)) return false;
    return secret.empty() ? one->Hello() : one->Authenticate(kName, secret);
  }
  ~Daemon() {
    process.Stop(SIGKILL);
    std::filesystem::remove_all(folder);
  }
  std::string proc() const { return "/proc/" + std::to_string(process.pid()); }
  size_t Descriptors() const {
    const std::filesystem::directory_iterator all(proc() + "/fd");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }
  // Its own memory in the machine's; pages of its files, such as its code, are not counted.
  long MemoryBytes() const {
    std::ifstream status(proc() + "/status");
    std::string word;
    long kib = 0;
    while (status >> word) {
      if (word == "RssAnon:") status >> kib;
    }
    return kib * 1024;
  }
  uint64_t Connections() { return client.Call<Operation::kHealth>({})->connections; }
  bool Eventually(auto condition) {
    const auto limit = steady_clock::now() + seconds(30);
    while (!condition()) {
      if (steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  std::string folder;
  std::string secret;  // empty: no credentials are in use
  DaemonProcess process;
  RawClient client;
};

using Crowd = std::vector<std::unique_ptr<RawClient>>;

// Each has said hello and asked something; `questions` at once, to have larger buffers used.
Crowd Gather(Daemon* daemon, size_t count, uint32_t questions) {
  Crowd crowd;
  crowd.reserve(count);
  std::string asked;
  for (uint32_t i = 1; i <= questions; ++i) {
    protocol::AppendFrame(static_cast<uint8_t>(Operation::kHealth), protocol::FrameKind::kRequest,
                          i, protocol::RequestOf<Operation::kHealth>::Message{}, &asked);
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string address = "127.0.0." + std::to_string(2 + i / kConnectionsPerAddress);
    auto client = std::make_unique<RawClient>();
    REQUIRE(daemon->Greet(client.get(), address));
    REQUIRE(client->Send(asked));
    for (uint32_t answer = 0; answer < questions; ++answer) REQUIRE(client->Read());
    crowd.push_back(std::move(client));
  }
  return crowd;
}

TEST_CASE("an idle connection costs at most a KiB, and when it is gone nothing") {
  const size_t count = ConnectionsPossible();
  Daemon daemon;
  const size_t descriptors_before = daemon.Descriptors();
  const long bytes_before = daemon.MemoryBytes();
  REQUIRE(bytes_before > 0);
  long taken_bytes = 0;
  {
    const Crowd crowd = Gather(&daemon, count, 1);
    REQUIRE(daemon.Connections() == count + 1);
    taken_bytes = daemon.MemoryBytes() - bytes_before;
    const long bytes_each = taken_bytes / static_cast<long>(std::max<size_t>(count, 1));
    std::printf("%zu idle connections: %ld bytes each\n", count, bytes_each);
    CHECK(bytes_each <= kBytesPerConnectionMax);
    // Nor do so many idle ones make it slow.
    const auto start = steady_clock::now();
    for (int i = 0; i < 100; ++i) REQUIRE(daemon.client.Call<Operation::kPing>({}));
    CHECK(steady_clock::now() - start < seconds(5));
  }
  REQUIRE(daemon.Eventually([&] { return daemon.Connections() == 1; }));
  const size_t descriptors_max = descriptors_before + kLogDescriptorsMax;
  REQUIRE(daemon.Eventually([&] { return daemon.Descriptors() <= descriptors_max; }));
  const auto kept_bytes = [&] { return daemon.MemoryBytes() - bytes_before; };
  const bool is_back = daemon.Eventually([&] { return kept_bytes() * 20 <= taken_bytes; });
  std::printf("memory before %ld KiB, after %ld KiB\n", bytes_before / 1024,
              daemon.MemoryBytes() / 1024);
  CHECK(is_back);
}

TEST_CASE("nor does one more than that who has proven credentials") {
  const size_t count = std::min<size_t>(ConnectionsPossible(), 5'000);
  Daemon daemon(true);
  const long bytes_before = daemon.MemoryBytes();
  const Crowd crowd = Gather(&daemon, count, 1);
  const long bytes_each = (daemon.MemoryBytes() - bytes_before) / static_cast<long>(count);
  std::printf("%zu idle connections with credentials: %ld bytes each\n", count, bytes_each);
  CHECK(bytes_each <= kBytesPerConnectionMax);
}

TEST_CASE("who was busy and is idle costs no more than who always was") {
  const size_t count = std::min<size_t>(ConnectionsPossible(), 2'000);
  Daemon daemon;
  const long bytes_before = daemon.MemoryBytes();
  const Crowd crowd = Gather(&daemon, count, 500);
  const auto bytes_each = [&] {
    return (daemon.MemoryBytes() - bytes_before) / static_cast<long>(count);
  };
  std::printf("just now busy: %ld bytes each\n", bytes_each());
  const bool given_back =
      daemon.Eventually([&] { return bytes_each() <= 2 * kBytesPerConnectionMax; });
  std::printf("idle again: %ld bytes each\n", bytes_each());
  CHECK(given_back);
}

}  // namespace
}  // namespace anteroom
