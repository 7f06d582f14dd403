// How fast a room's line has lately shortened, and what that means for somebody in it.
//
// Soft: it decides nothing, is in no digest and begins anew after a restart. Sixteen samples of
// (time, people who had left the front or the line), at least a second apart and at least one
// departure apart, so that the window is some sixteen seconds of a fast line and the last sixteen
// departures of a slow one.
#ifndef ANTEROOM_SERVER_ENGINE_LINE_SPEED_H_
#define ANTEROOM_SERVER_ENGINE_LINE_SPEED_H_

#include <array>
#include <cstdint>
#include <optional>

namespace anteroom {

struct WaitEstimate {
  uint64_t eta_ms = 0;
  uint64_t low_ms = 0;
  uint64_t high_ms = 0;
};

// Invariant: samples are in order of time and of departures.
class LineSpeed {
 public:
  // `departures` more people are no longer in line.
  void Depart(int64_t now_ms, uint64_t departures);

  // Expected wait of somebody with `ahead` people before them. Nothing until two departures have
  // been seen. The range is the estimate by a factor that shrinks with the number of departures
  // that it rests on and that it spans (their counts scatter as a Poisson process does).
  std::optional<WaitEstimate> Estimate(int64_t now_ms, uint64_t ahead) const;

  void check_invariants() const;

 private:
  static constexpr uint32_t kSamples = 16;
  static constexpr int64_t kSampleMs = 1000;

  struct Sample {
    int64_t at_ms = 0;
    uint64_t departed = 0;
  };
  const Sample& Oldest() const { return samples_[count_ < kSamples ? 0 : next_ % kSamples]; }
  const Sample& Newest() const { return samples_[(next_ + kSamples - 1) % kSamples]; }

  std::array<Sample, kSamples> samples_;
  uint32_t count_ = 0;
  uint32_t next_ = 0;
  uint64_t departed_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_LINE_SPEED_H_
