// The parts of the client library on their own: the call table against a model, addresses,
// failures.

#include <doctest/doctest.h>
#include <sys/un.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/address.h"
#include "client/call_table.h"
#include "client/events.h"
#include "client/failure.h"
#include "client/limits.h"
#include "protocol/version.h"
#include "tests/support/seed.h"

namespace anteroom::client {
namespace {

using protocol::Operation;

class NullCall final : public PendingCall {
 public:
  explicit NullCall(int number) : number(number) {}
  bool Succeed(std::string_view) override { return true; }
  void Fail(absl::Status) override {}
  const int number;
};

int NumberOf(const std::unique_ptr<PendingCall>& call) {
  return static_cast<const NullCall&>(*call).number;
}

// What the table should hold: plain maps, searched from end to end.
struct ModelCall {
  int number;
  int64_t deadline_ms;
  bool sent;
  bool counted;
  size_t held_bytes;
};

TEST_CASE("the call table behaves as a plain map of calls") {
  std::mt19937_64 random(TestSeed());
  CallTable table;
  std::map<uint32_t, ModelCall> model;
  std::map<uint32_t, bool> abandoned;  // and whether counted
  std::vector<uint32_t> reserved;
  int64_t now_ms = static_cast<int64_t>(random() % 1'000'000);
  int number = 0;
  const auto pick = [&](const auto& from) {
    auto it = from.begin();
    std::advance(it, static_cast<long>(random() % from.size()));
    return it;
  };
  for (int step = 0; step < 300'000; ++step) {
    switch (random() % 12) {
      case 0:
      case 1:
      case 2: {
        if (model.size() > 300) break;
        // Mostly near, sometimes several rounds of the wheel away.
        const int64_t deadline_ms =
            now_ms + static_cast<int64_t>(random() % (random() % 8 == 0 ? 100'000 : 200));
        const bool counted = random() % 4 != 0;
        const uint32_t id = table.Add(Operation::kJoin, std::make_unique<NullCall>(number), now_ms,
                                      deadline_ms, counted);
        REQUIRE(!model.contains(id));
        REQUIRE(!abandoned.contains(id));
        model[id] = {number++, deadline_ms, false, counted, 0};
        break;
      }
      case 3:
      case 4: {
        if (model.empty()) break;
        const auto it = pick(model);
        if (it->second.sent) break;
        if (it->second.held_bytes == 0 && random() % 2 == 0) {
          const std::string frame(1 + random() % 50, 'f');
          table.Hold(it->first, frame);
          model[it->first].held_bytes = frame.size();
        } else {
          table.MarkSent(it->first);
          model[it->first].sent = true;
          model[it->first].held_bytes = 0;
        }
        break;
      }
      case 5:
      case 6: {
        if (model.empty()) break;
        const auto it = pick(model);
        REQUIRE(NumberOf(table.Take(it->first)) == it->second.number);
        REQUIRE(table.Find(it->first) == nullptr);
        model.erase(it);
        break;
      }
      case 7: {
        if (abandoned.empty()) break;
        const auto it = pick(abandoned);
        REQUIRE(table.Take(it->first) == nullptr);
        abandoned.erase(it);
        break;
      }
      case 8:
        if (reserved.size() < 20) {
          reserved.push_back(table.Reserve());
        } else {
          table.Release(reserved.back());
          reserved.pop_back();
        }
        break;
      default: {
        now_ms += static_cast<int64_t>(random() % (random() % 100 == 0 ? 20'000 : 30));
        bool early = false;
        for (const CallTable::Taken& taken : table.TakeExpired(now_ms)) {
          const int expired = NumberOf(taken.call);
          bool known = false;
          for (auto it = model.begin(); it != model.end(); ++it) {
            if (it->second.number != expired) continue;
            known = true;
            REQUIRE(it->second.sent == taken.sent);
            early |= it->second.deadline_ms > now_ms;
            if (taken.sent) abandoned[it->first] = it->second.counted;
            model.erase(it);
            break;
          }
          REQUIRE(known);
        }
        REQUIRE_FALSE(early);
        bool late = false;
        for (const auto& [id, call] : model) {
          late |= call.deadline_ms + 2 * CallTable::kTickMs <= now_ms;
        }
        REQUIRE_FALSE(late);
        REQUIRE((table.NextExpiryMs() >= 0) == !model.empty());
        break;
      }
    }
    if (step % 20'000 == 0) {
      // A lost connection.
      size_t sent = 0;
      for (const auto& [id, call] : model) sent += call.sent;
      REQUIRE(table.TakeSent().size() == sent);
      std::erase_if(model, [](const auto& one) { return one.second.sent; });
      abandoned.clear();
      reserved.clear();
    }
    if (step % 1000 != 0) continue;
    table.check_invariants();
    size_t counted = 0;
    size_t held_bytes = 0;
    for (const auto& [id, call] : model) {
      counted += call.counted;
      held_bytes += call.held_bytes;
      const CallTable::Place* place = table.Find(id);
      REQUIRE(place != nullptr);
      REQUIRE(NumberOf(place->call) == call.number);
    }
    for (const auto& [id, was_counted] : abandoned) counted += was_counted;
    REQUIRE(table.counted() == counted);
    REQUIRE(table.held_bytes() == held_bytes);
  }
  REQUIRE(table.TakeWaiting().size() ==
          static_cast<size_t>(std::count_if(model.begin(), model.end(),
                                            [](const auto& one) { return !one.second.sent; })));
}

TEST_CASE("addresses") {
  const absl::StatusOr<Address> tcp = ParseAddress("10.0.0.5:7411");
  REQUIRE(tcp.ok());
  CHECK(tcp->host == "10.0.0.5");
  CHECK(tcp->port == "7411");
  CHECK(ToSocketAddress(*tcp)->storage.ss_family == AF_INET);
  const absl::StatusOr<Address> six = ParseAddress("[::1]:80");
  REQUIRE(six.ok());
  CHECK(six->host == "::1");
  CHECK(ToSocketAddress(*six)->storage.ss_family == AF_INET6);
  const absl::StatusOr<Address> path = ParseAddress("unix:/run/anteroom.sock");
  REQUIRE(path.ok());
  CHECK(path->path == "/run/anteroom.sock");
  CHECK(ToSocketAddress(*path)->storage.ss_family == AF_UNIX);
  const absl::StatusOr<Address> name = ParseAddress("queue.example:7411");
  REQUIRE(name.ok());
  CHECK_FALSE(ToSocketAddress(*name).has_value());

  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "no port"},
      {"localhost", "no port"},
      {":80", "no host"},
      {"host:", "port from 1"},
      {"host:0", "port from 1"},
      {"host:65536", "port from 1"},
      {"host:80x", "port from 1"},
      {"::1:80", "brackets"},
      {"[]:80", "no host"},
      {"unix:", "no path"},
      {"unix:" + std::string(sizeof(sockaddr_un::sun_path), 'p'), "too long"},
      {std::string("unix:a\0b", 8), "zero"},
  };
  for (const auto& one : wrong) {
    const auto& text = one.first;
    const auto& words = one.second;
    const absl::StatusOr<Address> address = ParseAddress(text);
    CAPTURE(text);
    REQUIRE_FALSE(address.ok());
    CHECK(FailureOf(address.status())->cause == FailureCause::kInvalidRequest);
    CHECK(RefusalOf(address.status())->message.find(words) != std::string::npos);
  }
}

TEST_CASE("a status tells its failure, and others tell none") {
  CHECK_FALSE(FailureOf(absl::OkStatus()).has_value());
  CHECK_FALSE(FailureOf(absl::InternalError("elsewhere")).has_value());
  CHECK_FALSE(RefusalOf(absl::OkStatus()).has_value());
  CHECK_FALSE(MayHaveBeenApplied(absl::OkStatus()));
  CHECK_FALSE(IsUnreachable(absl::InternalError("elsewhere")));
  for (const auto name : protocol::ErrorCodeNames()) {
    protocol::Refusal refusal = protocol::Refuse(*protocol::ParseErrorCode(name), "why");
    refusal.reason = protocol::Reason::kNoShow;
    refusal.retry_after_ms = 77;
    const absl::Status status = RefusedStatus(refusal);
    CHECK(status.code() != absl::StatusCode::kOk);
    CHECK(status.code() != absl::StatusCode::kUnknown);
    const std::optional<protocol::Refusal> back = RefusalOf(status);
    REQUIRE(back.has_value());
    CHECK(back->error == refusal.error);
    CHECK(back->retry == refusal.retry);
    CHECK(back->reason == refusal.reason);
    CHECK(back->retry_after_ms == 77);
    CHECK(back->message == "why");
    CHECK_FALSE(MayHaveBeenApplied(status));
    CHECK_FALSE(IsUnreachable(status));
  }
  for (uint8_t cause = 1; cause <= 10; ++cause) {
    CHECK_FALSE(NameOf(static_cast<FailureCause>(cause)).empty());
    const absl::Status status = LocalStatus(static_cast<FailureCause>(cause), "why", true);
    CHECK(status.code() != absl::StatusCode::kUnknown);
    CHECK(MayHaveBeenApplied(status));
    CHECK(FailureOf(status)->cause == static_cast<FailureCause>(cause));
  }
  protocol::Refusal stopping = protocol::Refuse(protocol::ErrorCode::kUnavailable, "");
  stopping.reason = protocol::Reason::kStopping;
  CHECK(IsUnreachable(RefusedStatus(stopping)));
}

TEST_CASE("the door's policy") {
  const absl::Status lost = LocalStatus(FailureCause::kConnectionLost, "gone", true);
  CHECK_FALSE(ToEnterReply(lost, UnreachablePolicy::kHold).ok());
  CHECK(ToEnterReply(lost, UnreachablePolicy::kLetPass)->may_pass());
  const absl::Status closed = LocalStatus(FailureCause::kClosed, "closed");
  CHECK_FALSE(ToEnterReply(closed, UnreachablePolicy::kLetPass).ok());
  const absl::Status busy = LocalStatus(FailureCause::kTooManyInFlight, "busy");
  CHECK_FALSE(ToEnterReply(busy, UnreachablePolicy::kLetPass).ok());
  CHECK_FALSE(ToEnterReply(protocol::VisitorReply{}, UnreachablePolicy::kLetPass)->may_pass());
}

}  // namespace
}  // namespace anteroom::client
