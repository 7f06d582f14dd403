#ifndef ANTEROOM_BENCH_STRUCTURE_BENCH_H_
#define ANTEROOM_BENCH_STRUCTURE_BENCH_H_

// What the benchmarks of single structures share: their sizes, numbers without order, and the
// longest step of growing. With ANTEROOM_BENCH_TINY set, the sizes are a hundredth, so that the
// tests can run every benchmark.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace anteroom {

inline void StructureSizes(benchmark::internal::Benchmark* benchmark) {
  const bool tiny = std::getenv("ANTEROOM_BENCH_TINY") != nullptr;
  for (const int64_t size : {1'000'000, 10'000'000}) benchmark->Arg(tiny ? size / 100 : size);
}

// A number below `count` without order in i (the mixer of Pelle Evensen's rrmxmx family).
inline uint64_t Scatter(uint64_t i, uint64_t count) {
  i *= 0xD6E8FEB86659FD93;
  i ^= i >> 32;
  i *= 0xD6E8FEB86659FD93;
  return (i ^ i >> 32) % count;
}

// Makes a structure and calls step(*structure, i) for i from 0 to count - 1, three times over.
// Returns the time of the longest step, each taken at its best of the three: that a step was
// interrupted all three times is next to impossible, so what is left is the structure's own doing.
// Wall time, because reading a thread's CPU time costs more than most steps.
template <typename Make, typename Step>
double LongestStepMicroseconds(uint64_t count, Make make, Step step) {
  std::vector<uint32_t> best_ns(count, UINT32_MAX);
  for (int round = 0; round < 3; ++round) {
    auto structure = make();
    auto before = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < count; ++i) {
      step(*structure, i);
      const auto now = std::chrono::steady_clock::now();
      const std::chrono::nanoseconds taken = now - before;
      best_ns[i] = std::min(best_ns[i], static_cast<uint32_t>(taken.count()));
      before = now;
    }
  }
  return *std::max_element(best_ns.begin(), best_ns.end()) / 1000.0;
}

}  // namespace anteroom

#endif  // ANTEROOM_BENCH_STRUCTURE_BENCH_H_
