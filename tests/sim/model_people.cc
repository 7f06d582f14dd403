// One visitor's way, and who is let in when.

#include <algorithm>

#include "server/base/check.h"
#include "server/base/limits.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

using protocol::Reason;
using protocol::Renewal;
using protocol::State;

uint64_t ModelRoom::active() const {
  return static_cast<uint64_t>(std::count_if(inside.begin(), inside.end(), [&](uint32_t visitor) {
    return people[visitor].state == State::kActive;
  }));
}

uint64_t ModelRoom::AheadOf(uint32_t visitor) const {
  return static_cast<uint64_t>(std::find(line.begin(), line.end(), visitor) - line.begin());
}

uint64_t ModelRoom::EnteredBefore(uint8_t lane) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < kLanes.size() && kLanes[i] < lane; ++i) sum += entered[i];
  return sum;
}

void Model::StandInLine(ModelRoom& room, uint32_t visitor) {
  Person& person = room.people[visitor];
  person.present = true;
  person.state = State::kWaiting;
  person.arrival = next_arrival_++;
  person.at_ms = now_ms_;
  person.deadline_ms = kNever;
  // Behind everybody of the lane.
  const auto behind = std::find_if(room.line.begin(), room.line.end(), [&](uint32_t other) {
    return room.people[other].lane > person.lane;
  });
  room.line.insert(behind, visitor);
  const auto lane = std::find(kLanes.begin(), kLanes.end(), person.lane);
  CHECK(lane != kLanes.end());
  ++room.entered[static_cast<size_t>(lane - kLanes.begin())];
}

void Model::AddWaiting(ModelRoom& room, uint32_t visitor, uint8_t lane, Changes* changes) {
  room.people[visitor] = Person{};
  room.people[visitor].lane = lane;
  StandInLine(room, visitor);
  ++room.totals.joined;
  changes->push_back({room.number, visitor, State::kWaiting});
}

void Model::LetIn(ModelRoom& room, uint32_t visitor, Changes* changes) {
  Person& person = room.people[visitor];
  room.line.erase(std::find(room.line.begin(), room.line.end(), visitor));
  room.inside.push_back(visitor);
  person.state = State::kAdmitted;
  person.admission = next_admission_++;
  person.at_ms = now_ms_;
  person.sliding = false;
  person.deadline_ms = now_ms_ + room.settings.claim_ttl->ms;
  due_.insert(Due{person.deadline_ms, Kind::kSession, person.admission, room.number, visitor});
  ++room.totals.admitted;
  changes->push_back({room.number, visitor, State::kAdmitted});
}

void Model::Begin(ModelRoom& room, uint32_t visitor, Changes* changes) {
  Person& person = room.people[visitor];
  due_.erase(Due{person.deadline_ms, Kind::kSession, person.admission, room.number, visitor});
  person.state = State::kActive;
  person.at_ms = now_ms_;
  person.sliding = *room.settings.session_renewal == Renewal::kSliding;
  person.deadline_ms = kNever;
  if (!person.sliding) {
    person.deadline_ms = now_ms_ + room.settings.session_ttl->ms;
    due_.insert(Due{person.deadline_ms, Kind::kSession, person.admission, room.number, visitor});
  }
  ++room.totals.claimed;
  changes->push_back({room.number, visitor, State::kActive});
}

void Model::LeaveInside(ModelRoom& room, uint32_t visitor) {
  const Person& person = room.people[visitor];
  due_.erase(Due{person.deadline_ms, Kind::kSession, person.admission, room.number, visitor});
  room.inside.erase(std::find(room.inside.begin(), room.inside.end(), visitor));
}

void Model::End(ModelRoom& room, uint32_t visitor, Reason reason, Changes* changes) {
  const Person person = room.people[visitor];
  if (person.waiting()) {
    room.line.erase(std::find(room.line.begin(), room.line.end(), visitor));
  } else {
    LeaveInside(room, visitor);
  }
  switch (reason) {
    case Reason::kCompleted:
      ++room.totals.completed;
      break;
    case Reason::kCancelled:
      ++room.totals.cancelled;
      break;
    case Reason::kExpired:
      ++room.totals.expired;
      break;
    case Reason::kNoShow:
      ++room.totals.no_show;
      break;
    case Reason::kLeft:
      ++room.totals.left;
      break;
    default:
      ++room.totals.revoked;
  }
  Remember(room, visitor, person.waiting() ? 0 : person.admission, reason);
  room.people[visitor] = Person{};
  changes->push_back({room.number, visitor, State::kEnded});
}

void Model::EndAndPump(ModelRoom& room, uint32_t visitor, Reason reason, Changes* changes) {
  const bool frees_slot = room.people[visitor].inside();
  End(room, visitor, reason, changes);
  if (frees_slot) Pump(room, false, changes);
}

void Model::Requeue(ModelRoom& room, uint32_t visitor, Changes* changes) {
  Remember(room, visitor, room.people[visitor].admission, Reason::kNoShow);
  LeaveInside(room, visitor);
  ++room.people[visitor].requeues;
  ++room.totals.no_show;
  StandInLine(room, visitor);
  changes->push_back({room.number, visitor, State::kWaiting});
}

void Model::Remember(ModelRoom& room, uint32_t visitor, uint64_t admission, Reason reason) {
  const Person& person = room.people[visitor];
  std::vector<Ended>& ended = room.ended[visitor];
  ended.push_back({next_memory_++, person.lane, person.arrival, admission, reason, false, now_ms_,
                   now_ms_ + room.settings.remember_ttl->ms});
  due_.insert(
      Due{ended.back().forget_at_ms, Kind::kMemory, ended.back().sequence, room.number, visitor});
}

// ---- rate and capacity ----

void Model::Fill(ModelRoom& room, int64_t now_ms) const {
  Bucket& bucket = room.bucket;
  if (!bucket.made) return;
  bucket.level = std::min(2 * bucket.depth,
                          bucket.level + static_cast<uint64_t>(now_ms - bucket.filled_at_ms) *
                                             room.settings.rate->count);
  bucket.filled_at_ms = now_ms;
}

// Time alone spends once a whole depth is there, an event whatever is.
void Model::Pump(ModelRoom& room, bool by_time, Changes* changes) {
  if (room.dropped) return;
  Fill(room, now_ms_);
  const bool waits_for_depth = by_time && room.Rated() && room.bucket.level < room.bucket.depth;
  while (!waits_for_depth && !room.line.empty() && room.Admits() && room.HasSlot() &&
         room.Affords()) {
    if (admissions_left_ == 0) {
      if (!room.pump_pending) pump_pending_.push_back(room.number);
      room.pump_pending = true;
      break;
    }
    --admissions_left_;
    if (room.Rated()) room.bucket.level -= room.settings.rate->per_ms;
    LetIn(room, room.line.front(), changes);
  }
  SetBucketDue(room);
}

void Model::SetBucketDue(ModelRoom& room) {
  int64_t wanted_ms = kNever;
  if (!room.line.empty() && room.Rated() && room.HasSlot() && !room.pump_pending &&
      room.settings.rate->count > 0) {
    const uint64_t missing = room.bucket.depth - std::min(room.bucket.depth, room.bucket.level);
    const uint64_t count = room.settings.rate->count;
    wanted_ms = now_ms_ + static_cast<int64_t>((missing + count - 1) / count);
  }
  if (wanted_ms == room.bucket_due_ms) return;
  due_.erase(Due{room.bucket_due_ms, Kind::kBucket, room.number, room.number, 0});
  room.bucket_due_ms = wanted_ms;
  if (wanted_ms != kNever) {
    due_.insert(Due{wanted_ms, Kind::kBucket, room.number, room.number, 0});
  }
}

}  // namespace anteroom::sim
