// Credentials on the real daemon: each role and each operation, strangers, and where it listens.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/failure.h"
#include "server/auth/credential_book.h"
#include "tests/support/daemon_process.h"
#include "tests/support/raw_client.h"

namespace anteroom {
namespace {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Refusal;
using protocol::Role;

bool Writes(const std::string& path, const std::string& text, mode_t mode = 0600) {
  std::ofstream(path) << text;
  return chmod(path.c_str(), mode) == 0;
}

// A daemon with an operator, an app and a reader, on loopback and a Unix socket.
struct Guarded {
  Guarded() {
    std::string name = (std::filesystem::temp_directory_path() / "anteroom.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
    std::ofstream file(path + "/credentials");
    for (const auto& [who, role] : kRoles) {
      secrets[who] = auth::NewSecretText();
      file << who << " " << NameOf(role) << " " << secrets[who] << "\n";
    }
    file.close();
    REQUIRE(chmod((path + "/credentials").c_str(), 0600) == 0);
    const std::vector<std::string> arguments = {
        "--listen",           "127.0.0.1:0",     "--unix", path + "/socket",  "--data",
        path + "/data",       "--segment-bytes", "1M",     "--virtual-clock", "--credentials",
        path + "/credentials"};
    const bool started = daemon.Start(arguments);
    INFO(daemon.said());
    REQUIRE(started);
  }
  ~Guarded() {
    daemon.Stop(SIGKILL);
    std::filesystem::remove_all(path);
  }
  void Connect(RawClient* client) const { REQUIRE(client->ConnectTcp(daemon.port())); }
  void Connect(RawClient* client, const std::string& who) const {
    Connect(client);
    REQUIRE(client->Authenticate(who, secrets.at(who)));
  }
  client::ClientOptions Options(const std::string& who) const {
    client::ClientOptions options;
    options.addresses = {"unix:" + path + "/socket"};
    options.credential = {.name = who, .secret = *protocol::Secret::FromText(secrets.at(who))};
    return options;
  }

  static const std::map<std::string, Role> kRoles;
  std::string path;
  std::map<std::string, std::string> secrets;
  DaemonProcess daemon;
};

const std::map<std::string, Role> Guarded::kRoles = {
    {"anna", Role::kOperator}, {"shop-1", Role::kApp}, {"grafana", Role::kReader}};

// The least role of each operation as a person reads it off the issue, not off the table.
Role LeastByHand(Operation operation) {
  switch (operation) {
    case Operation::kHello:
    case Operation::kPing:
    case Operation::kAuthenticate:
      return Role::kAnyone;
    case Operation::kHealth:
    case Operation::kStats:
    case Operation::kStatus:
    case Operation::kStatusMany:
    case Operation::kVerify:
    case Operation::kPeek:
    case Operation::kInside:
    case Operation::kRoomShow:
    case Operation::kRoomList:
    case Operation::kWatch:
    case Operation::kWatchRoom:
    case Operation::kUnwatch:
      return Role::kReader;
    case Operation::kJoin:
    case Operation::kJoinMany:
    case Operation::kEnter:
    case Operation::kLeave:
    case Operation::kClaim:
    case Operation::kTouch:
    case Operation::kFinish:
      return Role::kApp;
    default:
      return Role::kOperator;
  }
}

// Asks for the operation as it is by default; whether it was refused as unauthorized.
template <Operation kOperation>
bool Unauthorized(RawClient* client, uint32_t id,
                  const typename protocol::RequestOf<kOperation>::Message& message) {
  REQUIRE(client->Ask<kOperation>(id, message));
  const auto frame = client->Read();
  REQUIRE(frame);
  REQUIRE(frame->header.request_id == id);
  const auto refusal = frame->As<Refusal>();
  return frame->header.kind == FrameKind::kRefusal && refusal &&
         refusal->error == ErrorCode::kUnauthorized;
}

TEST_CASE("credentials: each role may ask for what its row says, and for nothing else") {
  const Guarded guarded;
  for (const auto& one : Guarded::kRoles) {
    const std::string who = one.first;
    const Role role = one.second;
    CAPTURE(who);
    RawClient client;
    guarded.Connect(&client, who);
    uint32_t id = 100;
    const auto check = [&]<Operation kOperation>() {
      if constexpr (kOperation != Operation::kHello && kOperation != Operation::kAuthenticate) {
        CAPTURE(protocol::FindOperation(static_cast<uint8_t>(kOperation))->name);
        typename protocol::RequestOf<kOperation>::Message message;
        if constexpr (kOperation == Operation::kFinish) message.token = "token";
        CHECK(Unauthorized<kOperation>(&client, ++id, message) == (role < LeastByHand(kOperation)));
      }
    };
#define ANTEROOM_X(number, Name, ...) check.template operator()<Operation::k##Name>();
    ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
    CHECK(Unauthorized<Operation::kFinish>(&client, ++id, {}) == (role < Role::kOperator));
    protocol::JoinManyRequest joins;
    joins.items.resize(3);
    CHECK(Unauthorized<Operation::kJoinMany>(&client, ++id, joins) == (role < Role::kApp));
  }
}

TEST_CASE("credentials: who has proven nothing gets nothing, over loopback and the Unix socket") {
  const Guarded guarded;
  for (const bool over_unix : {false, true}) {
    CAPTURE(over_unix);
    RawClient client;
    if (over_unix) {
      REQUIRE(client.ConnectUnix(guarded.path + "/socket"));
    } else {
      guarded.Connect(&client);
    }
    REQUIRE(client.Hello());
    REQUIRE(client.Call<Operation::kPing>({}));
    REQUIRE_FALSE(client.Call<Operation::kHealth>({}));
    CHECK(client.last_refusal.error == ErrorCode::kUnauthorized);
    REQUIRE_FALSE(client.Call<Operation::kRoomList>({"", 10}));
    CHECK(client.last_refusal.error == ErrorCode::kUnauthorized);
    CHECK(client.last_refusal.message.find("credentials") != std::string::npos);
    REQUIRE(client.Call<Operation::kPing>({}));
  }
}

// All that a client sees from HELLO to the end, but for the challenge.
std::string Seen(const Guarded& guarded, const std::string& name) {
  RawClient client;
  guarded.Connect(&client);
  protocol::HelloRequest hello;
  hello.key_id = name;
  REQUIRE(client.Ask<Operation::kHello>(1, hello));
  std::string seen;
  for (uint32_t id = 2; const auto frame = client.Read(); ++id) {
    std::string payload = frame->payload;
    if (const auto reply = frame->As<protocol::HelloReply>();
        reply && reply->challenge && frame->header.operation == 1) {
      CHECK(reply->challenge->size() == protocol::kNonceBytes);
      payload.replace(payload.find(*reply->challenge), protocol::kNonceBytes, "challenge");
    }
    seen += std::to_string(frame->header.operation) + "," +
            std::to_string(static_cast<int>(frame->header.kind)) + "," +
            std::to_string(frame->header.request_id) + "," + payload + "\n";
    const std::string_view zeros("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                                 32);
    client.Ask<Operation::kAuthenticate>(id, {zeros.substr(0, 16), zeros});
  }
  return seen;
}

TEST_CASE("credentials: a name that nobody has looks like a wrong proof, byte for byte") {
  const Guarded guarded;
  const std::string known = Seen(guarded, "shop-1");
  INFO(known);
  CHECK(std::count(known.begin(), known.end(), '\n') >= 4);
  for (const std::string name : {"nobody", "shop-2", "Shop", ""}) {
    CAPTURE(name);
    CHECK(Seen(guarded, name) == known);
  }
  // The third wrong proof was the end of a connection, and of nothing else.
  RawClient client;
  guarded.Connect(&client, "shop-1");
  CHECK(client.Call<Operation::kHealth>({}));
}

TEST_CASE("credentials: every connection gets a challenge of its own") {
  const Guarded guarded;
  RawClient first;
  guarded.Connect(&first);
  const auto challenge = first.HelloAs("shop-1");
  RawClient second;
  guarded.Connect(&second);
  REQUIRE(second.HelloAs("shop-1") != challenge);
  // A proof for the one is none for the other.
  CHECK_FALSE(second.Prove("shop-1", guarded.secrets.at("shop-1"), *challenge));
  CHECK(second.last_refusal.error == ErrorCode::kUnauthorized);
  CHECK(first.Prove("shop-1", guarded.secrets.at("shop-1"), *challenge));
}

TEST_CASE("credentials: the client library proves its own, and is told what its role may not do") {
  Guarded guarded;
  client::Client anna(guarded.Options("anna"));
  client::Client shop(guarded.Options("shop-1"));
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{2};
  REQUIRE(anna.RoomCreate("sale", settings).ok());
  const auto refused = shop.RoomCreate("other", settings);
  REQUIRE_FALSE(refused.ok());
  const auto failure = client::FailureOf(refused.status());
  CHECK(failure->cause == client::FailureCause::kRefused);
  CHECK(failure->refusal.error == ErrorCode::kUnauthorized);
  CHECK(failure->refusal.message == "room_create takes the role operator; shop-1 is app");
  REQUIRE(shop.Join("sale", "ann").ok());

  // A secret that was the right one for another name.
  client::ClientOptions wrong = guarded.Options("shop-1");
  wrong.credential->name = "anna";
  client::Client thief(wrong);
  CHECK(client::FailureOf(thief.Ping().status())->cause == client::FailureCause::kUnauthorized);
}

TEST_CASE("credentials: with them it listens beyond loopback, without them it does not") {
  DaemonProcess open;
  REQUIRE_FALSE(open.Start({"--listen", "192.0.2.1:0", "--data", "unused"}));
  CHECK(open.Wait() == 2);
  CHECK(open.said().find("--credentials") != std::string::npos);

  // An address kept for documentation (RFC 5737), so that nobody is let in by the test: the option
  // is right now, and it is the system that has no such address.
  const Guarded guarded;
  CHECK(guarded.daemon.said().find("with credentials") != std::string::npos);
  DaemonProcess beyond;
  REQUIRE_FALSE(beyond.Start({"--listen", "192.0.2.1:0", "--data", guarded.path + "/beyond",
                              "--credentials", guarded.path + "/credentials"}));
  CHECK(beyond.Wait() == 1);
  INFO(beyond.said());
  CHECK(beyond.said().find("192.0.2.1") != std::string::npos);
  CHECK(beyond.said().find("loopback") == std::string::npos);
}

TEST_CASE("credentials: a file that is wrong is refused at the start, with the line") {
  const Guarded guarded;
  const std::string file = guarded.path + "/wrong";
  const auto refused = [&](const std::string& text, mode_t mode, const std::string& words) {
    REQUIRE(Writes(file, text, mode));
    DaemonProcess daemon;
    REQUIRE_FALSE(daemon.Start(
        {"--listen", "127.0.0.1:0", "--data", guarded.path + "/other", "--credentials", file}));
    CHECK(daemon.Wait() == 1);
    INFO(daemon.said());
    CHECK(daemon.said().find(words) != std::string::npos);
    CHECK(daemon.said().find(guarded.secrets.at("anna")) == std::string::npos);
    CHECK_FALSE(std::filesystem::exists(guarded.path + "/other"));
  };
  const std::string secret = guarded.secrets.at("anna");
  refused("a app " + secret + "\nb boss " + secret + "\n", 0600, "line 2:");
  refused("a app " + secret + "\n" + secret + "\n", 0600, "line 2:");
  refused("a app " + secret + "\n", 0640, "chmod 600");
  refused("# nobody\n", 0600, "no line NAME ROLE SECRET");
}

TEST_CASE("credentials: on SIGHUP the file is read anew; who is connected stays") {
  Guarded guarded;
  const std::string file = guarded.path + "/credentials";
  const std::string secret = guarded.secrets.at("anna");
  RawClient anna;
  guarded.Connect(&anna, "anna");
  const auto proves = [&](const std::string& name) {
    RawClient client;
    guarded.Connect(&client);
    return client.Authenticate(name, secret);
  };
  REQUIRE(Writes(file, "boris reader " + secret + "\n"));
  guarded.daemon.Signal(SIGHUP);
  REQUIRE(guarded.daemon.AwaitWords("credentials are read anew, 1 of them"));
  CHECK(proves("boris"));
  CHECK_FALSE(proves("anna"));
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{1};
  CHECK(anna.Call<Operation::kRoomCreate>({"sale", settings}));
  CHECK(anna.Call<Operation::kRoomDelete>({"sale", false}));

  // Wrong ones change nothing, and the next right one counts.
  REQUIRE(Writes(file, "boris boss " + secret + "\n"));
  guarded.daemon.Signal(SIGHUP);
  REQUIRE(guarded.daemon.AwaitWords("credentials stay what they were: "));
  REQUIRE(guarded.daemon.AwaitWords("line 1:"));
  CHECK(proves("boris"));
  REQUIRE(Writes(file, "clara app " + secret + "\ndora app " + secret + "\n"));
  guarded.daemon.Signal(SIGHUP);
  REQUIRE(guarded.daemon.AwaitWords("credentials are read anew, 2 of them"));
  CHECK(proves("clara"));
  CHECK_FALSE(proves("boris"));
  CHECK(anna.Call<Operation::kHealth>({}));
  CHECK(guarded.daemon.Stop(SIGTERM) == 0);
  CHECK(guarded.daemon.said().find(secret) == std::string::npos);
}

}  // namespace
}  // namespace anteroom
