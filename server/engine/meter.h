// How often something happened in each of the last ten seconds. Soft; for display.
#ifndef ANTEROOM_SERVER_ENGINE_METER_H_
#define ANTEROOM_SERVER_ENGINE_METER_H_

#include <array>
#include <cstdint>

namespace anteroom {

// Invariant: `counts_` holds the seconds (second_ - 10, second_].
class Meter {
 public:
  void Count(int64_t now_ms, uint32_t times = 1) {
    MoveTo(now_ms);
    counts_[static_cast<size_t>(second_ % kSeconds)] += times;
  }

  // Mean over the last ten full or begun seconds, in thousandths a second.
  uint64_t PerSecondMilli(int64_t now_ms) {
    MoveTo(now_ms);
    uint64_t sum = 0;
    for (const uint32_t count : counts_) sum += count;
    return sum * 1000 / kSeconds;
  }

 private:
  static constexpr int64_t kSeconds = 10;

  void MoveTo(int64_t now_ms) {
    const int64_t second = now_ms / 1000;
    if (second >= second_ + kSeconds) {
      counts_.fill(0);
      second_ = second;
    }
    while (second_ < second) counts_[static_cast<size_t>(++second_ % kSeconds)] = 0;
  }

  int64_t second_ = 0;
  std::array<uint32_t, kSeconds> counts_{};
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_METER_H_
