// The line: append, rank alone and in batches of 16, the n-th, pop-first, and removal anywhere with
// a new arrival for it, with a million and ten million in line.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/structure_bench.h"
#include "server/engine/ranked_queue.h"
#include "server/engine/slab.h"

namespace anteroom {
namespace {

constexpr uint64_t kLane = 128;

// About the size of a visitor's entry in the engine.
struct Entry {
  uint64_t arrival;
  QueuePlace place;
  uint8_t other[32];
};

struct Line {
  Slab<Entry> entries;
  RankedQueuePool pool;
  RankedQueue queue{&pool};
  uint64_t arrivals = 0;

  QueueKey KeyOf(uint32_t handle) const { return {kLane, entries[handle].arrival}; }
  void SetPlace(uint32_t handle, QueuePlace place) { entries[handle].place = place; }
  void Prefetch(uint32_t handle) const { entries.Prefetch(handle); }

  void Join() {
    const uint32_t handle = entries.Allocate();
    entries[handle].arrival = ++arrivals;
    queue.Insert(*this, handle, KeyOf(handle));
  }
};

// The line of one size is kept for all benchmarks of that size that leave it that long.
Line& LineOf(uint64_t count) {
  static std::unique_ptr<Line> line;
  if (line == nullptr || line->queue.size() != count) {
    line.reset();
    line = std::make_unique<Line>();
    for (uint64_t i = 0; i < count; ++i) line->Join();
  }
  return *line;
}

uint32_t AnyHandle(uint64_t i, uint64_t count) {
  return 1 + static_cast<uint32_t>(Scatter(i, count));
}

void Append(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    Line line;
    for (uint64_t i = 0; i < count; ++i) line.Join();
    state.counters["bytes_per_entry"] =
        static_cast<double>(line.pool.bytes()) / static_cast<double>(count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void GrowthStep(benchmark::State& state) {
  double longest_us = 0;
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(
        static_cast<uint64_t>(state.range(0)), [] { return std::make_unique<Line>(); },
        [](Line& line, uint64_t) { line.Join(); });
  }
  state.counters["step_us_max"] = longest_us;
}

void Rank(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Line& line = LineOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    // The next place depends on this rank, so that climbs do not overlap.
    i += 1 + (line.queue.Rank(line.entries[AnyHandle(i, count)].place) & 1);
  }
  benchmark::DoNotOptimize(i);
}

void RankInBatchesOf16(benchmark::State& state) {
  constexpr int kBatch = 16;
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Line& line = LineOf(count);
  uint64_t i = 0;
  while (state.KeepRunningBatch(kBatch)) {
    uint32_t handles[kBatch];
    for (uint32_t& handle : handles) line.entries.Prefetch(handle = AnyHandle(++i, count));
    QueuePlace places[kBatch];
    for (int k = 0; k < kBatch; ++k) {
      places[k] = line.entries[handles[k]].place;
      line.queue.PrefetchPlace(places[k]);
    }
    for (const QueuePlace place : places) benchmark::DoNotOptimize(line.queue.Rank(place));
  }
}

void At(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const Line& line = LineOf(count);
  uint64_t i = 0;
  for (auto _ : state) i += 1 + (line.queue.At(Scatter(i, count)) & 1);
  benchmark::DoNotOptimize(i);
}

// Somebody leaves from anywhere, and somebody new comes to the end.
void RemoveAndAppend(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  Line& line = LineOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const uint32_t handle = AnyHandle(++i, count);
    line.queue.Remove(line, line.entries[handle].place);
    line.entries[handle].arrival = ++line.arrivals;
    line.queue.Insert(line, handle, line.KeyOf(handle));
  }
  state.counters["bytes_per_entry"] =
      static_cast<double>(line.pool.bytes()) / static_cast<double>(count);
}

// The first goes, and comes back at the end.
void PopFirstAndAppend(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  Line& line = LineOf(count);
  for (auto _ : state) {
    const uint32_t handle = line.queue.PopFirst(line);
    line.entries[handle].arrival = ++line.arrivals;
    line.queue.Insert(line, handle, line.KeyOf(handle));
  }
}

// Insertion where no hint helps.
void RemoveAndInsertAnywhere(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  Line& line = LineOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const uint32_t mover = AnyHandle(++i, count);
    const uint32_t neighbour = AnyHandle(++i, count);
    if (mover == neighbour) continue;
    line.queue.Remove(line, line.entries[mover].place);
    // Arrivals step by one, so a neighbour's place in the order is taken, and the neighbour leaves.
    line.queue.Remove(line, line.entries[neighbour].place);
    std::swap(line.entries[mover].arrival, line.entries[neighbour].arrival);
    line.queue.Insert(line, mover, line.KeyOf(mover));
    line.queue.Insert(line, neighbour, line.KeyOf(neighbour));
  }
}

BENCHMARK(Append)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(GrowthStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Rank)->Apply(StructureSizes);
BENCHMARK(RankInBatchesOf16)->Apply(StructureSizes);
BENCHMARK(At)->Apply(StructureSizes);
BENCHMARK(PopFirstAndAppend)->Apply(StructureSizes);
BENCHMARK(RemoveAndInsertAnywhere)->Apply(StructureSizes);
BENCHMARK(RemoveAndAppend)->Apply(StructureSizes);

}  // namespace
}  // namespace anteroom
