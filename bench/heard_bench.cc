// Soft deadlines: being heard from for the first time, again and for a shorter time, looking at
// blocks that came due of which nobody is over, and expiry of all, among a million and ten million
// people; and the longest turn when all are over at once.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/structure_bench.h"
#include "server/base/limits.h"
#include "server/engine/entries.h"
#include "server/engine/heard.h"
#include "server/engine/roster.h"
#include "server/engine/slab.h"

namespace anteroom {
namespace {

constexpr int64_t kTtlMs = 90'000;
// The blocks that the desk looks at in one turn: as many visitors as may run out in one.
constexpr size_t kBlocksPerTurn = limits::kSoftDuePerTurn / 64;

struct Crowd {
  Slab<Visitor> visitors;
  Heard heard{SoftDeadlines(&visitors)};
  std::vector<Heard::Over> over;
  int64_t now_ms = 0;

  explicit Crowd(uint64_t count) {
    while (visitors.size() < count) visitors.Allocate();
    over.reserve(limits::kSoftDuePerTurn);
  }
  void HearAll(uint64_t spread_ms) {
    for (uint32_t visitor = 1; visitor <= visitors.capacity(); ++visitor) {
      const auto at_ms = static_cast<int64_t>(Scatter(visitor, spread_ms));
      heard.Hear(visitor, now_ms + at_ms, kTtlMs);
    }
  }
  // What one turn of the desk does. Returns how many were over.
  size_t Turn() {
    over.clear();
    heard.PopDue(now_ms, kBlocksPerTurn, &over);
    return over.size();
  }
};

std::unique_ptr<Crowd> CrowdOf(const benchmark::State& state) {
  return std::make_unique<Crowd>(static_cast<uint64_t>(state.range(0)));
}

uint32_t AnyVisitor(uint64_t i, const benchmark::State& state) {
  return 1 + static_cast<uint32_t>(Scatter(i, static_cast<uint64_t>(state.range(0))));
}

void HearFirst(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto crowd = CrowdOf(state);
    state.ResumeTiming();
    crowd->HearAll(kTtlMs);
    state.PauseTiming();
    state.counters["bytes_per_entry"] =
        static_cast<double>(crowd->heard.bytes()) / static_cast<double>(state.range(0));
    crowd.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void HearFirstStep(benchmark::State& state) {
  double longest_us = 0;
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(
        static_cast<uint64_t>(state.range(0)), [&] { return CrowdOf(state); },
        [](Crowd& crowd, uint64_t i) {
          crowd.heard.Hear(static_cast<uint32_t>(i + 1), 0, kTtlMs);
        });
  }
  state.counters["step_us_max"] = longest_us;
}

// The common case: a deadline moves away.
void HearAgain(benchmark::State& state) {
  const auto crowd = CrowdOf(state);
  crowd->HearAll(1);
  uint64_t i = 0;
  for (auto _ : state) {
    crowd->now_ms += ++i % 1024 == 0;
    crowd->heard.Hear(AnyVisitor(i, state), crowd->now_ms, kTtlMs);
  }
}

// Settings with a shorter time came: a deadline moves nearer, and with it the block.
void HearForShorter(benchmark::State& state) {
  const auto crowd = CrowdOf(state);
  crowd->HearAll(1);
  uint64_t i = 0;
  for (auto _ : state) {
    ++i;
    crowd->heard.Hear(AnyVisitor(i, state), 0, kTtlMs - static_cast<int64_t>(i % kTtlMs));
  }
}

// Everybody was heard from again in time: all blocks come due once, nobody is over, and each is
// filed under its earliest deadline.
void RefileAll(benchmark::State& state) {
  uint64_t over = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto crowd = CrowdOf(state);
    crowd->HearAll(1);
    crowd->now_ms = kTtlMs - 1;
    crowd->HearAll(1);
    ++crowd->now_ms;
    state.ResumeTiming();
    while (crowd->heard.NextDue() <= crowd->now_ms) over += crowd->Turn();
    state.PauseTiming();
    crowd.reset();
    state.ResumeTiming();
  }
  if (over != 0) state.SkipWithError("somebody was over");
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Nobody is heard from any more: all run out within one time to live.
void ExpireAll(benchmark::State& state) {
  uint64_t over = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto crowd = CrowdOf(state);
    crowd->HearAll(kTtlMs);
    state.ResumeTiming();
    while (crowd->heard.NextDue() != Heard::kNever) {
      crowd->now_ms = std::max(crowd->now_ms + 1, crowd->heard.NextDue());
      while (crowd->heard.NextDue() <= crowd->now_ms) over += crowd->Turn();
    }
    state.PauseTiming();
    crowd.reset();
    state.ResumeTiming();
  }
  if (over != static_cast<uint64_t>(state.iterations() * state.range(0))) {
    state.SkipWithError("not all were over");
  }
  state.SetItemsProcessed(static_cast<int64_t>(over));
}

// All are over in one millisecond: the longest turn that takes them out.
void ExpireAtOnceStep(benchmark::State& state) {
  double longest_us = 0;
  const uint64_t count = static_cast<uint64_t>(state.range(0));
  const auto make = [&] {
    auto crowd = CrowdOf(state);
    crowd->HearAll(1);
    crowd->now_ms = kTtlMs;
    return crowd;
  };
  for (auto _ : state) {
    longest_us = LongestStepMicroseconds(count / limits::kSoftDuePerTurn + 1, make,
                                         [](Crowd& crowd, uint64_t) { crowd.Turn(); });
  }
  state.counters["step_us_max"] = longest_us;
}

BENCHMARK(HearFirst)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(HearFirstStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(RefileAll)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(ExpireAll)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(ExpireAtOnceStep)->Apply(StructureSizes)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(HearAgain)->Apply(StructureSizes);
BENCHMARK(HearForShorter)->Apply(StructureSizes);

}  // namespace
}  // namespace anteroom
