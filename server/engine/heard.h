// When somebody was last heard from: the soft deadlines of people waiting and of sliding sessions.
//
// Not part of the engine's state: hearing from somebody writes no record, and after a restart these
// deadlines start anew. When one runs out, the desk issues a logged command.
//
// Four bytes a visitor, in the visitor's entry, where whoever asks is reading already: a deadline
// is kept as its low 32 bits, which is exact because no soft deadline is further away than 24 days
// (protocol/settings.cc). The wheel does not hold visitors but blocks of 64 neighbouring handles,
// filed under a time not after the earliest deadline in the block; hearing from somebody again
// moves a deadline away and touches nothing but its four bytes.
//
// Threads: none; one owner.
#ifndef ANTEROOM_SERVER_ENGINE_HEARD_H_
#define ANTEROOM_SERVER_ENGINE_HEARD_H_

#include <cstdint>
#include <vector>

#include "server/engine/roster.h"
#include "server/engine/slab.h"
#include "server/engine/timing_wheel.h"

namespace anteroom {

// Invariant: a block with any deadline is in the wheel, at a time not after the earliest of them.
class Heard {
 public:
  static constexpr int64_t kNever = TimingWheel::kNever;

  explicit Heard(SoftDeadlines deadlines) : deadlines_(deadlines) {}

  // The visitor is heard from at `now_ms` and has `ttl_ms` from there, 1 ms to 24 days.
  void Hear(uint32_t visitor, int64_t now_ms, int64_t ttl_ms);
  // The visitor has no soft deadline. Whoever leaves the roster has none either.
  void Clear(uint32_t visitor) { deadlines_[visitor] = 0; }

  // kNever without one. `now_ms` is within 24 days of the deadline.
  int64_t DeadlineOf(uint32_t visitor, int64_t now_ms) const {
    const uint32_t deadline = deadlines_[visitor];
    return deadline == 0 ? kNever : Widen(deadline, now_ms);
  }

  // Not after the earliest deadline, if perhaps before it: a time at which to call PopDue.
  int64_t NextDue() const { return wheel_.NextDue(owner_); }

  struct Over {
    int64_t deadline_ms;
    uint32_t visitor;
  };
  // Takes the deadlines that are over, in no order, and clears them. Looks at up to `blocks_max`
  // blocks; call again while NextDue() is not after now.
  void PopDue(int64_t now_ms, size_t blocks_max, std::vector<Over>* over);

  size_t bytes() const { return blocks_.bytes() + wheel_.bytes(); }
  void check_invariants(int64_t now_ms);

 private:
  static constexpr uint32_t kBlockVisitors = 64;

  struct Block {
    WheelLink link;
    int64_t due_ms;  // under which the block is filed
    bool filed;
  };
  struct Owner {
    Slab<Block, 1024>* blocks;
    WheelLink& LinkOf(uint32_t block) { return (*blocks)[block].link; }
    int64_t DeadlineOf(uint32_t block) const { return (*blocks)[block].due_ms; }
    uint64_t SequenceOf(uint32_t block) const { return block; }
  };

  static uint32_t BlockOf(uint32_t visitor) { return visitor / kBlockVisitors + 1; }
  static int64_t Widen(uint32_t deadline, int64_t now_ms) {
    return now_ms + static_cast<int32_t>(deadline - static_cast<uint32_t>(now_ms));
  }
  void File(uint32_t block, int64_t due_ms);
  // Calls `visit` with every visitor of the block that has a deadline.
  template <typename Visit>
  void ForEach(uint32_t block, Visit visit) const;

  SoftDeadlines deadlines_;
  Slab<Block, 1024> blocks_;
  mutable Owner owner_{&blocks_};
  TimingWheel wheel_;
  std::vector<uint32_t> due_blocks_;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_HEARD_H_
