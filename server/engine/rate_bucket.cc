#include "server/engine/rate_bucket.h"

#include <algorithm>

#include "server/base/canary.h"
#include "server/base/check.h"

namespace anteroom {

void RateBucket::Configure(const protocol::Rate& rate, int64_t admit_interval_ms, int64_t now_ms) {
  CHECK(!rate.none());
  const uint64_t depth = std::max<uint64_t>(
      rate.per_ms, uint64_t{rate.count} * static_cast<uint64_t>(admit_interval_ms));
  if (per_ms_ == 0) {
    level_ = 2 * depth;
  } else {
    Fill(now_ms);
    // Both units divide an hour's milliseconds, so this is at most 2 x 10^6 x 3.6 x 10^6 x 3600.
    level_ = std::min(level_ * (rate.per_ms / 1000) / (per_ms_ / 1000), 2 * depth);
  }
  depth_ = depth;
  count_ = rate.count;
  per_ms_ = rate.per_ms;
  filled_at_ms_ = now_ms;
}

void RateBucket::Fill(int64_t now_ms) {
  CHECK_GE(now_ms, filled_at_ms_);
  const uint64_t times = ANTEROOM_CANARY(kRateCountedTwice) ? 2 : 1;
  const auto elapsed_ms = times * static_cast<uint64_t>(now_ms - filled_at_ms_);
  filled_at_ms_ = now_ms;
  const uint64_t room = 2 * depth_ - level_;
  // Compared by division so that years of standing still do not overflow.
  if (count_ == 0) return;
  if (elapsed_ms > room / count_) {
    level_ = 2 * depth_;
  } else {
    level_ += elapsed_ms * count_;
  }
}

void RateBucket::Spend(uint64_t admissions) {
  CHECK_LE(admissions, ForEvent());
  level_ -= admissions * per_ms_;
}

int64_t RateBucket::NextAtMs() const {
  if (count_ == 0) return kNever;
  if (level_ >= depth_) return filled_at_ms_;
  return filled_at_ms_ + static_cast<int64_t>((depth_ - level_ + count_ - 1) / count_);
}

bool RateBucket::Restore(uint64_t level, int64_t filled_at_ms) {
  if (level > 2 * depth_ || filled_at_ms < 0) return false;
  level_ = level;
  filled_at_ms_ = filled_at_ms;
  return true;
}

void RateBucket::check_invariants() const {
  CHECK_LE(level_, 2 * depth_);
  CHECK(per_ms_ == 0 || depth_ >= per_ms_);
}

}  // namespace anteroom
