// The engine and its desk against the plain model of tests/support/reference_room.h: every answer
// of every operation is compared, everything at once now and then, and the log replayed at the end.

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "tests/support/desk_world.h"
#include "tests/support/reference_room.h"
#include "tests/support/sampled.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

using protocol::Duration;
using protocol::Limit;
using protocol::Mode;
using protocol::Outcome;
using protocol::Rate;
using protocol::VisitorReply;
using protocol::VisitorResult;

constexpr std::string_view kRoom = "sale";

class ModelRun {
 public:
  explicit ModelRun(uint64_t seed) : random_(seed) {
    protocol::RoomSettings settings = SomeSettings();
    settings.rate = SomeRate();
    REQUIRE_EQ(world_.desk.Handle(protocol::RoomCreateOperation{{kRoom, settings}}).index(), 0);
    model_.emplace(&counters_, settings, 0);
  }

  void Step() {
    const std::string id = "visitor-" + std::to_string(Below(40));
    switch (Below(25)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return Join(id, false);
      case 5:
        return Join(id, true);
      case 6:
      case 7:
        return Same(Desk().Handle(protocol::StatusOperation{{kRoom, id}}), model_->Status(id));
      case 8:
        return Same(Desk().Handle(protocol::LeaveOperation{{kRoom, id}}), model_->Leave(id));
      case 9:
      case 10:
      case 11:
      case 12:
        return ShowToken(id);
      case 13:
        return Finish(id, std::nullopt);
      case 14:
        return Revoke(id);
      case 24:
        return Below(20) == 0 ? RotateTokenKey() : Revoke(id);
      case 15:
        return Admit(id);
      case 16:
        return Set();
      case 17:
        if (Below(200) == 0) Reset();
        return;
      default:
        // Short steps mostly, so that many things happen between two deadlines.
        return Advance(static_cast<int64_t>(Below(4) == 0 ? Below(3000) : Below(60)));
    }
  }

  void CompareAll() {
    world_.engine.check_invariants();
    const auto shown = Desk().Handle(protocol::RoomShowOperation{{kRoom}});
    const protocol::Counts& counts = std::get<protocol::RoomReply>(shown).counts;
    const protocol::Counts wanted = model_->counts();
    const auto total = [](const protocol::Counts& c) {
      return std::vector<uint64_t>{c.waiting,
                                   c.admitted,
                                   c.active,
                                   c.occupied,
                                   c.joined_total,
                                   c.admitted_total,
                                   c.claimed_total,
                                   c.completed_total,
                                   c.cancelled_total,
                                   c.no_show_total,
                                   c.expired_total,
                                   c.left_total,
                                   c.revoked_total,
                                   c.sold_units_total.value_or(0),
                                   c.oversold_units_total.value_or(0)};
    };
    REQUIRE_EQ(total(counts), total(wanted));
    const protocol::RoomSettings& settings = std::get<protocol::RoomReply>(shown).settings;
    REQUIRE(settings.stock == model_->settings().stock);
    REQUIRE_EQ(Page(Desk().Handle(protocol::PeekOperation{{kRoom, 0, 1000}})), model_->Line());
    REQUIRE_EQ(Page(Desk().Handle(protocol::InsideOperation{{kRoom, 0, 1000}})), model_->Inside());
  }

  void CompareReplay() { REQUIRE(DigestAfter(world_.log.records, 77) == world_.engine.digest()); }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  anteroom::Desk& Desk() { return world_.desk; }

  template <typename Answer>
  static std::vector<std::string> Page(const Answer& answer) {
    std::vector<std::string> ids;
    for (const auto& item : std::get<protocol::PageReply>(answer).items)
      ids.push_back(item.visitor);
    return ids;
  }

  // Only what the model knows: estimates and intervals are advice.
  void Same(const Answer<VisitorReply>& got, const VisitorResult& wanted) {
    if (wanted.refusal) {
      REQUIRE_EQ(got.index(), 1);
      const auto& refusal = std::get<protocol::Refusal>(got);
      REQUIRE_EQ(protocol::NameOf(refusal.error), protocol::NameOf(wanted.refusal->error));
      REQUIRE(refusal.reason == wanted.refusal->reason);
      return;
    }
    if (got.index() == 1) FAIL(std::get<protocol::Refusal>(got).message);
    const auto& reply = std::get<VisitorReply>(got);
    const VisitorReply& model = *wanted.reply;
    REQUIRE_EQ(protocol::NameOf(reply.state), protocol::NameOf(model.state));
    constexpr uint64_t kAbsent = UINT64_MAX;
    REQUIRE_EQ(reply.arrival.value_or(kAbsent), model.arrival.value_or(kAbsent));
    REQUIRE_EQ(reply.at_ms.value_or(kAbsent), model.at_ms.value_or(kAbsent));
    REQUIRE_EQ(reply.waiting.value_or(kAbsent), model.waiting.value_or(kAbsent));
    REQUIRE_EQ(reply.ahead.value_or(kAbsent), model.ahead.value_or(kAbsent));
    REQUIRE_EQ(reply.position.value_or(kAbsent), model.position.value_or(kAbsent));
    REQUIRE_EQ(reply.expires_in_ms.value_or(kAbsent), model.expires_in_ms.value_or(kAbsent));
    REQUIRE_EQ(reply.admission.value_or(kAbsent), model.admission.value_or(kAbsent));
    REQUIRE(reply.reason == model.reason);
    REQUIRE(reply.mode == model.mode);
    REQUIRE(reply.late == model.late);
    const bool inside =
        model.state == protocol::State::kAdmitted || model.state == protocol::State::kActive;
    REQUIRE_EQ(reply.token.has_value(), inside);
    if (inside) REQUIRE(*reply.token == TokenOf(*model.admission));
  }

  void Join(const std::string& id, bool enter) {
    constexpr uint8_t kLanes[] = {0, 128, 128, 128, 255};
    const uint8_t lane = kLanes[Below(std::size(kLanes))];
    const protocol::JoinRequest request{kRoom, id, lane};
    if (Below(4) == 0) LookAhead(request);
    Same(Desk().Handle(request, enter), model_->Join(id, lane, enter));
  }

  // As a turn's requests are looked up before the first of them is worked; it changes no answer.
  void LookAhead(const protocol::JoinRequest& request) {
    const std::string other = "visitor-" + std::to_string(Below(60));
    protocol::StatusManyRequest statuses;
    statuses.items = {{kRoom, other}, {"nowhere", other}, {kRoom, request.visitor}};
    const std::vector<protocol::Request> turn = {protocol::RoomShowOperation{{kRoom}},
                                                 protocol::StatusManyOperation{statuses},
                                                 protocol::JoinOperation{request}};
    Desk().Prefetch(turn);
    if (Below(2) == 0) return;  // a request may be refused before anybody is looked for
    Desk().Handle(protocol::StatusManyOperation{statuses});
    model_->Status(other);
    model_->Status(std::string(request.visitor));
  }

  // A token of this visitor, a token of somebody else or of nobody.
  void ShowToken(const std::string& id) {
    const std::vector<uint64_t> own = model_->AdmissionsOf(id);
    uint64_t admission = Below(counters_.next_admission + 5);
    if (!own.empty() && Below(8) != 0) admission = own[Below(own.size())];
    const protocol::Token token = TokenOf(admission);
    const protocol::TokenRequest request{kRoom, id, token.view()};
    switch (Below(4)) {
      case 0:
        return Same(Desk().Handle(protocol::VerifyOperation{request}),
                    model_->Verify(id, admission));
      case 1:
        return Same(Desk().Handle(protocol::ClaimOperation{request}), model_->Claim(id, admission));
      case 2:
        return Same(Desk().Handle(protocol::TouchOperation{request}), model_->Touch(id, admission));
      default:
        return Finish(id, admission);
    }
  }

  void Finish(const std::string& id, std::optional<uint64_t> admission) {
    const Outcome outcome = Below(2) == 0 ? Outcome::kCompleted : Outcome::kCancelled;
    protocol::FinishRequest request{kRoom, id, std::nullopt, outcome};
    protocol::Token token;
    if (admission) {
      token = TokenOf(*admission);
      request.token = token.view();
    }
    if (outcome == Outcome::kCompleted && Below(4) == 0) {
      request.units = static_cast<uint32_t>(1 + Below(3));
    }
    Same(Desk().Handle(protocol::FinishOperation{request}),
         model_->Finish(id, admission, outcome, request.units.value_or(1)));
  }

  void Revoke(const std::string& id) {
    std::optional<int64_t> block_ms;
    if (Below(2) == 0) block_ms = 1 + static_cast<int64_t>(Below(2000));
    Same(Desk().Handle(protocol::RevokeOperation{{kRoom, id, block_ms}}),
         model_->Revoke(id, block_ms));
  }

  void Admit(const std::string& id) {
    if (Below(2) == 0) {
      const bool over = Below(4) == 0;
      return Same(Desk().Handle(protocol::AdmitVisitorOperation{{kRoom, id, over}}),
                  model_->AdmitVisitor(id, over));
    }
    const auto count = static_cast<uint32_t>(1 + Below(4));
    const auto answer = Desk().Handle(protocol::AdmitOperation{{kRoom, count, std::nullopt}});
    const std::optional<uint32_t> admitted = model_->Admit(count);
    REQUIRE_EQ(answer.index(), admitted ? 0 : 1);
    if (admitted) REQUIRE_EQ(std::get<protocol::AdmitReply>(answer).count, *admitted);
  }

  protocol::Token TokenOf(uint64_t admission) const {
    return PlainTokens::Of(admission, std::prev(token_keys_.upper_bound(admission))->second);
  }

  void RotateTokenKey() {
    const uint32_t key_id = ++last_token_key_;
    const auto answer = Desk().UseTokenKey(key_id);
    REQUIRE_EQ(answer.index(), 0);
    REQUIRE_EQ(std::get<protocol::TokenKeyReply>(answer).first_admission, counters_.next_admission);
    token_keys_[counters_.next_admission] = key_id;
  }

  Rate SomeRate() {
    constexpr Rate kRates[] = {{0, 0}, {0, 1000}, {2, 1000}, {50, 1000}, {90, 60'000}, {7, 1000}};
    return kRates[Below(std::size(kRates))];
  }

  // Never a change of a stock that is not there, nor one that takes more than is left.
  protocol::Stock SomeStock() {
    const std::optional<protocol::Stock> now =
        model_ ? model_->settings().stock : std::optional<protocol::Stock>();
    if (now && !now->none() && Below(3) > 0) {
      if (now->units > 0 && Below(3) == 0) {
        return {1 + Below(now->units), protocol::Stock::kTake};
      }
      return {1 + Below(5), protocol::Stock::kAdd};
    }
    return {Below(3) == 0 ? protocol::Stock::kNone : Below(15)};
  }

  protocol::RoomSettings SomeSettings() {
    protocol::RoomSettings settings;
    const auto some_ms = [&] { return Duration{1 + static_cast<int64_t>(Below(3000))}; };
    switch (Below(13)) {
      case 11:
        settings.stock = SomeStock();
        break;
      case 12:
        settings.stock_oversubscribe = protocol::Factor{
            Below(2) == 0 ? protocol::Factor::kOne : static_cast<uint32_t>(1000 + Below(1500))};
        break;
      case 0:
        settings.mode = static_cast<Mode>(1 + Below(4));
        break;
      case 1:
        settings.mode = Mode::kQueue;
        break;
      case 2:
        settings.rate = SomeRate();
        break;
      case 3:
        settings.admit_interval = Duration{Below(2) == 0 ? 20 : 1000};
        break;
      case 4:
        settings.capacity = Limit{Below(4) == 0 ? Limit::kNone : Below(8)};
        break;
      case 5:
        settings.claim_ttl = some_ms();
        break;
      case 6:
        settings.no_show = Below(2) == 0 ? protocol::NoShow::kEnd : protocol::NoShow::kRequeue;
        settings.requeue_max = static_cast<uint8_t>(Below(3));
        break;
      case 7:
        settings.session_ttl = some_ms();
        settings.session_renewal =
            Below(2) == 0 ? protocol::Renewal::kSliding : protocol::Renewal::kFixed;
        break;
      case 8:
        settings.waiting_ttl = Below(3) == 0 ? Duration{} : some_ms();
        break;
      case 9:
        settings.max_waiting = Limit{Below(2) == 0 ? Limit::kNone : Below(12)};
        break;
      default:
        settings.remember_ttl = Duration{1000 + static_cast<int64_t>(Below(4000))};
    }
    return settings;
  }

  void Set() {
    const protocol::RoomSettings said = SomeSettings();
    const auto answer = Desk().Handle(protocol::RoomSetOperation{{kRoom, said, std::nullopt}});
    REQUIRE_EQ(answer.index(), 0);
    model_->Set(said);
    Advance(0);  // the sweep that a new waiting_ttl starts
  }

  void Reset() {
    REQUIRE_EQ(Desk().Handle(protocol::RoomResetOperation{{kRoom}}).index(), 0);
    model_->Reset();
    Advance(0);
  }

  void Advance(int64_t duration_ms) {
    world_.Advance(duration_ms, [&](int64_t turn_ms) {
      REQUIRE_GE(model_->NextDue(), turn_ms);  // the desk slept through nothing
      model_->PassTo(turn_ms);
    });
  }

  std::mt19937_64 random_;
  DeskWorld world_;
  ReferenceCounters counters_;
  std::map<uint64_t, uint32_t> token_keys_ = {{0, kFirstTokenKey}};  // by first admission
  uint32_t last_token_key_ = 0;
  std::optional<ReferenceRoom> model_;
};

TEST_CASE("engine: a million random operations answer as the plain model does") {
  constexpr int kRuns = kSampled ? 20 : 100;
  constexpr int kSteps = 10'000;
  std::mt19937_64 seeds(TestSeed());
  for (int run = 0; run < kRuns; ++run) {
    ModelRun model(seeds());
    for (int step = 0; step < kSteps; ++step) {
      CAPTURE(run);
      CAPTURE(step);
      model.Step();
      if (step % 500 == 0) model.CompareAll();
    }
    model.CompareAll();
    model.CompareReplay();
  }
}

}  // namespace
}  // namespace anteroom
