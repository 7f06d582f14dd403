#include "tests/support/reference_room.h"

#include <algorithm>
#include <tuple>

namespace anteroom {

using protocol::ErrorCode;
using protocol::Mode;
using protocol::NoShow;
using protocol::Outcome;
using protocol::Reason;
using protocol::Refuse;
using protocol::Renewal;
using protocol::State;
using protocol::VisitorReply;

namespace {

ReferenceRoom::Answer No(ErrorCode error) {
  ReferenceRoom::Answer answer;
  answer.refusal = Refuse(error, "");
  return answer;
}

bool RanOut(Reason reason) {
  return reason == Reason::kExpired || reason == Reason::kNoShow;
}

}  // namespace

ReferenceRoom::ReferenceRoom(ReferenceCounters* counters, const protocol::RoomSettings& settings,
                             int64_t now_ms)
    : counters_(*counters), settings_(protocol::DefaultSettings()), now_ms_(now_ms) {
  Set(settings);
}

// ---- limits ----

uint64_t ReferenceRoom::Occupied() const {
  return static_cast<uint64_t>(std::count_if(people_.begin(), people_.end(), [](const auto& one) {
    return one.second.state != State::kWaiting;
  }));
}
uint64_t ReferenceRoom::Waiting() const {
  return people_.size() - Occupied();
}
uint64_t ReferenceRoom::SlotsOf(const protocol::RoomSettings& settings) {
  uint64_t slots = settings.capacity.value_or(protocol::Limit{}).value;
  if (settings.stock && !settings.stock->none()) {
    const uint64_t milli = settings.stock_oversubscribe.value_or(protocol::Factor{}).milli;
    slots = std::min(slots, settings.stock->units * milli / 1000);
  }
  return slots;
}
bool ReferenceRoom::HasSlot() const {
  return Occupied() < SlotsOf(settings_);
}
bool ReferenceRoom::SoldOut() const {
  return settings_.stock && settings_.stock->units == 0;
}
void ReferenceRoom::Sell(uint32_t units) {
  if (!settings_.stock || settings_.stock->none()) return;
  const uint64_t sold = std::min<uint64_t>(units, settings_.stock->units);
  settings_.stock->units -= sold;
  totals_.sold_units_total = totals_.sold_units_total.value_or(0) + sold;
  totals_.oversold_units_total = totals_.oversold_units_total.value_or(0) + units - sold;
}
bool ReferenceRoom::Admits() const {
  return settings_.mode == Mode::kQueue || settings_.mode == Mode::kPassthrough;
}
bool ReferenceRoom::Rated() const {
  return settings_.mode == Mode::kQueue && settings_.rate && !settings_.rate->none();
}

void ReferenceRoom::Fill() {
  if (!bucket_made_) return;
  level_ = std::min(
      2 * depth_, level_ + static_cast<uint64_t>(now_ms_ - filled_at_ms_) * settings_.rate->count);
  filled_at_ms_ = now_ms_;
}

void ReferenceRoom::PumpEvent() {
  Fill();
  while (Admits() && Waiting() > 0 && HasSlot()) {
    if (Rated()) {
      if (settings_.rate->count == 0 || level_ < settings_.rate->per_ms) return;
      level_ -= settings_.rate->per_ms;
    }
    LetIn(First());
  }
}

void ReferenceRoom::PumpTime() {
  Fill();
  if (Rated() && level_ >= depth_) PumpEvent();
}

// ---- time ----

int64_t ReferenceRoom::NextDue() const {
  int64_t next_ms = kNever;
  for (const auto& [id, person] : people_) next_ms = std::min(next_ms, person.deadline_ms);
  for (const Ended& ended : ended_) next_ms = std::min(next_ms, ended.forget_at_ms);
  for (const auto& [id, until_ms] : blocked_until_ms_) next_ms = std::min(next_ms, until_ms);
  if (Rated() && settings_.rate->count > 0 && Waiting() > 0 && HasSlot()) {
    const uint64_t missing = depth_ > level_ ? depth_ - level_ : 0;
    next_ms = std::min(next_ms,
                       filled_at_ms_ + static_cast<int64_t>((missing + settings_.rate->count - 1) /
                                                            settings_.rate->count));
  }
  return next_ms;
}

void ReferenceRoom::PassTo(int64_t now_ms) {
  now_ms_ = now_ms;
  // First what frees a slot, then the rate, then those who were not heard from.
  std::vector<std::tuple<bool, int64_t, uint64_t, std::string>> due;
  for (const auto& [id, person] : people_) {
    if (person.deadline_ms > now_ms) continue;
    const bool soft = person.state == State::kWaiting || person.sliding;
    due.emplace_back(soft, person.deadline_ms, soft ? person.arrival : person.admission, id);
  }
  std::sort(due.begin(), due.end());
  bool rate_done = false;
  for (const auto& [soft, deadline_ms, sequence, id] : due) {
    if (soft && !rate_done) {
      PumpTime();
      rate_done = true;
    }
    const auto person = people_.find(id);
    if (person == people_.end() || person->second.deadline_ms > now_ms) continue;
    switch (person->second.state) {
      case State::kWaiting:
        End(person, Reason::kLeft);
        continue;
      case State::kActive:
        End(person, Reason::kExpired);
        break;
      default:
        if (settings_.no_show == NoShow::kRequeue &&
            person->second.requeues < *settings_.requeue_max) {
          Person& missed = person->second;
          Remember(id, missed, missed.admission, Reason::kNoShow);
          ++totals_.no_show_total;
          missed.state = State::kWaiting;
          missed.arrival = counters_.next_arrival++;
          missed.at_ms = now_ms_;
          ++missed.requeues;
          Hear(missed);
        } else {
          End(person, Reason::kNoShow);
        }
    }
    PumpEvent();
  }
  if (!rate_done) PumpTime();
  std::erase_if(ended_, [&](const Ended& one) { return one.forget_at_ms <= now_ms_; });
  std::erase_if(blocked_until_ms_, [&](const auto& one) { return one.second <= now_ms_; });
}

// ---- transitions ----

ReferenceRoom::People::iterator ReferenceRoom::First() {
  auto first = people_.end();
  for (auto one = people_.begin(); one != people_.end(); ++one) {
    if (one->second.state != State::kWaiting) continue;
    if (first == people_.end() || std::tie(one->second.lane, one->second.arrival) <
                                      std::tie(first->second.lane, first->second.arrival)) {
      first = one;
    }
  }
  return first;
}

void ReferenceRoom::LetIn(People::iterator person) {
  Person& one = person->second;
  one.state = State::kAdmitted;
  one.admission = counters_.next_admission++;
  one.at_ms = now_ms_;
  one.deadline_ms = now_ms_ + settings_.claim_ttl->ms;
  one.sliding = false;
  ++totals_.admitted_total;
}

void ReferenceRoom::Begin(Person& person) {
  person.state = State::kActive;
  person.at_ms = now_ms_;
  person.sliding = settings_.session_renewal == Renewal::kSliding;
  person.deadline_ms = now_ms_ + settings_.session_ttl->ms;
  ++totals_.claimed_total;
}

void ReferenceRoom::Remember(const std::string& id, const Person& person, uint64_t admission,
                             Reason reason) {
  ended_.push_back({id, person.arrival, admission, reason, now_ms_,
                    now_ms_ + settings_.remember_ttl->ms, false});
}

void ReferenceRoom::End(People::iterator person, Reason reason) {
  const auto& [id, one] = *person;
  Remember(id, one, one.state == State::kWaiting ? 0 : one.admission, reason);
  switch (reason) {
    case Reason::kCompleted:
      ++totals_.completed_total;
      break;
    case Reason::kCancelled:
      ++totals_.cancelled_total;
      break;
    case Reason::kExpired:
      ++totals_.expired_total;
      break;
    case Reason::kNoShow:
      ++totals_.no_show_total;
      break;
    case Reason::kLeft:
      ++totals_.left_total;
      break;
    default:
      ++totals_.revoked_total;
  }
  people_.erase(person);
}

void ReferenceRoom::Hear(Person& person) {
  if (person.state == State::kWaiting) {
    person.deadline_ms =
        settings_.waiting_ttl->none() ? kNever : now_ms_ + settings_.waiting_ttl->ms;
  } else if (person.state == State::kActive && person.sliding) {
    person.deadline_ms = now_ms_ + settings_.session_ttl->ms;
  }
}

// ---- answers ----

ReferenceRoom::Ended* ReferenceRoom::NewestEnded(const std::string& id) {
  for (auto one = ended_.rbegin(); one != ended_.rend(); ++one) {
    if (one->id == id) return &*one;
  }
  return nullptr;
}

ReferenceRoom::Ended* ReferenceRoom::NewestAdmissionEnded(const std::string& id) {
  for (auto one = ended_.rbegin(); one != ended_.rend(); ++one) {
    if (one->id == id && one->admission != 0) return &*one;
  }
  return nullptr;
}

const ReferenceRoom::Ended* ReferenceRoom::EndedWith(const std::string& id,
                                                     uint64_t admission) const {
  for (const Ended& one : ended_) {
    if (one.id == id && one.admission == admission && admission != 0) return &one;
  }
  return nullptr;
}

std::vector<uint64_t> ReferenceRoom::AdmissionsOf(const std::string& id) const {
  std::vector<uint64_t> admissions;
  if (const auto found = people_.find(id); found != people_.end() && found->second.admission != 0) {
    admissions.push_back(found->second.admission);
  }
  for (const Ended& one : ended_) {
    if (one.id == id && one.admission != 0) admissions.push_back(one.admission);
  }
  return admissions;
}

ReferenceRoom::Answer ReferenceRoom::Describe(const Ended& ended) {
  Answer answer;
  VisitorReply& reply = answer.reply.emplace();
  reply.state = State::kEnded;
  reply.reason = ended.reason;
  reply.arrival = ended.arrival;
  if (ended.admission != 0) reply.admission = ended.admission;
  reply.at_ms = static_cast<uint64_t>(ended.at_ms);
  if (ended.late) reply.late = true;
  return answer;
}

ReferenceRoom::Answer ReferenceRoom::Describe(const std::string& id) const {
  const Person& person = people_.at(id);
  Answer answer;
  VisitorReply& reply = answer.reply.emplace();
  reply.state = person.state;
  reply.mode = settings_.mode;
  reply.arrival = person.arrival;
  reply.at_ms = static_cast<uint64_t>(person.at_ms);
  if (person.state == State::kWaiting) {
    const std::vector<std::string> line = Line();
    reply.ahead = static_cast<uint64_t>(std::find(line.begin(), line.end(), id) - line.begin());
    reply.position = *reply.ahead + 1;
    reply.waiting = line.size();
    if (settings_.mode == Mode::kPaused) reply.reason = Reason::kPaused;
    if (SoldOut()) reply.reason = Reason::kSoldOut;
    if (settings_.mode == Mode::kClosed) reply.reason = Reason::kClosed;
  } else {
    reply.admission = person.admission;
    reply.expires_in_ms = static_cast<uint64_t>(person.deadline_ms - now_ms_);
  }
  return answer;
}

ReferenceRoom::Answer ReferenceRoom::Present(const std::string& id) {
  if (people_.contains(id)) return Describe(id);
  if (const Ended* ended = NewestEnded(id); ended != nullptr) return Describe(*ended);
  return No(ErrorCode::kNotFound);
}

bool ReferenceRoom::Holds(const std::string& id, uint64_t admission) const {
  const auto found = people_.find(id);
  return found != people_.end() && found->second.state != State::kWaiting &&
         found->second.admission == admission;
}

ReferenceRoom::Answer ReferenceRoom::NotCurrent(const std::string& id, uint64_t admission) const {
  const Ended* ended = EndedWith(id, admission);
  if (ended == nullptr) return No(ErrorCode::kBadToken);
  Answer answer = No(ErrorCode::kExpired);
  answer.refusal->reason = ended->reason;
  return answer;
}

// ---- operations ----

ReferenceRoom::Answer ReferenceRoom::Join(const std::string& id, uint8_t lane, bool enter) {
  if (const auto found = people_.find(id); found != people_.end()) {
    if (enter && found->second.state == State::kAdmitted) {
      Begin(found->second);
    } else if (found->second.state == State::kWaiting) {
      Hear(found->second);
    }
    return Describe(id);
  }
  if (settings_.mode == Mode::kClosed) return No(ErrorCode::kClosed);
  if (SoldOut()) return No(ErrorCode::kSoldOut);
  if (blocked_until_ms_.contains(id)) return No(ErrorCode::kBlocked);
  const bool line_was_empty = Waiting() == 0;
  Fill();
  const bool at_once =
      line_was_empty && Admits() && HasSlot() &&
      (!Rated() || (settings_.rate->count > 0 && level_ >= settings_.rate->per_ms));
  if (!at_once && Waiting() >= settings_.max_waiting->value) return No(ErrorCode::kLineFull);
  Person& person = people_[id];
  person.lane = lane;
  person.arrival = counters_.next_arrival++;
  person.at_ms = now_ms_;
  Hear(person);
  ++totals_.joined_total;
  if (line_was_empty) PumpEvent();
  if (enter && people_.at(id).state == State::kAdmitted) Begin(people_.at(id));
  return Describe(id);
}

ReferenceRoom::Answer ReferenceRoom::Status(const std::string& id) {
  if (const auto found = people_.find(id);
      found != people_.end() && found->second.state == State::kWaiting) {
    Hear(found->second);
  }
  return Present(id);
}

ReferenceRoom::Answer ReferenceRoom::Leave(const std::string& id) {
  if (const auto found = people_.find(id); found != people_.end()) {
    if (found->second.state == State::kActive) return No(ErrorCode::kConflict);
    const bool inside = found->second.state == State::kAdmitted;
    End(found, Reason::kLeft);
    if (inside) PumpEvent();
  }
  return Present(id);
}

ReferenceRoom::Answer ReferenceRoom::Verify(const std::string& id, uint64_t admission) const {
  return Holds(id, admission) ? Describe(id) : NotCurrent(id, admission);
}

ReferenceRoom::Answer ReferenceRoom::Claim(const std::string& id, uint64_t admission) {
  if (!Holds(id, admission)) return NotCurrent(id, admission);
  Person& person = people_.at(id);
  if (person.state == State::kAdmitted) {
    Begin(person);
  } else {
    Hear(person);
  }
  return Describe(id);
}

ReferenceRoom::Answer ReferenceRoom::Touch(const std::string& id, uint64_t admission) {
  if (!Holds(id, admission)) return NotCurrent(id, admission);
  if (people_.at(id).state == State::kAdmitted) return No(ErrorCode::kConflict);
  Hear(people_.at(id));
  return Describe(id);
}

ReferenceRoom::Answer ReferenceRoom::Finish(const std::string& id,
                                            std::optional<uint64_t> admission, Outcome outcome,
                                            uint32_t units) {
  const auto found = people_.find(id);
  const bool present = found != people_.end();
  const bool inside = present && found->second.state != State::kWaiting;
  const Ended* ended = nullptr;
  if (admission) {
    if (!Holds(id, *admission)) {
      ended = EndedWith(id, *admission);
      if (ended == nullptr) return No(ErrorCode::kBadToken);
    }
  } else if (present && !inside) {
    ended = NewestAdmissionEnded(id);
    if (ended == nullptr) return No(ErrorCode::kConflict);
  } else if (!present) {
    ended = NewestEnded(id);
    if (ended == nullptr) return No(ErrorCode::kNotFound);
  }
  if (ended != nullptr) {
    Ended& one = const_cast<Ended&>(*ended);
    // Somebody who was never let in has nothing that could be completed.
    if (outcome == Outcome::kCompleted && RanOut(one.reason)) {
      one.reason = Reason::kCompleted;
      one.late = true;
      ++totals_.completed_total;
      Sell(units);
    }
    return Describe(one);
  }
  if (outcome == Outcome::kCompleted) Sell(units);
  End(found, outcome == Outcome::kCompleted ? Reason::kCompleted : Reason::kCancelled);
  const Ended done = ended_.back();
  PumpEvent();
  return Describe(done);
}

ReferenceRoom::Answer ReferenceRoom::Revoke(const std::string& id,
                                            std::optional<int64_t> block_ms) {
  if (block_ms) blocked_until_ms_[id] = now_ms_ + *block_ms;
  if (const auto found = people_.find(id); found != people_.end()) {
    const bool inside = found->second.state != State::kWaiting;
    End(found, Reason::kRevoked);
    if (inside) PumpEvent();
  }
  Answer answer = Present(id);
  if (answer.refusal && block_ms) {
    answer.refusal.reset();
    answer.reply.emplace().state = State::kEnded;
    answer.reply->reason = Reason::kRevoked;
  }
  return answer;
}

ReferenceRoom::Answer ReferenceRoom::AdmitVisitor(const std::string& id, bool over) {
  const auto found = people_.find(id);
  if (found != people_.end() && found->second.state != State::kWaiting) return Describe(id);
  if (settings_.mode == Mode::kClosed) return No(ErrorCode::kClosed);
  if (found == people_.end() && blocked_until_ms_.contains(id)) return No(ErrorCode::kBlocked);
  if (!over && !HasSlot()) return No(ErrorCode::kNoSlot);
  if (found == people_.end()) {
    Person& person = people_[id];
    person.lane = protocol::kLaneDefault;
    person.arrival = counters_.next_arrival++;
    ++totals_.joined_total;
  }
  LetIn(people_.find(id));
  return Describe(id);
}

std::optional<uint32_t> ReferenceRoom::Admit(uint32_t count) {
  if (settings_.mode == Mode::kClosed) return std::nullopt;
  uint32_t admitted = 0;
  for (; admitted < count && Waiting() > 0 && HasSlot(); ++admitted) LetIn(First());
  return admitted;
}

void ReferenceRoom::Set(const protocol::RoomSettings& said) {
  Fill();
  const protocol::RoomSettings before = settings_;
  protocol::Overlay(said, &settings_);
  if (said.stock && said.stock->relative()) {
    const uint64_t units = before.stock->units;
    settings_.stock =
        protocol::Stock{said.stock->change == protocol::Stock::kAdd ? units + said.stock->units
                                                                    : units - said.stock->units};
  }
  if (!settings_.rate || settings_.rate->none()) {
    bucket_made_ = false;
  } else if (!bucket_made_ || settings_.rate != before.rate ||
             settings_.admit_interval != before.admit_interval) {
    depth_ = std::max<uint64_t>(
        settings_.rate->per_ms,
        uint64_t{settings_.rate->count} * static_cast<uint64_t>(settings_.admit_interval->ms));
    level_ = bucket_made_
                 ? std::min(level_ * (settings_.rate->per_ms / 1000) / (before.rate->per_ms / 1000),
                            2 * depth_)
                 : 2 * depth_;
    bucket_made_ = true;
    filled_at_ms_ = now_ms_;
  }
  if (before.waiting_ttl && before.waiting_ttl->none()) {
    for (auto& [id, person] : people_) {
      if (person.state == State::kWaiting && person.deadline_ms == kNever) Hear(person);
    }
  }
  // Saying `none` where nothing was said changes no limit.
  if (settings_.rate != before.rate || settings_.admit_interval != before.admit_interval ||
      SlotsOf(settings_) != SlotsOf(before) || settings_.mode != before.mode) {
    PumpEvent();
  }
}

void ReferenceRoom::Reset() {
  Fill();
  people_.clear();
  ended_.clear();
  blocked_until_ms_.clear();
  totals_ = {};
}

protocol::Counts ReferenceRoom::counts() const {
  protocol::Counts counts = totals_;
  counts.waiting = Waiting();
  counts.occupied = Occupied();
  for (const auto& [id, person] : people_) {
    counts.admitted += person.state == State::kAdmitted;
    counts.active += person.state == State::kActive;
  }
  return counts;
}

std::vector<std::string> ReferenceRoom::Line() const {
  std::vector<std::tuple<uint8_t, uint64_t, std::string>> keyed;
  for (const auto& [id, person] : people_) {
    if (person.state == State::kWaiting) keyed.emplace_back(person.lane, person.arrival, id);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::string> line;
  line.reserve(keyed.size());
  for (const auto& [lane, arrival, id] : keyed) line.push_back(id);
  return line;
}

std::vector<std::string> ReferenceRoom::Inside() const {
  std::map<uint64_t, std::string> by_admission;
  for (const auto& [id, person] : people_) {
    if (person.state != State::kWaiting) by_admission[person.admission] = id;
  }
  std::vector<std::string> inside;
  inside.reserve(by_admission.size());
  for (const auto& [admission, id] : by_admission) inside.push_back(id);
  return inside;
}

}  // namespace anteroom
