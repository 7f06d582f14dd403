// The token bucket that spreads admissions in time, in whole numbers.
//
// A rate of `count` admissions in `per_ms` fills `count` units a millisecond, and an admission
// costs `per_ms` units, so that nothing is ever rounded: over long times the rate is exact. The
// bucket holds two depths; a depth is what `admit_interval` fills, at least one admission. Time
// alone spends once one depth is full; an event may spend whatever whole admission is there. In any
// window W at most rate x W + 2 depths go out.
#ifndef ANTEROOM_SERVER_ENGINE_RATE_BUCKET_H_
#define ANTEROOM_SERVER_ENGINE_RATE_BUCKET_H_

#include <cstdint>
#include <limits>

#include "protocol/settings.h"

namespace anteroom {

// Invariant: 0 <= level <= 2 depths; `level` is right for the time `filled_at_ms`.
class RateBucket {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  // Sets the rate. A bucket that had none begins full; otherwise the admissions that were there
  // stay there, as far as the new depths hold them. `rate` is not `none`, but may be of count 0.
  void Configure(const protocol::Rate& rate, int64_t admit_interval_ms, int64_t now_ms);

  // Forgets the rate: the next Configure begins full.
  void Clear() { *this = RateBucket{}; }

  void Fill(int64_t now_ms);

  // Admissions that an event may spend now, and those that time alone may.
  uint64_t ForEvent() const { return per_ms_ == 0 || count_ == 0 ? 0 : level_ / per_ms_; }
  uint64_t ForTime() const { return level_ >= depth_ ? ForEvent() : 0; }
  void Spend(uint64_t admissions);

  // When time alone may spend next, if nothing is spent before; kNever with a count of 0.
  int64_t NextAtMs() const;

  // Puts back a level as it was at `filled_at_ms`; false when it is none of the configured rate.
  bool Restore(uint64_t level, int64_t filled_at_ms);

  uint64_t level() const { return level_; }
  int64_t filled_at_ms() const { return filled_at_ms_; }
  void check_invariants() const;

 private:
  uint64_t level_ = 0;
  uint64_t depth_ = 0;
  int64_t filled_at_ms_ = 0;
  uint32_t count_ = 0;
  uint32_t per_ms_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_RATE_BUCKET_H_
