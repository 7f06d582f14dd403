// The slab: new entries, freed ones given out again, and reading, with a million and ten million
// entries; and the longest step of growing.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "bench/structure_bench.h"
#include "server/engine/slab.h"

namespace anteroom {
namespace {

// As large as a visitor's entry in the engine.
struct Entry {
  uint32_t next;
  uint32_t live;
  uint8_t other[36];
};

// A handle in 1..count: every one once, without order, while i goes from 0 to count - 1. The step
// is a prime, so that it shares no factor with count.
uint32_t EachOnce(uint64_t i, uint64_t count) {
  return 1 + static_cast<uint32_t>(i * 2'654'435'761 % count);
}

std::unique_ptr<Slab<Entry>> FullSlab(uint64_t count) {
  auto slab = std::make_unique<Slab<Entry>>();
  for (uint64_t i = 0; i < count; ++i) (*slab)[slab->Allocate()].live = 1;
  return slab;
}

void AllocateNew(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    Slab<Entry> slab;
    for (uint64_t i = 0; i < count; ++i) slab[slab.Allocate()].live = 1;
    state.counters["bytes_per_entry"] =
        static_cast<double>(slab.bytes()) / static_cast<double>(count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void GrowthStep(benchmark::State& state) {
  double longest_us = 0;
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(
        static_cast<uint64_t>(state.range(0)), [] { return std::make_unique<Slab<Entry>>(); },
        [](Slab<Entry>& slab, uint64_t) { slab[slab.Allocate()].live = 1; });
  }
  state.counters["step_us_max"] = longest_us;
}

// Everybody leaves, without order.
void FreeAll(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto slab = FullSlab(count);
    state.ResumeTiming();
    for (uint64_t i = 0; i < count; ++i) slab->Free(EachOnce(i, count));
    state.PauseTiming();
    slab.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// As many come again: each takes the entry freed last, which is anywhere.
void AllocateFreed(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto slab = FullSlab(count);
    for (uint64_t i = 0; i < count; ++i) slab->Free(EachOnce(i, count));
    state.ResumeTiming();
    for (uint64_t i = 0; i < count; ++i) (*slab)[slab->Allocate()].live = 1;
    state.PauseTiming();
    slab.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Somebody leaves from anywhere, and somebody comes for whom the entry is still in the cache.
void FreeAndAllocate(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const auto slab = FullSlab(count);
  uint64_t i = 0;
  for (auto _ : state) {
    slab->Free(1 + static_cast<uint32_t>(Scatter(++i, count)));
    (*slab)[slab->Allocate()].live = 1;
  }
}

// From each entry to one anywhere else, so that reads do not overlap.
void ReadChain(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const auto slab = FullSlab(count);
  for (uint64_t i = 0; i < count; ++i) {
    (*slab)[EachOnce(i, count)].next = EachOnce(i + 1, count);
  }
  uint32_t handle = 1;
  for (auto _ : state) handle = (*slab)[handle].next;
  benchmark::DoNotOptimize(handle);
}

BENCHMARK(AllocateNew)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(GrowthStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(FreeAll)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(AllocateFreed)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(FreeAndAllocate)->Apply(StructureSizes);
BENCHMARK(ReadChain)->Apply(StructureSizes);

}  // namespace
}  // namespace anteroom
