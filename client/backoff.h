// How long to wait before trying again: twice as long each time, up to a most, of which a random
// half is left out so that many clients do not come back at one moment.
#ifndef ANTEROOM_CLIENT_BACKOFF_H_
#define ANTEROOM_CLIENT_BACKOFF_H_

#include <algorithm>
#include <cstdint>
#include <random>

namespace anteroom::client {

// Invariant: least ≤ next whole delay ≤ most. One thread.
class Backoff {
 public:
  // 1 ≤ least_ms ≤ most_ms.
  Backoff(int64_t least_ms, int64_t most_ms, uint64_t seed)
      : least_ms_(least_ms), most_ms_(most_ms), delay_ms_(least_ms), random_(seed) {}

  // Between half of and the whole delay, at least 1.
  int64_t Next() {
    const int64_t whole_ms = delay_ms_;
    delay_ms_ = std::min(most_ms_, delay_ms_ * 2);
    return Between(std::max<int64_t>(1, whole_ms / 2), whole_ms);
  }
  // Some time up to the least delay, which does not count as an attempt.
  int64_t Short() { return Between(0, least_ms_); }
  void Reset() { delay_ms_ = least_ms_; }

 private:
  int64_t Between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  const int64_t least_ms_;
  const int64_t most_ms_;
  int64_t delay_ms_;
  std::mt19937_64 random_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_BACKOFF_H_
