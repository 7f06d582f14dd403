// The growing array: growing one by one to a million and ten million values, the longest step of
// that, and reading in a long chain, which is what it is for (the same chain in a slab:
// slab_bench.cc).

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "bench/structure_bench.h"
#include "server/engine/growing_array.h"

namespace anteroom {
namespace {

// As large as what the ranked queue keeps in one.
struct Value {
  uint32_t next;
  uint32_t other;
};
using Values = GrowingArray<Value>;

void Append(Values& values, uint64_t i) {
  const auto index = static_cast<uint32_t>(i);
  values.Grow(index + 1);
  values[index] = {.next = index, .other = 0};
}

void Grow(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    Values values;
    for (uint64_t i = 0; i < count; ++i) Append(values, i);
    benchmark::DoNotOptimize(values[0]);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void GrowthStep(benchmark::State& state) {
  double longest_us = 0;
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(
        static_cast<uint64_t>(state.range(0)), [] { return std::make_unique<Values>(); }, Append);
  }
  state.counters["step_us_max"] = longest_us;
}

// From each value to one anywhere else, so that reads do not overlap.
void ReadChain(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  // A prime, which shares no factor with count: the chain goes through all values.
  const auto index_of = [&](uint64_t i) {
    return static_cast<uint32_t>(i * 2'654'435'761 % count);
  };
  Values values;
  values.Grow(static_cast<uint32_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    values[index_of(i)] = {.next = index_of(i + 1), .other = 0};
  }
  uint32_t index = 0;
  for (auto _ : state) index = values[index].next;
  benchmark::DoNotOptimize(index);
}

BENCHMARK(Grow)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(GrowthStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadChain)->Apply(StructureSizes);

}  // namespace
}  // namespace anteroom
