// The key of the tokens changed on the real daemon, under load, and over kill -9: every token that
// was given stays what it is, and is made with the key that the file `secrets` has for it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/auth/secrets.h"
#include "server/auth/token_authority.h"
#include "tests/support/daemon_process.h"
#include "tests/support/raw_client.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

using protocol::Operation;

constexpr char kRoom[] = "sale";

class Sale {
 public:
  Sale() {
    std::string name = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    Start();
    protocol::RoomSettings settings;
    settings.capacity = protocol::Limit{};
    REQUIRE(client.Call<Operation::kRoomCreate>({kRoom, settings}));
  }
  ~Sale() {
    daemon.Stop(SIGKILL);
    std::filesystem::remove_all(path_);
  }

  void Start() {
    const bool started =
        daemon.Start({"--listen", "127.0.0.1:0", "--data", data(), "--segment-bytes", "64K"});
    INFO(daemon.said());
    REQUIRE(started);
    REQUIRE(client.ConnectTcp(daemon.port()));
    REQUIRE(client.Hello());
  }
  void Kill() { daemon.Stop(SIGKILL); }

  void Take(const std::string& visitor, const protocol::VisitorReply& reply) {
    REQUIRE(reply.token);
    tokens[visitor] = {*reply.admission, *reply.token};
  }
  void Enter(const std::string& visitor) {
    const auto reply = client.Call<Operation::kEnter>({kRoom, visitor, {}});
    REQUIRE(reply);
    Take(visitor, *reply);
  }
  protocol::TokenKeyReply Rotate() {
    const auto reply = client.Call<Operation::kRotateTokenKey>({});
    REQUIRE(reply);
    ranges[reply->first_admission] = reply->key_id;
    return *reply;
  }

  auth::Secrets Stored() const {
    std::ifstream file(data() + "/secrets", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    auto secrets = auth::ParseSecrets(text);
    REQUIRE(secrets.ok());
    return *std::move(secrets);
  }
  // Everybody's token is good, and is that of the key that was in use when they were let in.
  void CheckTokens() {
    const auth::TokenAuthority authority(Stored());
    for (const auto& one : tokens) {
      const std::string& visitor = one.first;
      CAPTURE(visitor);
      const auto& [admission, token] = one.second;
      REQUIRE(client.Call<Operation::kVerify>({kRoom, visitor, token.view()}));
      const uint32_t key_id = std::prev(ranges.upper_bound(admission))->second;
      REQUIRE(authority.Make(key_id, admission, kRoom, visitor) == token);
    }
  }
  std::string data() const { return path_ + "/data"; }

  DaemonProcess daemon;
  RawClient client;
  std::map<std::string, std::pair<uint64_t, protocol::Token>> tokens;
  std::map<uint64_t, uint32_t> ranges = {{0, kFirstTokenKey}};

 private:
  std::string path_;
};

TEST_CASE("token keys: rotated under load, and over kill -9 right after") {
  Sale sale;
  for (int i = 0; i < 10; ++i) sale.Enter("early-" + std::to_string(i));

  // One connection has hundreds of requests under way while another rotates.
  constexpr uint32_t kPeople = 3000;
  constexpr int kRotations = 8;
  RawClient crowd;
  REQUIRE(crowd.ConnectTcp(sale.daemon.port()));
  REQUIRE(crowd.Hello());
  std::thread sending([&] {
    for (uint32_t i = 0; i < kPeople; ++i) {
      if (!crowd.Ask<Operation::kEnter>(i + 1, {kRoom, "crowd-" + std::to_string(i), {}})) return;
      if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::vector<protocol::TokenKeyReply> rotated;
  rotated.reserve(kRotations);
  for (int i = 0; i < kRotations; ++i) rotated.push_back(sale.Rotate());
  for (uint32_t i = 0; i < kPeople; ++i) {
    const auto frame = crowd.Read();
    REQUIRE(frame);
    const auto reply = frame->As<protocol::VisitorReply>();
    REQUIRE(reply);
    sale.Take("crowd-" + std::to_string(frame->header.request_id - 1), *reply);
  }
  sending.join();
  for (int i = 0; i < 10; ++i) sale.Enter("late-" + std::to_string(i));
  REQUIRE(sale.tokens.size() == kPeople + 20);
  sale.CheckTokens();
  const protocol::TokenKeyReply last = sale.Rotate();
  CHECK(last.first_admission == kPeople + 21);

  sale.Kill();
  sale.Start();
  sale.CheckTokens();
  sale.Enter("after");
  sale.CheckTokens();
  std::set<uint32_t> ids;
  for (const auth::TokenKey& key : sale.Stored().token_keys) ids.insert(key.id);
  CHECK(ids.size() == kRotations + 2);
  CHECK(ids.contains(last.key_id));
}

TEST_CASE(
    "token keys: others of one connection are answered meanwhile, and all of them in the end") {
  Sale sale;
  constexpr uint32_t kEach = 12;
  for (uint32_t i = 0; i < kEach; ++i) {
    REQUIRE(sale.client.Ask<Operation::kRotateTokenKey>(i + 1000, {}));
    REQUIRE(sale.client.Ask<Operation::kEnter>(i + 2000, {kRoom, std::to_string(i), {}}));
  }
  sale.client.ShutdownWrite();
  uint32_t rotated = 1000;
  for (uint32_t left = 2 * kEach; left > 0; --left) {
    const auto frame = sale.client.Read();
    REQUIRE(frame);
    if (frame->header.request_id >= 2000) {
      const auto reply = frame->As<protocol::VisitorReply>();
      REQUIRE(reply);
      sale.Take(std::to_string(frame->header.request_id - 2000), *reply);
      continue;
    }
    REQUIRE(frame->header.request_id == rotated++);  // one after another
    const auto key = frame->As<protocol::TokenKeyReply>();
    REQUIRE(key);
    sale.ranges[key->first_admission] = key->key_id;
  }
  REQUIRE(sale.client.AtEnd());
  REQUIRE(sale.client.ConnectTcp(sale.daemon.port()));
  REQUIRE(sale.client.Hello());
  sale.CheckTokens();
  REQUIRE(sale.Stored().token_keys.size() == 1 + kEach);
}

TEST_CASE("token keys: killed at any moment of a rotation, it starts, and every token is good") {
  std::mt19937_64 random(TestSeed());
  Sale sale;
  uint32_t requests = 1000;
  for (int cycle = 0; cycle < 25; ++cycle) {
    CAPTURE(cycle);
    sale.Enter("before-" + std::to_string(cycle));
    const uint64_t next_admission = sale.tokens.size() + 1;
    REQUIRE(sale.client.Ask<Operation::kRotateTokenKey>(++requests, {}));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    sale.Kill();
    const auto answered = sale.client.Read();
    sale.Start();
    const std::vector<auth::TokenKey> keys = sale.Stored().token_keys;
    if (answered) {
      const auto reply = answered->As<protocol::TokenKeyReply>();
      REQUIRE(reply);
      REQUIRE(reply->first_admission == next_admission);
      REQUIRE(reply->key_id == keys.back().id);
      sale.ranges[next_admission] = reply->key_id;
    }
    sale.Enter("after-" + std::to_string(cycle));
    // Unless it was answered, the key may be in use, or in the file for nobody, or not there.
    const auto& [admission, token] = sale.tokens["after-" + std::to_string(cycle)];
    const auth::TokenAuthority authority({keys});
    if (!answered && token == authority.Make(keys.back().id, admission, kRoom,
                                             "after-" + std::to_string(cycle))) {
      sale.ranges[next_admission] = keys.back().id;
    }
    sale.CheckTokens();
  }
}

}  // namespace
}  // namespace anteroom
