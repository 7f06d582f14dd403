// The index from visitor ids to handles: a find, alone and in batches of 16, an insert and an
// erase, among a million and ten million entries; and the longest step of growing.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/structure_bench.h"
#include "server/engine/id_index.h"
#include "server/engine/slab.h"
#include "server/engine/visitor_id.h"

namespace anteroom {
namespace {

constexpr uint32_t kRoom = 7;

// About the size of a visitor's entry in the engine.
struct Entry {
  PackedId id;
  uint8_t other[27];
};

struct SlabKeys {
  const Slab<Entry>* entries;

  IndexKey operator()(uint32_t handle) const { return {kRoom, (*entries)[handle].id.view()}; }
  void Prefetch(uint32_t handle) const { entries->Prefetch(handle); }
};

// The 16-byte id of visitor `number`.
struct Id {
  uint64_t words[2];

  explicit Id(uint64_t number = 0) {
    words[0] = number * 0x9E3779B97F4A7C15;
    words[0] ^= words[0] >> 29;
    words[1] = words[0] * 0xBF58476D1CE4E5B9;
  }
  std::string_view view() const { return {reinterpret_cast<const char*>(words), sizeof(words)}; }
};

struct Crowd {
  Slab<Entry> entries;
  IdIndex<SlabKeys> index{SlabKeys{&entries}, 42};

  void Join(uint64_t number) {
    const Id id(number);
    const uint64_t hash = index.HashOf(kRoom, id.view());
    if (index.Find(hash, kRoom, id.view()) != kNoHandle) return;
    const uint32_t handle = entries.Allocate();
    entries[handle].id.Set(id.view());
    index.Insert(hash, handle);
  }
};

// The crowd of one size is kept for all benchmarks of that size.
Crowd& CrowdOf(uint64_t count) {
  static std::unique_ptr<Crowd> crowd;
  if (crowd == nullptr || crowd->index.size() != count) {
    crowd.reset();
    crowd = std::make_unique<Crowd>();
    for (uint64_t i = 0; i < count; ++i) crowd->Join(i);
  }
  return *crowd;
}

// Finds nobody, adds an entry, and so on until there are as many as wanted.
void Grow(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    Crowd crowd;
    for (uint64_t i = 0; i < count; ++i) crowd.Join(i);
    state.counters["bytes_per_entry"] =
        static_cast<double>(crowd.index.bytes()) / static_cast<double>(count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void GrowthStep(benchmark::State& state) {
  double longest_us = 0;
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(
        static_cast<uint64_t>(state.range(0)), [] { return std::make_unique<Crowd>(); },
        [](Crowd& crowd, uint64_t i) { crowd.Join(i); });
  }
  state.counters["step_us_max"] = longest_us;
}

void Find(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Crowd& crowd = CrowdOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const Id id(Scatter(++i, count));
    const uint64_t hash = crowd.index.HashOf(kRoom, id.view());
    // The next id depends on what was found, so that finds do not overlap.
    i += crowd.index.Find(hash, kRoom, id.view()) == kNoHandle;
  }
  benchmark::DoNotOptimize(i);
}

void FindAbsent(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Crowd& crowd = CrowdOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const Id id(count + Scatter(++i, count));
    const uint64_t hash = crowd.index.HashOf(kRoom, id.view());
    i += crowd.index.Find(hash, kRoom, id.view()) != kNoHandle;
  }
  benchmark::DoNotOptimize(i);
}

void FindInBatchesOf16(benchmark::State& state) {
  constexpr int kBatch = 16;
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Crowd& crowd = CrowdOf(count);
  uint64_t i = 0;
  while (state.KeepRunningBatch(kBatch)) {
    Id ids[kBatch];
    uint64_t hashes[kBatch];
    for (int k = 0; k < kBatch; ++k) {
      ids[k] = Id(Scatter(++i, count));
      hashes[k] = crowd.index.HashOf(kRoom, ids[k].view());
      crowd.index.PrefetchBucket(hashes[k]);
    }
    for (const uint64_t hash : hashes) {
      const uint32_t candidate = crowd.index.PeekCandidate(hash);
      if (candidate != kNoHandle) crowd.entries.Prefetch(candidate);
    }
    for (int k = 0; k < kBatch; ++k) {
      i += crowd.index.Find(hashes[k], kRoom, ids[k].view()) == kNoHandle;
    }
  }
  benchmark::DoNotOptimize(i);
}

void FindEraseInsert(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  Crowd& crowd = CrowdOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const Id id(Scatter(++i, count));
    const uint64_t hash = crowd.index.HashOf(kRoom, id.view());
    const uint32_t handle = crowd.index.Find(hash, kRoom, id.view());
    i += crowd.index.Erase(hash, handle) ? 0 : 1;
    crowd.index.Insert(hash, handle);
  }
  benchmark::DoNotOptimize(i);
}

BENCHMARK(Grow)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(GrowthStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Find)->Apply(StructureSizes);
BENCHMARK(FindAbsent)->Apply(StructureSizes);
BENCHMARK(FindInBatchesOf16)->Apply(StructureSizes);
BENCHMARK(FindEraseInsert)->Apply(StructureSizes);

}  // namespace
}  // namespace anteroom
