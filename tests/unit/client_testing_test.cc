// anteroom_testing as an application's tests use it: both clients against the real engine, with the
// clock, the faults and the outages in the test's hand.

#include <doctest/doctest.h>

#include <unistd.h>

#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "client/async_client.h"
#include "client/client.h"
#include "client/failure.h"
#include "client/testing/test_daemon.h"
#include "protocol/settings.h"
#include "protocol/version.h"
#include "tests/support/test_loop.h"

namespace anteroom::testing {
namespace {

using client::AsyncClient;
using client::Client;
using client::ClientOptions;
using client::FailureCause;
using client::FailureOf;
using protocol::ErrorCode;
using protocol::Operation;
using protocol::Outcome;
using protocol::Reason;
using protocol::State;
using protocol::VisitorReply;

using Setting = std::pair<std::string_view, std::string_view>;

protocol::RoomSettings Settings(std::initializer_list<Setting> said) {
  protocol::RoomSettings settings;
  for (const auto& [name, text] : said) {
    REQUIRE(protocol::ParseSetting(name, text, &settings) == "");
  }
  return settings;
}

ClientOptions Options(const TestDaemon& daemon) {
  ClientOptions options;
  options.addresses = {daemon.address()};
  options.call_deadline_ms = 60'000;
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 20;
  options.wait_for_connection = true;
  return options;
}

// What a watch told, in words; told on the client's thread.
class Diary {
 public:
  client::OnVisitorEvent Visitors() {
    return [this](const client::VisitorEvent& event) {
      std::string words = event.visitor;
      if (event.reply) {
        words += " " + std::string(protocol::NameOf(event.reply->state));
        if (event.reply->position) words += " " + std::to_string(*event.reply->position);
        if (event.reply->state == State::kEnded) {
          words += " " + std::string(protocol::NameOf(event.reply->reason.value()));
        }
      }
      if (event.refusal) words += " " + std::string(protocol::NameOf(event.refusal->error));
      if (event.last) words += " last";
      Add(words);
    };
  }
  client::OnRoomEvent Rooms() {
    return [this](const client::RoomEvent& event) {
      for (const protocol::RoomEvent& one : event.events) {
        std::string words = one.visitor + " " + std::string(protocol::NameOf(one.state));
        if (one.reason) words += " " + std::string(protocol::NameOf(*one.reason));
        Add(words);
      }
      if (event.reply) Add("waiting " + std::to_string(event.reply->counts.waiting));
      if (event.last) Add("last");
    };
  }
  // What was told since the last call.
  std::string Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(told_, {});
  }

 private:
  void Add(const std::string& words) {
    const std::lock_guard lock(mutex_);
    told_ += (told_.empty() ? "" : "; ") + words;
  }

  std::mutex mutex_;
  std::string told_;
};

// A daemon with one room, and a client of it.
struct Fixture {
  Fixture(std::initializer_list<Setting> settings) {
    REQUIRE(client.RoomCreate("shop", Settings(settings)).ok());
  }
  ~Fixture() { daemon.check_invariants(); }

  VisitorReply Join(std::string_view visitor) {
    const auto reply = client.Join("shop", visitor);
    REQUIRE(reply.ok());
    return *reply;
  }
  State StateOf(std::string_view visitor) {
    const auto reply = client.Status("shop", visitor);
    REQUIRE(reply.ok());
    return reply->state;
  }
  FailureCause CauseOf(const absl::Status& status) {
    const auto failure = FailureOf(status);
    REQUIRE(failure.has_value());
    return failure->cause;
  }
  // The status of a call that has left the client, who cannot know what became of it. On a busy
  // machine a short deadline can pass before that; then it is made again.
  absl::Status SentInVain(const std::function<absl::StatusOr<VisitorReply>()>& call) {
    absl::StatusOr<VisitorReply> reply;
    do {
      reply = call();
      REQUIRE(!reply.ok());
    } while (!client::MayHaveBeenApplied(reply.status()));
    REQUIRE(client.Ping().ok());  // behind it: it has arrived
    return reply.status();
  }

  Diary diary;  // outlives the client, which ends its watches
  Diary rooms;
  TestDaemon daemon;
  Client client{Options(daemon)};
};

// ---- time ----

TEST_CASE("testing: somebody waits, is let in as time goes by, claims and finishes") {
  Fixture test({{"rate", "1/m"}, {"admit_interval", "1m"}, {"capacity", "1"}});
  CHECK(test.Join("ann").state == State::kAdmitted);
  CHECK(test.Join("bob").position == 1);
  CHECK(test.daemon.now_ms() == 0);

  // Ann never comes: her place goes to Bob when claim_ttl is over, not before.
  test.daemon.Advance(absl::Minutes(5) - absl::Milliseconds(1));
  CHECK(test.StateOf("bob") == State::kWaiting);
  test.daemon.AdvanceMs(1);
  CHECK(test.daemon.now_ms() == 300'000);
  const auto ann = test.client.Status("shop", "ann");
  REQUIRE(ann.ok());
  CHECK(ann->state == State::kEnded);
  CHECK(ann->reason == Reason::kNoShow);

  const VisitorReply bob = test.Join("bob");
  REQUIRE(bob.state == State::kAdmitted);
  CHECK(bob.at_ms == 300'000);
  const auto claimed = test.client.Claim("shop", "bob", bob.token->view());
  REQUIRE(claimed.ok());
  CHECK(claimed->state == State::kActive);
  const auto finished = test.client.Finish(
      "shop", "bob", {.token = bob.token->view(), .outcome = Outcome::kCompleted});
  REQUIRE(finished.ok());
  CHECK(finished->reason == Reason::kCompleted);

  const auto counts = test.daemon.Counts("shop");
  REQUIRE(counts.has_value());
  CHECK(counts->no_show_total == 1);
  CHECK(counts->completed_total == 1);
  CHECK(counts->occupied == 0);
  CHECK(!test.daemon.Counts("nowhere").has_value());
}

TEST_CASE("testing: an advance stops at every due moment on its way") {
  Fixture test({{"rate", "1/s"}, {"admit_interval", "1s"}});
  for (int i = 0; i < 20; ++i) test.Join("visitor " + std::to_string(i));
  test.daemon.Advance(absl::Minutes(1));
  const auto inside = test.client.Inside("shop", 0, 100);
  REQUIRE(inside.ok());
  REQUIRE(inside->items.size() == 20);
  // Each was let in at a time of its own, not all together at the end.
  uint64_t before_ms = inside->items[1].reply.at_ms.value();
  for (size_t i = 2; i < inside->items.size(); ++i) {
    CHECK(inside->items[i].reply.at_ms.value() == before_ms + 1000);
    before_ms = inside->items[i].reply.at_ms.value();
  }
}

TEST_CASE("testing: the tokens' key rotates, and those given before stay good") {
  Fixture test({{"capacity", "2"}});
  const auto first = test.client.Join("shop", "ann");
  REQUIRE(first.ok());
  const auto rotated = test.client.RotateTokenKey();
  REQUIRE(rotated.ok());
  CHECK(rotated->first_admission == 2);
  CHECK(rotated->key_id == 2);
  const auto second = test.client.Join("shop", "bob");
  REQUIRE(second.ok());
  CHECK(test.client.Verify("shop", "ann", first->token->view()).ok());
  CHECK(test.client.Verify("shop", "bob", second->token->view()).ok());
  // Each time the same, so that a test can know them.
  Fixture again({{"capacity", "2"}});
  CHECK(again.client.Join("shop", "ann")->token == first->token);
  CHECK(again.client.RotateTokenKey()->key_id == 2);
  CHECK(again.client.Join("shop", "bob")->token == second->token);
}

TEST_CASE("testing: a client can move the clock too, and every operation is answered") {
  Fixture test({{"capacity", "1"}});
  const auto clock = test.client.ClockAdvance(1500);
  REQUIRE(clock.ok());
  CHECK(clock->at_ms == 1500);
  CHECK(test.daemon.now_ms() == 1500);
  const auto wrong = test.client.ClockAdvance(-1);
  CHECK(client::RefusalOf(wrong.status()).value().error == ErrorCode::kInvalid);

  CHECK(test.client.Ping().ok());
  const auto health = test.client.Health();
  REQUIRE(health.ok());
  CHECK(health->virtual_clock);
  CHECK(health->version == protocol::kVersion);
  CHECK(health->at_ms == 1500);
  CHECK(health->connections == 1);
  CHECK(test.daemon.connections() == 1);

  const auto entered = test.client.Enter("shop", "ann");
  REQUIRE(entered.ok());
  CHECK(entered->may_pass());
  const std::string token(entered->reply->token->view());
  CHECK(test.client.Verify("shop", "ann", token).ok());
  CHECK(test.client.Touch("shop", "ann", token).ok());
  const auto joined = test.client.JoinMany({{"shop", "bob", {}}, {"shop", "cat", 0}});
  REQUIRE(joined.ok());
  CHECK(joined->items.at(1).reply->position == 1);
  const auto asked = test.client.StatusMany({{"shop", "bob"}, {"shop", "eve"}});
  REQUIRE(asked.ok());
  CHECK(asked->items.at(0).reply->position == 2);
  CHECK(asked->items.at(1).refusal->error == ErrorCode::kNotFound);
  CHECK(test.client.Peek("shop", 0, 10)->items.size() == 2);
  CHECK(test.client.Admit("shop", 1)->count == 0);
  CHECK(test.client.AdmitVisitor("shop", "bob", {.over = true})->state == State::kAdmitted);
  CHECK(test.client.Leave("shop", "cat")->reason == Reason::kLeft);
  CHECK(test.client.Revoke("shop", "ann")->reason == Reason::kRevoked);
  CHECK(test.client.Stats()->rooms == 1);
  CHECK(test.client.RoomShow("shop")->revision == 1);
  CHECK(test.client.RoomSet("shop", Settings({{"capacity", "7"}}))->revision == 2);
  CHECK(test.client.RoomList("", 10)->rooms.size() == 1);
  CHECK(test.client.RoomReset("shop")->counts.admitted == 0);
  CHECK(test.client.RoomDelete("shop").ok());
  CHECK(!test.daemon.Counts("shop").has_value());
}

TEST_CASE("testing: tokens are the same in every run") {
  std::string tokens[2];
  for (std::string& token : tokens) {
    Fixture test({{"capacity", "1"}});
    token = test.Join("ann").token->view();
  }
  CHECK(tokens[0] == tokens[1]);
}

// ---- faults ----

TEST_CASE("testing: a refusal that was asked for, as often as asked, and nothing is done") {
  Fixture test({{"capacity", "1"}});
  protocol::Refusal full = protocol::Refuse(ErrorCode::kLineFull, "too many people");
  full.retry_after_ms = 700;
  test.daemon.RefuseNext(Operation::kJoin, full, 2);
  CHECK(test.daemon.faults_left() == 2);
  for (int i = 0; i < 2; ++i) {
    const auto reply = test.client.Join("shop", "ann");
    REQUIRE(!reply.ok());
    const client::Failure failure = FailureOf(reply.status()).value();
    CHECK(failure.cause == FailureCause::kRefused);
    CHECK(!failure.may_have_been_applied);
    CHECK(failure.refusal.error == ErrorCode::kLineFull);
    CHECK(failure.refusal.retry);
    CHECK(failure.refusal.retry_after_ms == 700);
    CHECK(failure.refusal.message == "too many people");
    // Others are not concerned.
    CHECK(test.client.Stats("shop").ok());
  }
  CHECK(test.daemon.faults_left() == 0);
  CHECK(test.daemon.Counts("shop")->joined_total == 0);
  CHECK(test.Join("ann").state == State::kAdmitted);
  CHECK(test.daemon.requests(Operation::kJoin) == 3);

  test.daemon.RefuseNext(Operation::kJoin, full, 1000);
  test.daemon.ClearFaults();
  CHECK(test.daemon.faults_left() == 0);
  CHECK(test.Join("ann").state == State::kAdmitted);
}

TEST_CASE("testing: an answer is lost, and asking again gives the same") {
  Fixture test({{"capacity", "1"}});
  Loss loss = Loss::kHangUp;
  FailureCause cause = FailureCause::kConnectionLost;
  client::CallOptions call;
  SUBCASE("with the connection") {}
  SUBCASE("in silence") {
    loss = Loss::kSilence;
    cause = FailureCause::kDeadline;
    call.deadline_ms = 30;
  }
  REQUIRE(test.client.Ping().ok());
  test.daemon.LoseReplyNext(Operation::kJoin, loss);
  const auto lost = test.SentInVain([&] { return test.client.Join("shop", "ann", {}, call); });
  CHECK(test.CauseOf(lost) == cause);
  CHECK(client::IsUnreachable(lost));
  CHECK(test.daemon.faults_left() == 0);
  CHECK(test.daemon.Counts("shop")->joined_total == 1);

  const VisitorReply again = test.Join("ann");
  CHECK(again.state == State::kAdmitted);
  CHECK(again.arrival == 1);
  CHECK(again.admission == 1);
  CHECK(test.daemon.Counts("shop")->joined_total == 1);
}

TEST_CASE("testing: a request is lost, and never done") {
  Fixture test({{"capacity", "1"}});
  test.Join("ann");
  FailureCause cause = FailureCause::kConnectionLost;
  client::CallOptions call;
  SUBCASE("with the connection") {
    test.daemon.LoseRequestNext(Operation::kFinish);
  }
  SUBCASE("in silence") {
    test.daemon.LoseRequestNext(Operation::kFinish, Loss::kSilence);
    cause = FailureCause::kDeadline;
    call.deadline_ms = 30;
  }
  const auto lost = test.SentInVain([&] { return test.client.Finish("shop", "ann", {}, call); });
  CHECK(test.CauseOf(lost) == cause);
  CHECK(test.StateOf("ann") == State::kAdmitted);
}

TEST_CASE("testing: faults of one operation come in the order in which they were asked for") {
  Fixture test({{"capacity", "1"}});
  test.daemon.LoseRequestNext(Operation::kJoin);
  test.daemon.RefuseNext(Operation::kJoin, protocol::Refuse(ErrorCode::kClosed, "over"));
  CHECK(test.CauseOf(test.client.Join("shop", "ann").status()) == FailureCause::kConnectionLost);
  CHECK(test.CauseOf(test.client.Join("shop", "ann").status()) == FailureCause::kRefused);
  CHECK(test.Join("ann").state == State::kAdmitted);
}

TEST_CASE("testing: a daemon that refuses the greeting is one that cannot be reached") {
  TestDaemon daemon;
  protocol::Refusal stopping = protocol::Refuse(ErrorCode::kUnavailable, "stopping");
  stopping.reason = Reason::kStopping;
  daemon.RefuseNext(Operation::kHello, stopping);
  ClientOptions options = Options(daemon);
  options.reconnect = false;
  Client client(options);
  CHECK(client::IsUnreachable(client.Ping().status()));
  CHECK(daemon.connections() == 0);
}

// ---- outages ----

TEST_CASE("testing: in an outage the shop stays open, and finishes are made up for") {
  TestDaemon daemon;
  ClientOptions options = Options(daemon);
  options.when_unreachable = client::UnreachablePolicy::kLetPass;
  options.wait_for_connection = false;
  Client client(options);
  REQUIRE(client.RoomCreate("shop", Settings({{"capacity", "1"}})).ok());
  REQUIRE(client.Enter("shop", "ann").ok());

  daemon.GoAway();
  CHECK(daemon.connections() == 0);
  const auto door = client.Enter("shop", "bob");
  REQUIRE(door.ok());
  CHECK(door->let_pass);
  CHECK(client.FinishLater("shop", "ann", {.outcome = Outcome::kCompleted}).ok());
  CHECK(client.finish_later_counts().pending == 1);
  // Time goes on, and rooms with it.
  daemon.Advance(absl::Minutes(1));
  CHECK(daemon.Counts("shop")->active == 1);

  daemon.ComeBack();
  daemon.ComeBack();
  REQUIRE(client.FlushFinishes(60'000));
  CHECK(client.finish_later_counts().delivered == 1);
  CHECK(daemon.Counts("shop")->completed_total == 1);
  const auto after = client.Enter("shop", "bob");
  REQUIRE(after.ok());
  CHECK(!after->let_pass);
  CHECK(after->may_pass());
  daemon.check_invariants();
}

TEST_CASE("testing: a finish that is given away comes through lost messages, and counts once") {
  Fixture test({{"capacity", "1"}});
  test.Join("ann");
  test.daemon.LoseRequestNext(Operation::kFinish);
  test.daemon.LoseReplyNext(Operation::kFinish);
  CHECK(test.client.FinishLater("shop", "ann", {.outcome = Outcome::kCompleted}).ok());
  REQUIRE(test.client.FlushFinishes(60'000));
  CHECK(test.daemon.requests(Operation::kFinish) == 3);
  CHECK(test.daemon.Counts("shop")->completed_total == 1);
}

TEST_CASE("testing: after a hang-up the client comes back by itself, and its watches with it") {
  Fixture test({{"capacity", "0"}});
  test.Join("ann");
  REQUIRE(test.client.Watch("shop", "ann", test.diary.Visitors()).ok());
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "ann waiting 1");
  test.daemon.Disconnect();
  // The client may not have noticed yet.
  while (!test.client.Ping().ok()) {
  }
  CHECK(test.daemon.connections() == 1);
  CHECK(test.daemon.requests(Operation::kHello) == 2);
  CHECK(test.diary.Take() == "ann waiting 1");
}

// ---- watches ----

TEST_CASE("testing: a watch tells each state, and of positions the latest") {
  Fixture test({{"rate", "1/s"}, {"admit_interval", "1s"}, {"claim_ttl", "1m"}});
  for (const std::string_view visitor : {"ann", "bob", "cat", "dan", "eve"}) test.Join(visitor);
  REQUIRE(test.StateOf("bob") == State::kAdmitted);  // a bucket holds two depths
  const std::vector<std::string_view> watched = {"cat", "eve"};
  REQUIRE(test.client.Watch("shop", watched, test.diary.Visitors()).ok());
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "cat waiting 1; eve waiting 3");

  test.daemon.Advance(absl::Seconds(2));
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "cat admitted; eve waiting 1");

  test.daemon.Advance(absl::Minutes(5));
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "eve admitted; cat ended no_show; eve ended no_show last");
}

TEST_CASE("testing: whoever is watched is heard from, others have left when waiting_ttl is over") {
  Fixture test({{"capacity", "0"}, {"waiting_ttl", "30s"}});
  test.Join("ann");
  test.Join("bob");
  const auto watch = test.client.Watch("shop", "bob", test.diary.Visitors());
  REQUIRE(watch.ok());
  REQUIRE(test.client.Ping().ok());  // the watch has arrived
  test.daemon.Advance(absl::Minutes(10));
  CHECK(test.daemon.Counts("shop")->waiting == 1);
  CHECK(test.daemon.Counts("shop")->left_total == 1);
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "bob waiting 2; bob waiting 1");
  test.client.Unwatch(*watch);
  REQUIRE(test.client.Ping().ok());
  test.daemon.Advance(absl::Minutes(10));
  CHECK(test.daemon.Counts("shop")->waiting == 0);
  CHECK(test.diary.Take().empty());
}

TEST_CASE("testing: a change of the room is told to those who wait, its end to all") {
  Fixture test({{"capacity", "0"}});
  test.Join("ann");
  REQUIRE(test.client.Watch("shop", "ann", test.diary.Visitors()).ok());
  REQUIRE(test.client.WatchRoom("shop", test.rooms.Rooms()).ok());
  test.Join("bob");
  REQUIRE(test.client.RoomSet("shop", Settings({{"mode", "paused"}})).ok());
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "ann waiting 1; ann waiting 1");
  CHECK(test.rooms.Take() == "waiting 1; bob waiting; waiting 2; waiting 2");
  REQUIRE(test.client.RoomDelete("shop", {.force = true}).ok());
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == "ann not_found last");
  CHECK(test.rooms.Take() == "last");
  CHECK(test.client.Health()->watches == 0);
}

TEST_CASE(
    "testing: a room's watch tells each event, of any number, before counts that include it") {
  Fixture test({{"capacity", "1"}, {"claim_ttl", "1m"}, {"no_show", "requeue"}});
  test.Join("ann");
  REQUIRE(test.client.WatchRoom("shop", test.rooms.Rooms()).ok());
  test.Join("bob");
  REQUIRE(test.client.Ping().ok());
  CHECK(test.rooms.Take() == "waiting 0; bob waiting; waiting 1");
  test.daemon.Advance(absl::Minutes(3));
  REQUIRE(test.client.Ping().ok());
  CHECK(test.rooms.Take() ==
        "ann waiting no_show; bob admitted; bob waiting no_show; ann admitted; "
        "ann ended no_show; bob admitted; waiting 0");
  REQUIRE(test.client.Leave("shop", "bob").ok());
  std::vector<std::string> names;
  std::vector<protocol::JoinRequest> joins;
  names.reserve(1000);
  joins.reserve(1000);
  for (int i = 0; i < 1000; ++i) names.push_back(std::to_string(i));
  for (const std::string& name : names) joins.push_back({"shop", name, std::nullopt});
  REQUIRE(test.client.JoinMany(joins).ok());
  REQUIRE(test.client.Ping().ok());
  const std::string told = test.rooms.Take();
  CHECK(told.starts_with("bob ended left; waiting 0; 0 waiting; 0 admitted; 1 waiting; 2 waiting"));
  CHECK(told.ends_with("998 waiting; 999 waiting; waiting 999"));
}

TEST_CASE("testing: nobody can be watched in a room that is not there") {
  Fixture test({{"capacity", "0"}});
  REQUIRE(test.client.Watch("nowhere", "ann", test.diary.Visitors()).ok());
  REQUIRE(test.client.Watch("shop", "ann", test.diary.Visitors()).ok());
  REQUIRE(test.client.Ping().ok());
  CHECK(test.diary.Take() == " not_found last; ann not_found last");
}

// ---- the other client, and the folder ----

TEST_CASE("testing: the asynchronous client, on the test's own loop") {
  TestDaemon daemon;
  Diary diary;
  TestLoop loop;
  AsyncClient client(loop.get(), Options(daemon));
  std::optional<absl::StatusOr<VisitorReply>> joined;
  client.RoomCreate("shop", Settings({{"rate", "1/m"}, {"admit_interval", "1m"}}),
                    [](const absl::StatusOr<protocol::RoomReply>&) {});
  for (const std::string_view visitor : {"ann", "bob"}) {
    client.Join("shop", visitor, {}, [](const absl::StatusOr<VisitorReply>&) {});
  }
  client.Join("shop", "cat", {},
              [&](const absl::StatusOr<VisitorReply>& reply) { joined = reply; });
  loop.RunUntil([&] { return joined.has_value(); });
  REQUIRE(joined->ok());
  CHECK((*joined)->position == 1);
  const auto settle = [&] {
    bool answered = false;
    client.Ping([&](const absl::StatusOr<protocol::PingReply>&) { answered = true; });
    loop.RunUntil([&] { return answered; });
  };
  client.Watch("shop", "cat", diary.Visitors());
  settle();
  daemon.Advance(absl::Minutes(1));
  settle();
  CHECK(diary.Take() == "cat waiting 1; cat admitted");
  daemon.check_invariants();
}

TEST_CASE("testing: many threads share a daemon, several daemons a process, nothing is left") {
  std::string path;
  {
    Fixture one({{"capacity", "none"}});
    Fixture other({{"capacity", "0"}});
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string visitor = std::to_string(t) + "/" + std::to_string(i);
          static_cast<void>(one.client.Join("shop", visitor));
          static_cast<void>(other.client.Join("shop", visitor));
          one.daemon.AdvanceMs(10);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(one.daemon.Counts("shop")->admitted == 200);
    CHECK(other.daemon.Counts("shop")->waiting == 200);
    CHECK(one.daemon.now_ms() == 2000);
    CHECK(other.daemon.now_ms() == 0);
    path = one.daemon.address().substr(5);
    CHECK(access(path.c_str(), F_OK) == 0);
  }
  CHECK(access(path.c_str(), F_OK) != 0);
  CHECK(access(path.substr(0, path.rfind('/')).c_str(), F_OK) != 0);
}

}  // namespace
}  // namespace anteroom::testing
