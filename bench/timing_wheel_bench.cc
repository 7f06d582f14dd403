// The timing wheel: add, remove, renew (remove and add with a later deadline) and pop, among a
// million and ten million entries due within ten minutes; and the longest step when all of them
// fall due in one millisecond.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/structure_bench.h"
#include "server/engine/slab.h"
#include "server/engine/timing_wheel.h"

namespace anteroom {
namespace {

constexpr uint64_t kSpreadMs = 600'000;

// About the size of a visitor's entry in the engine.
struct Entry {
  WheelLink link;
  int64_t deadline_ms;
  uint64_t sequence;
  uint8_t other[20];
};

struct Timers {
  Slab<Entry> entries;
  TimingWheel wheel;
  int64_t now_ms = 0;

  WheelLink& LinkOf(uint32_t handle) { return entries[handle].link; }
  int64_t DeadlineOf(uint32_t handle) const { return entries[handle].deadline_ms; }
  uint64_t SequenceOf(uint32_t handle) const { return entries[handle].sequence; }

  void Add(int64_t deadline_ms) {
    const uint32_t handle = entries.Allocate();
    entries[handle].deadline_ms = deadline_ms;
    entries[handle].sequence = handle;
    wheel.Add(*this, handle);
  }
};

Timers& TimersOf(uint64_t count) {
  static std::unique_ptr<Timers> timers;
  if (timers == nullptr || timers->wheel.size() != count) {
    timers.reset();
    timers = std::make_unique<Timers>();
    for (uint64_t i = 0; i < count; ++i) timers->Add(static_cast<int64_t>(Scatter(i, kSpreadMs)));
  }
  return *timers;
}

void Add(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    Timers timers;
    for (uint64_t i = 0; i < count; ++i) timers.Add(static_cast<int64_t>(Scatter(i, kSpreadMs)));
    state.counters["bytes_per_entry"] =
        static_cast<double>(timers.wheel.bytes()) / static_cast<double>(count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Deadlines in order, as one time to live gives them.
void AddInOrder(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) {
    Timers timers;
    for (uint64_t i = 0; i < count; ++i) timers.Add(static_cast<int64_t>(i * kSpreadMs / count));
    state.counters["bytes_per_entry"] =
        static_cast<double>(timers.wheel.bytes()) / static_cast<double>(count);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void GrowthStep(benchmark::State& state) {
  double longest_us = 0;
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(
        static_cast<uint64_t>(state.range(0)), [] { return std::make_unique<Timers>(); },
        [](Timers& timers, uint64_t i) {
          timers.Add(static_cast<int64_t>(Scatter(i, kSpreadMs)));
        });
  }
  state.counters["step_us_max"] = longest_us;
}

void Renew(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  Timers& timers = TimersOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const uint32_t handle = 1 + static_cast<uint32_t>(Scatter(++i, count));
    timers.wheel.Remove(timers, handle);
    timers.entries[handle].deadline_ms += static_cast<int64_t>(i % 8);
    timers.wheel.Add(timers, handle);
  }
}

void NextDueAfterChange(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  Timers& timers = TimersOf(count);
  uint64_t i = 0;
  for (auto _ : state) {
    const uint32_t handle = 1 + static_cast<uint32_t>(Scatter(++i, count));
    timers.wheel.Remove(timers, handle);
    timers.wheel.Add(timers, handle);
    benchmark::DoNotOptimize(timers.wheel.NextDue(timers));
  }
}

// Pops what is due in batches of 256 while time goes on, and adds each again ten minutes later.
void PopAndAdd(benchmark::State& state) {
  Timers& timers = TimersOf(static_cast<uint64_t>(state.range(0)));
  std::vector<uint32_t> due;
  int64_t popped = 0;
  for (auto _ : state) {
    due.clear();
    while (timers.wheel.PopDue(timers, timers.now_ms, 256, &due) == 0) ++timers.now_ms;
    for (const uint32_t handle : due) {
      timers.entries[handle].deadline_ms += kSpreadMs;
      timers.wheel.Add(timers, handle);
    }
    popped += static_cast<int64_t>(due.size());
  }
  state.SetItemsProcessed(popped);
}

// A million due in one millisecond, gone in without order: the longest call that takes 256 out.
void OneMillisecondStep(benchmark::State& state) {
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  double longest_us = 0;
  std::vector<uint32_t> due;
  due.reserve(256);
  const auto make = [&] {
    auto timers = std::make_unique<Timers>();
    for (uint64_t i = 0; i < count; ++i) {
      const uint32_t handle = timers->entries.Allocate();
      timers->entries[handle].deadline_ms = 1000;
      timers->entries[handle].sequence = Scatter(i, uint64_t{1} << 40);
      timers->wheel.Add(*timers, handle);
    }
    return timers;
  };
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(count / 256, make, [&](Timers& timers, uint64_t) {
      due.clear();
      timers.wheel.PopDue(timers, 1000, 256, &due);
    });
  }
  state.counters["step_us_max"] = longest_us;
}

BENCHMARK(Add)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(AddInOrder)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(GrowthStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(OneMillisecondStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(NextDueAfterChange)->Apply(StructureSizes);
BENCHMARK(PopAndAdd)->Apply(StructureSizes);
BENCHMARK(Renew)->Apply(StructureSizes);

}  // namespace
}  // namespace anteroom
