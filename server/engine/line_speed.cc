#include "server/engine/line_speed.h"

#include <algorithm>
#include <bit>

#include "server/base/check.h"

namespace anteroom {
namespace {

uint32_t SquareRoot(uint64_t square) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << (std::bit_width(square | 1) - 1) / 2; bit != 0; bit >>= 1) {
    const uint64_t tried = root | bit;
    if (tried * tried <= square) root = tried;
  }
  return static_cast<uint32_t>(root);
}

}  // namespace

void LineSpeed::Depart(int64_t now_ms, uint64_t departures) {
  departed_ += departures;
  if (count_ > 0 && now_ms - Newest().at_ms < kSampleMs) return;
  samples_[next_ % kSamples] = {now_ms, departed_};
  next_ = (next_ + 1) % kSamples;
  count_ = std::min(count_ + 1, kSamples);
}

std::optional<WaitEstimate> LineSpeed::Estimate(int64_t now_ms, uint64_t ahead) const {
  if (count_ == 0) return std::nullopt;
  const Sample& oldest = Oldest();
  const uint64_t departures = departed_ - oldest.departed;
  const int64_t window_ms = now_ms - oldest.at_ms;
  if (departures == 0 || window_ms <= 0) return std::nullopt;
  // Bounded so that the products below stay within 64 bits: a window of a month, 2^33 people.
  const auto window = static_cast<uint64_t>(std::min<int64_t>(window_ms, int64_t{1} << 31));
  const uint64_t turns = std::min<uint64_t>(ahead, uint64_t{1} << 32) + 1;
  WaitEstimate estimate;
  estimate.eta_ms = turns * window / departures;
  // Two standard deviations of both counts, in thousandths, and a tenth for what changes meanwhile.
  const uint64_t spread =
      std::min<uint64_t>(2000, 100 + 2000 / SquareRoot(departures) + 2000 / SquareRoot(turns));
  estimate.high_ms =
      estimate.eta_ms + estimate.eta_ms / 1000 * spread + estimate.eta_ms % 1000 * spread / 1000;
  estimate.low_ms = estimate.eta_ms / (1000 + spread) * 1000 +
                    estimate.eta_ms % (1000 + spread) * 1000 / (1000 + spread);
  return estimate;
}

void LineSpeed::check_invariants() const {
  CHECK_LE(count_, kSamples);
  if (count_ > 0) {
    CHECK_LE(Oldest().at_ms, Newest().at_ms);
    CHECK_LE(Oldest().departed, Newest().departed);
    CHECK_LE(Newest().departed, departed_);
  }
}

}  // namespace anteroom
