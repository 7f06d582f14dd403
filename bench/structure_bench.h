#ifndef ANTEROOM_BENCH_STRUCTURE_BENCH_H_
#define ANTEROOM_BENCH_STRUCTURE_BENCH_H_

// What the benchmarks of single structures share: their sizes, numbers without order, and the
// longest step of growing. With ANTEROOM_BENCH_TINY set, the sizes are a hundredth, so that the
// tests can run every benchmark.

#include <benchmark/benchmark.h>

#include <ctime>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

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

inline int64_t ThreadCpuNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Calls step(0) to step(count - 1); returns the CPU time of the longest call.
template <typename Step>
double LongestStepMicroseconds(uint64_t count, Step step) {
  int64_t longest_ns = 0;
  int64_t before_ns = ThreadCpuNanoseconds();
  for (uint64_t i = 0; i < count; ++i) {
    step(i);
    const int64_t now_ns = ThreadCpuNanoseconds();
    longest_ns = std::max(longest_ns, now_ns - before_ns);
    before_ns = now_ns;
  }
  return static_cast<double>(longest_ns) / 1000;
}

}  // namespace anteroom

#endif  // ANTEROOM_BENCH_STRUCTURE_BENCH_H_
