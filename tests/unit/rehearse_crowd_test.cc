#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "client/async_client.h"
#include "client/limits.h"
#include "tests/support/fake_server.h"
#include "tests/support/seed.h"
#include "tests/support/temporary_file.h"
#include "tests/support/test_loop.h"
#include "tools/rehearse/arrivals.h"
#include "tools/rehearse/checks.h"
#include "tools/rehearse/crowd.h"
#include "tools/rehearse/watches.h"

namespace anteroom::tools {
namespace {

using protocol::Operation;
using protocol::State;

enum class Lie {
  kNone,
  kLastFirst,
  kOneTooMany,
  kSameNumber,
  kTwice,
  kForgets,
  kRefuses,
  kStandsStill
};

// A daemon with one room, as honest as it is told to be. Its time is a count of what it was asked.
class FakeRoom {
 public:
  FakeRoom(uint64_t capacity, Lie lie) : capacity_(capacity), lie_(lie) {}

  void Answer(FakeServer& server, const FakeServer::Received& request) {
    ++now_ms_;
    switch (request.operation()) {
      case Operation::kJoinMany: {
        protocol::VisitorResults results;
        for (const auto& item : request.As<Operation::kJoinMany>().items) {
          results.items.push_back(Join(std::string(item.visitor)));
        }
        return server.Reply(request, results);
      }
      case Operation::kWatch: {
        // As the daemon: the watch stays in mind, and begins with the present state of each.
        const auto message = request.As<Operation::kWatch>();
        for (const std::string_view id : message.visitors) {
          watches_[std::string(id)] = request;
          Push(server, std::string(id));
        }
        if (lie_ == Lie::kForgets) Forget(server);
        return;
      }
      case Operation::kUnwatch:
        return server.Reply(request, protocol::Empty{});
      case Operation::kStatus:
        return Tell(server, request, std::string(request.As<Operation::kStatus>().visitor));
      case Operation::kClaim: {
        const std::string id(request.As<Operation::kClaim>().visitor);
        states_[id].state = State::kActive;
        states_[id].at_ms = now_ms_;
        return Tell(server, request, id);
      }
      case Operation::kFinish: {
        const std::string id(request.As<Operation::kFinish>().visitor);
        End(id, request.As<Operation::kFinish>().outcome == protocol::Outcome::kCompleted
                    ? protocol::Reason::kCompleted
                    : protocol::Reason::kCancelled);
        Tell(server, request, id);
        return AdmitNext(server);
      }
      case Operation::kLeave: {
        const std::string id(request.As<Operation::kLeave>().visitor);
        std::erase(line_, id);
        End(id, protocol::Reason::kLeft);
        return Tell(server, request, id);
      }
      default:
        return server.Refuse(request, protocol::Refuse(protocol::ErrorCode::kInvalid, "not here"));
    }
  }

 private:
  protocol::VisitorResult Join(const std::string& id) {
    if (lie_ == Lie::kRefuses && states_.size() >= 3) {
      return {std::nullopt, protocol::Refuse(protocol::ErrorCode::kLineFull, "full")};
    }
    protocol::VisitorReply& reply = states_[id];
    reply.arrival = ++arrivals_;
    reply.at_ms = now_ms_;
    line_.push_back(id);
    if (inside_ < capacity_ && lie_ != Lie::kStandsStill) Admit(TakeFirst());
    reply.waiting = reply.state == State::kWaiting ? std::optional(line_.size()) : std::nullopt;
    return {reply, std::nullopt};
  }

  std::string TakeFirst() {
    const bool last_first = lie_ == Lie::kLastFirst && line_.size() > 1;
    std::string id = last_first ? line_.back() : line_.front();
    std::erase(line_, id);
    return id;
  }

  void Admit(const std::string& id) {
    protocol::VisitorReply& reply = states_[id];
    reply.state = State::kAdmitted;
    reply.waiting.reset();
    reply.at_ms = now_ms_;
    reply.admission = lie_ == Lie::kSameNumber ? 7 : ++admissions_;
    reply.token.emplace().chars.fill('A');
    ++inside_;
  }

  void End(const std::string& id, protocol::Reason reason) {
    protocol::VisitorReply& reply = states_[id];
    if (reply.state == State::kAdmitted || reply.state == State::kActive) --inside_;
    reply.state = State::kEnded;
    reply.reason = reason;
    reply.at_ms = now_ms_;
  }

  void AdmitNext(FakeServer& server) {
    const uint64_t places = capacity_ + (lie_ == Lie::kOneTooMany ? 1 : 0);
    while (!line_.empty() && inside_ < places) {
      const std::string id = TakeFirst();
      Admit(id);
      Push(server, id);
      if (lie_ == Lie::kTwice) {
        states_[id].admission = ++admissions_;
        Push(server, id);
      }
    }
  }

  void Forget(FakeServer& server) {
    if (line_.empty()) return;
    const std::string id = TakeFirst();
    states_.erase(id);
    Push(server, id);
  }

  void Push(FakeServer& server, const std::string& id) {
    const auto watch = watches_.find(id);
    if (watch == watches_.end()) return;
    const auto found = states_.find(id);
    protocol::VisitorPush push = {id, std::nullopt, std::nullopt};
    if (found == states_.end()) {
      push.refusal = protocol::Refuse(protocol::ErrorCode::kNotFound, "no such visitor");
    } else {
      push.reply = found->second;
    }
    server.Push(watch->second, push);
  }

  void Tell(FakeServer& server, const FakeServer::Received& request, const std::string& id) {
    const auto found = states_.find(id);
    if (found != states_.end()) return server.Reply(request, found->second);
    server.Refuse(request, protocol::Refuse(protocol::ErrorCode::kNotFound, "no such visitor"));
  }

  const uint64_t capacity_;
  const Lie lie_;
  uint64_t now_ms_ = 1000;
  uint64_t arrivals_ = 0;
  uint64_t admissions_ = 0;
  uint64_t inside_ = 0;
  std::deque<std::string> line_;
  std::map<std::string, protocol::VisitorReply> states_;
  std::map<std::string, FakeServer::Received> watches_;
};

struct Outcome {
  CrowdEnd end = CrowdEnd::kDone;
  CrowdCounts counts;
  uint64_t violations = 0;
  uint64_t left_over = 0;
};

// What a client fails while it closes still reaches the crowd.
void CloseBeforeTheCrowdGoes(TestLoop& loop, client::AsyncClient& client) {
  bool closed = false;
  client.Close([&closed] { closed = true; });
  loop.RunUntil([&closed] { return closed; });
}

// `visitors` people, all at once, against a room of `capacity`.
Outcome Rehearse(int visitors, uint64_t capacity, Lie lie, bool send_home = false) {
  FakeRoom room(capacity, lie);
  FakeServer server;
  server.Answer([&room](FakeServer& server, const FakeServer::Received& request) {
    room.Answer(server, request);
  });
  const TemporaryFile file("second_of_day,requests\n0," + std::to_string(visitors) + "\n");
  auto source = OpenArrivals(file.path(), {});
  REQUIRE(source.ok());

  Outcome outcome;
  TestLoop loop;
  {
    client::AsyncClient client(loop.get(), {.addresses = {server.address()}, .reconnect = false});
    bool over = false;
    Crowd crowd(loop.get(), &client, source->get(),
                {.room = "r",
                 .speed = 1e6,
                 .session_ms = 1,
                 .seed = 1,
                 .give_up_ms = lie == Lie::kStandsStill ? 100 : 600'000},
                [&](CrowdEnd end) {
                  over = true;
                  outcome.end = end;
                });
    crowd.Start();
    bool sent_home = false;
    loop.RunUntil([&] {
      crowd.check_invariants();
      if (send_home && !sent_home && crowd.waiting() > 0) {
        sent_home = true;
        crowd.SendHome();
      }
      return over;
    });
    Violations violations = crowd.violations();
    CheckNumbers(crowd.admissions(), &violations);
    CheckOrder(crowd.admissions(), &violations);
    CheckCapacity(crowd.admissions(), {capacity}, &violations);
    outcome.counts = crowd.counts();
    outcome.violations = violations.count();
    outcome.left_over = crowd.present();
    CloseBeforeTheCrowdGoes(loop, client);
  }
  return outcome;
}

TEST_CASE("a crowd comes, waits, is let in, stays and goes") {
  const Outcome outcome = Rehearse(60, 3, Lie::kNone);
  CHECK(outcome.end == CrowdEnd::kDone);
  CHECK(outcome.counts.arrived == 60);
  CHECK(outcome.counts.joined == 60);
  CHECK(outcome.counts.admitted == 60);
  CHECK(outcome.counts.finished == 60);
  CHECK(outcome.violations == 0);
  CHECK(outcome.left_over == 0);
}

TEST_CASE("a daemon that breaks its promises is found out") {
  for (const Lie lie :
       {Lie::kLastFirst, Lie::kOneTooMany, Lie::kSameNumber, Lie::kTwice, Lie::kForgets}) {
    CAPTURE(static_cast<int>(lie));
    const Outcome outcome = Rehearse(60, 3, lie);
    CHECK(outcome.end == CrowdEnd::kDone);
    CHECK(outcome.violations > 0);
  }
}

TEST_CASE("those turned away are counted, and no more is heard of them") {
  const Outcome outcome = Rehearse(10, 1, Lie::kRefuses);
  CHECK(outcome.end == CrowdEnd::kDone);
  CHECK(outcome.counts.joined == 3);
  CHECK(outcome.counts.finished == 3);
  CHECK(outcome.counts.refused.at(protocol::ErrorCode::kLineFull) == 7);
  CHECK(outcome.violations == 0);
}

TEST_CASE("when nothing moves any more the crowd is sent home") {
  const Outcome outcome = Rehearse(10, 1, Lie::kStandsStill);
  CHECK(outcome.end == CrowdEnd::kGaveUp);
  CHECK(outcome.counts.admitted == 0);
  CHECK(outcome.counts.sent_home == 10);
  CHECK(outcome.counts.longest_line == 10);
  CHECK(outcome.left_over == 0);
}

TEST_CASE("a crowd sent home leaves nobody behind") {
  const Outcome outcome = Rehearse(200, 1, Lie::kNone, true);
  CHECK(outcome.end == CrowdEnd::kInterrupted);
  CHECK(outcome.counts.sent_home > 0);
  CHECK(outcome.counts.finished + outcome.counts.sent_home == outcome.counts.joined);
  CHECK(outcome.left_over == 0);
  CHECK(outcome.violations == 0);
}

TEST_CASE("a crowd without a daemon is over at once") {
  const TemporaryFile file("second_of_day,requests\n0,5\n");
  auto source = OpenArrivals(file.path(), {});
  REQUIRE(source.ok());
  TestLoop loop;
  std::optional<CrowdEnd> over;
  {
    client::AsyncClient client(loop.get(), {.addresses = {"127.0.0.1:1"}, .reconnect = false});
    Crowd crowd(loop.get(), &client, source->get(), {.room = "r", .give_up_ms = 60000},
                [&](CrowdEnd end) { over = end; });
    crowd.Start();
    loop.RunUntil([&] { return over.has_value(); });
    CHECK_FALSE(crowd.broken().ok());
    CloseBeforeTheCrowdGoes(loop, client);
  }
  CHECK(over == CrowdEnd::kBroken);
}

TEST_CASE("watches keep few, whoever comes and goes") {
  std::mt19937_64 random(TestSeed());
  FakeServer server;
  server.Answer([](FakeServer&, const FakeServer::Received&) {});
  TestLoop loop;
  client::AsyncClient client(loop.get(), {.addresses = {server.address()}});
  std::deque<Visitor> all;
  std::vector<Visitor*> watched;
  {
    Watches watches(&client, "r", [](const client::VisitorEvent&) {});
    size_t most = 0;
    for (int round = 0; round < 4000; ++round) {
      std::vector<Visitor*> added;
      for (size_t i = 1 + random() % 3; i > 0; --i) {
        added.push_back(&all.emplace_back());
        added.back()->id = "v" + std::to_string(all.size());
      }
      watches.Add(added);
      watched.insert(watched.end(), added.begin(), added.end());
      while (!watched.empty() && random() % 3 == 0) {
        std::swap(watched[random() % watched.size()], watched.back());
        watches.Remove(watched.back());
        watches.Remove(watched.back());  // harmless
        watched.pop_back();
      }
      CHECK(watches.watched() == watched.size());
      most = std::max(most, watches.open());
      if (round % 64 == 0) watches.check_invariants();
    }
    watches.check_invariants();
    CHECK(most <= kWatchesBeforeMerge);
    for (Visitor* const visitor : watched) watches.Remove(visitor);
    CHECK(watches.watched() == 0);
    CHECK(watches.open() == 0);
  }
}

}  // namespace
}  // namespace anteroom::tools
