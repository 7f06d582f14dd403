// What time alone does: deadlines, and the freeing of what dropped rooms have left.

#include <algorithm>
#include <utility>

#include "server/base/canary.h"
#include "server/base/limits.h"
#include "server/engine/engine.h"

namespace anteroom {

using protocol::NoShow;
using protocol::Reason;

void Engine::DoDue(Effects* effects) {
  due_.clear();
  const int64_t early_ms = ANTEROOM_CANARY(kExpiryEarly) ? 1 : 0;
  timers_.PopDue(now_ms_ + early_ms, limits::kDuePerRecordMax, &due_);
  // They are out of the wheel: whoever holds one forgets it first, since handling one of them may
  // set the timer of another anew.
  for (const DueTimer& timer : due_) {
    switch (timer.kind) {
      case TimerKind::kSession:
        roster_.sessions()[timer.target].timer = 0;
        break;
      case TimerKind::kMemory:
        memories_[timer.target].timer = 0;
        break;
      case TimerKind::kBlock:
        blocks_[timer.target].timer = 0;
        break;
      case TimerKind::kBucket:
        rooms_.find(timer.target)->second->bucket_timer = 0;
        break;
    }
  }
  for (const DueTimer& timer : due_) {
    switch (timer.kind) {
      case TimerKind::kSession:
        EndOfSession(timer.target, effects);
        break;
      case TimerKind::kMemory:
        Forget(*rooms_.find(memories_[timer.target].room)->second, timer.target);
        break;
      case TimerKind::kBlock:
        Unblock(*rooms_.find(blocks_[timer.target].room)->second, timer.target);
        break;
      case TimerKind::kBucket:
        Pump(*rooms_.find(timer.target)->second, Cause::kTime, effects);
        break;
    }
  }
}

void Engine::EndOfSession(uint32_t session, Effects* effects) {
  const uint32_t handle = roster_.sessions()[session].visitor;
  Visitor& visitor = roster_[handle];
  Room& room = *rooms_.find(visitor.room)->second;
  if (room.dropped) return;  // FreeDropped comes to it
  if (visitor.active()) {
    EndAndPump(room, handle, Reason::kExpired, effects);
  } else if (room.policy.no_show == NoShow::kRequeue &&
             visitor.requeues < room.policy.requeue_max) {
    Requeue(room, handle, effects);
    Pump(room, Cause::kEvent, effects);
  } else {
    EndAndPump(room, handle, Reason::kNoShow, effects);
  }
}

void Engine::FreeDropped() {
  size_t left = limits::kFreedPerRecordMax;
  while (left > 0 && !dropped_.empty()) {
    const auto found = rooms_.find(dropped_.front());
    left -= FreeSome(*found->second, left);
    if (left == 0) return;
    dropped_.pop_front();
    admit_key_count_ -= found->second->admit_keys.size();
    rooms_.erase(found);
  }
}

size_t Engine::FreeSome(Room& room, size_t entries_max) {
  size_t freed = 0;
  LineOwner line_owner{roster_};
  InsideOwner inside_owner{roster_};
  for (; freed < entries_max && !room.line.empty(); ++freed) {
    roster_.Remove(room.line.PopFirst(line_owner));
  }
  for (; freed < entries_max && !room.inside.empty(); ++freed) {
    const uint32_t session = room.inside.PopFirst(inside_owner);
    if (const uint32_t timer = roster_.sessions()[session].timer; timer != 0) timers_.Cancel(timer);
    roster_.Remove(roster_.sessions()[session].visitor);
    roster_.sessions().Free(session);
  }
  for (; freed < entries_max && room.memories.first != 0; ++freed) {
    const uint32_t memory = room.memories.first;
    if (memories_[memory].timer != 0) timers_.Cancel(memories_[memory].timer);
    Forget(room, memory);
  }
  for (; freed < entries_max && room.blocks.first != 0; ++freed) {
    const uint32_t block = room.blocks.first;
    if (blocks_[block].timer != 0) timers_.Cancel(blocks_[block].timer);
    Unblock(room, block);
  }
  return freed;
}

}  // namespace anteroom
