#include "server/engine/timers.h"

namespace anteroom {

uint32_t Timers::Set(TimerKind kind, uint32_t target, int64_t deadline_ms, uint64_t sequence) {
  const uint32_t timer = entries_.Allocate();
  Entry& entry = entries_[timer];
  entry.deadline_ms = deadline_ms;
  entry.sequence = (static_cast<uint64_t>(kind) << kKindShift) | sequence;
  entry.target = target;
  entry.kind = kind;
  wheel_.Add(owner_, timer);
  return timer;
}

void Timers::Cancel(uint32_t timer) {
  wheel_.Remove(owner_, timer);
  entries_.Free(timer);
}

void Timers::PopDue(int64_t now_ms, size_t max, std::vector<DueTimer>* due) {
  popped_.clear();
  wheel_.PopDue(owner_, now_ms, max, &popped_);
  for (const uint32_t timer : popped_) {
    due->push_back({entries_[timer].kind, entries_[timer].target});
    entries_.Free(timer);
  }
}

void Timers::check_invariants() {
  CHECK_EQ(wheel_.size(), entries_.size());
  entries_.check_invariants();
  wheel_.check_invariants(owner_);
}

}  // namespace anteroom
