// Who is let in when: rate, capacity and the order of the line meet here.

#include <algorithm>
#include <utility>

#include "server/base/limits.h"
#include "server/engine/engine.h"

namespace anteroom {

void Engine::Pump(Room& room, Cause cause, Effects* effects) {
  if (room.dropped) return;
  if (!room.line.empty() && room.policy.admits() && room.has_free_slot()) {
    uint64_t allowed = std::min(room.policy.slots() - room.occupied(), room.line.size());
    const bool rated = room.policy.rated();
    if (rated) {
      room.bucket.Fill(now_ms_);
      allowed = std::min(allowed,
                         cause == Cause::kEvent ? room.bucket.ForEvent() : room.bucket.ForTime());
      Touch(room);
    }
    const uint64_t admitted = std::min<uint64_t>(allowed, admissions_left_);
    if (rated) room.bucket.Spend(admitted);
    admissions_left_ -= admitted;
    for (uint64_t i = 0; i < admitted; ++i) LetIn(room, room.line.First(), effects);
    if (admitted < allowed && !room.pump_pending) {
      room.pump_pending = true;
      pump_pending_.push_back(room.number);
    }
  }
  SetBucketTimer(room);
}

void Engine::PumpPending(Effects* effects) {
  // Each room once: a room that is not done yet puts itself at the end again.
  for (size_t left = pump_pending_.size(); left > 0 && admissions_left_ > 0; --left) {
    const uint32_t number = pump_pending_.front();
    pump_pending_.pop_front();
    const auto found = rooms_.find(number);
    if (found == rooms_.end()) continue;
    found->second->pump_pending = false;
    Pump(*found->second, Cause::kEvent, effects);
  }
}

void Engine::SetBucketTimer(Room& room) {
  int64_t wanted_ms = kNever;
  if (!room.line.empty() && room.policy.rated() && room.has_free_slot() && !room.pump_pending) {
    room.bucket.Fill(now_ms_);
    wanted_ms = room.bucket.NextAtMs();
    Touch(room);
  }
  if (room.bucket_timer != 0) {
    if (timers_.DeadlineOf(room.bucket_timer) == wanted_ms) return;
    timers_.Cancel(std::exchange(room.bucket_timer, 0));
  }
  if (wanted_ms != kNever) {
    room.bucket_timer = timers_.Set(TimerKind::kBucket, room.number, wanted_ms, room.number);
  }
}

}  // namespace anteroom
