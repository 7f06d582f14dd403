// The engine's hard deadlines: one timing wheel over small timer entries, each of which names what
// it is for. Entries due together come in the order (deadline, kind, sequence), and the kinds are
// ordered so that what frees a slot comes before what takes it.
#ifndef ANTEROOM_SERVER_ENGINE_TIMERS_H_
#define ANTEROOM_SERVER_ENGINE_TIMERS_H_

#include <cstdint>
#include <vector>

#include "server/engine/slab.h"
#include "server/engine/timing_wheel.h"

namespace anteroom {

enum class TimerKind : uint8_t {
  kSession = 0,  // a claim deadline or the end of a fixed session; target: session
  kMemory = 1,   // an ended visitor is forgotten; target: memory
  kBlock = 2,    // somebody kept out may come again; target: block
  kBucket = 3,   // a room's rate lets the next in; target: room number
};

struct DueTimer {
  TimerKind kind;
  uint32_t target;
};

// Invariant: every live timer is in the wheel.
class Timers {
 public:
  // `sequence` orders timers of one kind and deadline; below 2^58.
  uint32_t Set(TimerKind kind, uint32_t target, int64_t deadline_ms, uint64_t sequence);
  void Cancel(uint32_t timer);
  int64_t DeadlineOf(uint32_t timer) const { return entries_[timer].deadline_ms; }

  // As it was set.
  uint64_t SequenceOf(uint32_t timer) const { return entries_[timer].sequence & kSequenceMask; }

  int64_t NextDue() const { return wheel_.NextDue(entries_owner()); }
  // Takes out at most `max` timers due by `now_ms`; they are gone, whoever set them forgets them.
  void PopDue(int64_t now_ms, size_t max, std::vector<DueTimer>* due);

  size_t size() const { return wheel_.size(); }
  size_t bytes() const { return entries_.bytes() + wheel_.bytes(); }
  size_t used_bytes() const { return entries_.used_bytes(); }
  void check_invariants();

 private:
  // Above the sequence stands the kind.
  static constexpr int kKindShift = 58;
  static constexpr uint64_t kSequenceMask = (uint64_t{1} << kKindShift) - 1;

  struct Entry {
    WheelLink link;
    int64_t deadline_ms;
    uint64_t sequence;
    uint32_t target;
    TimerKind kind;
  };
  struct Owner {
    Slab<Entry>* entries;
    WheelLink& LinkOf(uint32_t timer) { return (*entries)[timer].link; }
    int64_t DeadlineOf(uint32_t timer) const { return (*entries)[timer].deadline_ms; }
    uint64_t SequenceOf(uint32_t timer) const { return (*entries)[timer].sequence; }
  };
  Owner& entries_owner() const { return owner_; }

  Slab<Entry> entries_;
  mutable Owner owner_{&entries_};
  TimingWheel wheel_;
  std::vector<uint32_t> popped_;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_TIMERS_H_
