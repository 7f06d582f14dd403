// How long the syncs of the log took, all and the last of them; for health.
#ifndef ANTEROOM_SERVER_APP_SYNC_TIMES_H_
#define ANTEROOM_SERVER_APP_SYNC_TIMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/app/latency_histogram.h"
#include "server/base/limits.h"

namespace anteroom::app {

// Invariant: holds the last limits::kSyncTimesKept values at most.
class SyncTimes {
 public:
  void Add(uint64_t took_us) {
    histogram_.Add(took_us);
    if (times_us_.size() < limits::kSyncTimesKept) {
      times_us_.push_back(took_us);
    } else {
      times_us_[next_] = took_us;
    }
    next_ = (next_ + 1) % limits::kSyncTimesKept;
  }

  // The value that `percent` of them do not exceed; nothing without any.
  std::optional<uint64_t> Percentile(size_t percent) const {
    if (times_us_.empty()) return std::nullopt;
    std::vector<uint64_t> sorted = times_us_;
    const size_t rank = std::min(sorted.size() - 1, sorted.size() * percent / 100);
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(rank), sorted.end());
    return sorted[rank];
  }

  const LatencyHistogram& histogram() const { return histogram_; }

 private:
  std::vector<uint64_t> times_us_;
  size_t next_ = 0;
  LatencyHistogram histogram_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_SYNC_TIMES_H_
