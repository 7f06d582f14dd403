// How long something took, in buckets; for health.
#ifndef ANTEROOM_SERVER_APP_LATENCY_HISTOGRAM_H_
#define ANTEROOM_SERVER_APP_LATENCY_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/messages.h"

namespace anteroom::app {

// Costs a search among fifteen numbers for each Add.
// Threads: one.
class LatencyHistogram {
 public:
  // From what a fast disk takes to what no visitor waits for.
  static constexpr std::array<uint32_t, 15> kAtMostUs = {
      100,    250,     500,     1'000,   2'500,     5'000,     10'000,   25'000,
      50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000};

  // `times` of them took so long each.
  void Add(uint64_t took_us, uint64_t times = 1) {
    const auto* const bucket = std::lower_bound(kAtMostUs.begin(), kAtMostUs.end(), took_us);
    counts_[static_cast<size_t>(bucket - kAtMostUs.begin())] += times;
    sum_us_ += took_us * times;
  }

  protocol::Latencies Describe() const {
    protocol::Latencies latencies;
    latencies.sum_us = sum_us_;
    latencies.buckets.reserve(kAtMostUs.size());
    for (size_t i = 0; i < kAtMostUs.size(); ++i) {
      latencies.count += counts_[i];
      latencies.buckets.push_back({kAtMostUs[i], latencies.count});
    }
    latencies.count += counts_.back();
    return latencies;
  }

 private:
  // Of each bucket alone; the last are those beyond all.
  std::array<uint64_t, kAtMostUs.size() + 1> counts_{};
  uint64_t sum_us_ = 0;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_LATENCY_HISTOGRAM_H_
