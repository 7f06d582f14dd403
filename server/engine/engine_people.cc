// The transitions of one visitor, and what is kept of those who ended.

#include <algorithm>
#include <utility>

#include "server/base/canary.h"
#include "server/base/limits.h"
#include "server/engine/engine.h"

namespace anteroom {

using protocol::Reason;
using protocol::Renewal;
using protocol::State;

namespace {

void SetState(Visitor& visitor, State state, int64_t at_ms) {
  visitor.state = static_cast<uint8_t>(state);
  visitor.at_ms.Set(static_cast<uint64_t>(at_ms));
}

uint64_t Totals::*TotalOf(Reason reason) {
  switch (reason) {
    case Reason::kCompleted:
      return &Totals::completed;
    case Reason::kCancelled:
      return &Totals::cancelled;
    case Reason::kExpired:
      return &Totals::expired;
    case Reason::kNoShow:
      return &Totals::no_show;
    case Reason::kLeft:
      return &Totals::left;
    case Reason::kRevoked:
      return &Totals::revoked;
    default:
      CHECK(false);
      return nullptr;
  }
}

}  // namespace

uint32_t Engine::AddWaiting(Room& room, std::string_view id, uint8_t lane, Effects* effects) {
  const uint32_t handle = roster_.Add(room.number, id);
  Visitor& visitor = roster_[handle];
  visitor.lane = lane;
  visitor.arrival.Set(next_arrival_++);
  SetState(visitor, State::kWaiting, now_ms_);
  LineOwner owner{roster_};
  visitor.place = room.line.Insert(owner, handle, owner.KeyOf(handle)).value;
  ++overall_.waiting;
  Count(room, &Totals::joined);
  TakeIn(room, DigestOfVisitor(visitor));
  effects->visitors.push_back({room.number, handle, kNoHandle, State::kWaiting});
  return handle;
}

void Engine::LetIn(Room& room, uint32_t handle, Effects* effects) {
  Visitor& visitor = roster_[handle];
  TakeOut(room, DigestOfVisitor(visitor));
  LineOwner line_owner{roster_};
  room.line.Remove(line_owner, QueuePlace{visitor.place});
  if (room.line.empty()) {
    room.speed.reset();
  } else {
    if (room.speed == nullptr) room.speed = std::make_unique<LineSpeed>();
    room.speed->Depart(now_ms_, 1);
  }

  const uint32_t session_handle = roster_.sessions().Allocate();
  Session& session = roster_.sessions()[session_handle];
  session.admission = next_admission_++;
  session.visitor = handle;
  session.deadline_ms = now_ms_ + room.policy.claim_ttl_ms;
  session.timer =
      timers_.Set(TimerKind::kSession, session_handle, session.deadline_ms, session.admission);
  InsideOwner inside_owner{roster_};
  session.place =
      room.inside.Insert(inside_owner, session_handle, inside_owner.KeyOf(session_handle));
  visitor.place = session_handle;
  SetState(visitor, State::kAdmitted, now_ms_);
  ++room.admitted;
  --overall_.waiting;
  ++overall_.admitted;
  Count(room, &Totals::admitted);
  TakeIn(room, DigestOfVisitor(visitor));
  effects->visitors.push_back({room.number, handle, kNoHandle, State::kAdmitted});
}

void Engine::ClaimSession(Room& room, uint32_t handle, Effects* effects) {
  Visitor& visitor = roster_[handle];
  Session& session = roster_.sessions()[visitor.place];
  TakeOut(room, DigestOfVisitor(visitor));
  timers_.Cancel(std::exchange(session.timer, 0));
  session.deadline_ms = Session::kNever;
  if (room.policy.session_renewal == Renewal::kFixed) {
    session.deadline_ms = now_ms_ + room.policy.session_ttl_ms;
    session.timer =
        timers_.Set(TimerKind::kSession, visitor.place, session.deadline_ms, session.admission);
  }
  SetState(visitor, State::kActive, now_ms_);
  --room.admitted;
  ++room.active;
  --overall_.admitted;
  ++overall_.active;
  Count(room, &Totals::claimed);
  TakeIn(room, DigestOfVisitor(visitor));
  effects->visitors.push_back({room.number, handle, kNoHandle, State::kActive});
}

void Engine::LeaveInside(Room& room, uint32_t handle) {
  Visitor& visitor = roster_[handle];
  Session& session = roster_.sessions()[visitor.place];
  if (session.timer != 0) timers_.Cancel(session.timer);
  InsideOwner owner{roster_};
  room.inside.Remove(owner, session.place);
  roster_.sessions().Free(visitor.place);
  --(visitor.admitted() ? room.admitted : room.active);
  --(visitor.admitted() ? overall_.admitted : overall_.active);
}

void Engine::End(Room& room, uint32_t handle, Reason reason, Effects* effects) {
  Visitor& visitor = roster_[handle];
  TakeOut(room, DigestOfVisitor(visitor));
  uint64_t admission = 0;
  if (visitor.waiting()) {
    LineOwner owner{roster_};
    room.line.Remove(owner, QueuePlace{visitor.place});
    --overall_.waiting;
    if (room.line.empty()) room.speed.reset();
    if (room.speed != nullptr) room.speed->Depart(now_ms_, 1);
  } else {
    admission = SessionOf(visitor).admission;
    LeaveInside(room, handle);
  }
  Count(room, TotalOf(reason));
  const uint32_t memory = Remember(room, visitor, admission, reason);
  roster_.Remove(handle);
  effects->visitors.push_back({room.number, handle, memory, State::kEnded});
}

void Engine::Sell(Room& room, uint32_t units, Effects* effects) {
  uint64_t& stock = room.policy.stock;
  if (stock == Policy::kNoLimit || units == 0) return;
  const uint64_t there = std::min<uint64_t>(stock, units);
  stock -= there;
  room.sold_units += there;
  room.oversold_units += units - there;
  Touch(room);
  // Those who wait are told.
  if (there > 0 && stock == 0) effects->rooms.push_back({room.number, false});
}

void Engine::Requeue(Room& room, uint32_t handle, Effects* effects) {
  Visitor& visitor = roster_[handle];
  TakeOut(room, DigestOfVisitor(visitor));
  // The admission that was missed is remembered, so that its token is told what became of it.
  Remember(room, visitor, SessionOf(visitor).admission, Reason::kNoShow);
  LeaveInside(room, handle);
  ++visitor.requeues;
  ++overall_.waiting;
  Count(room, &Totals::no_show);
  if (!ANTEROOM_CANARY(kRequeueInFront)) visitor.arrival.Set(next_arrival_++);
  SetState(visitor, State::kWaiting, now_ms_);
  LineOwner owner{roster_};
  visitor.place = room.line.Insert(owner, handle, owner.KeyOf(handle)).value;
  TakeIn(room, DigestOfVisitor(visitor));
  effects->visitors.push_back({room.number, handle, kNoHandle, State::kWaiting});
}

uint32_t Engine::Remember(Room& room, const Visitor& visitor, uint64_t admission, Reason reason) {
  const uint32_t older = memories_.Find(room.number, visitor.id.view());
  const uint32_t handle = memories_.Append(room.number, visitor.id.view(), &room.memories);
  memories_.Lead(older, handle);
  Memory& memory = memories_[handle];
  if (older != kNoHandle) memories_[older].newer = handle;
  memory.reason = reason;
  memory.lane = visitor.lane;
  memory.older = older;
  memory.admission = admission;
  memory.arrival = visitor.arrival.Get();
  memory.at_ms = now_ms_;
  memory.forget_at_ms = now_ms_ + room.policy.remember_ttl_ms;
  memory.timer = timers_.Set(TimerKind::kMemory, handle, memory.forget_at_ms, next_memory_++);
  if (admission != 0) memories_.AddAdmission(handle);
  TakeIn(room, DigestOfMemory(memory));
  if (room.memories.count > limits::kMemoriesPerRoomMax) ForgetEarly(room, room.memories.first);
  return handle;
}

void Engine::ForgetEarly(Room& room, uint32_t memory) {
  // Without a timer it is due in this very record, and goes by itself.
  if (memories_[memory].timer == 0) return;
  timers_.Cancel(memories_[memory].timer);
  Forget(room, memory);
}

void Engine::Forget(Room& room, uint32_t memory) {
  if (!room.dropped) TakeOut(room, DigestOfMemory(memories_[memory]));
  const uint32_t older = memories_[memory].older;
  const uint32_t newer = memories_[memory].newer;
  if (newer == kNoHandle) {
    memories_.Lead(memory, older);
  } else {
    memories_[newer].older = older;
  }
  if (older != kNoHandle) memories_[older].newer = newer;
  memories_.Free(memory, &room.memories);
}

void Engine::Unblock(Room& room, uint32_t block) {
  if (!room.dropped) TakeOut(room, DigestOfBlock(blocks_[block]));
  blocks_.Lead(block, kNoHandle);
  blocks_.Free(block, &room.blocks);
}

}  // namespace anteroom
