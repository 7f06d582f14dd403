#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "server/base/check.h"
#include "server/engine/timing_wheel.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

struct Timed {
  WheelLink link;
  int64_t deadline_ms = 0;
  uint64_t sequence = 0;
};

struct TimedOnes {
  std::vector<Timed> all;

  explicit TimedOnes(size_t count) : all(count + 1) {}
  WheelLink& LinkOf(uint32_t handle) { return all[handle].link; }
  int64_t DeadlineOf(uint32_t handle) const { return all[handle].deadline_ms; }
  uint64_t SequenceOf(uint32_t handle) const { return all[handle].sequence; }
};

void Add(TimingWheel& wheel, TimedOnes& entries, uint32_t handle, int64_t deadline_ms,
         uint64_t sequence) {
  entries.all[handle].deadline_ms = deadline_ms;
  entries.all[handle].sequence = sequence;
  wheel.Add(entries, handle);
}

TEST_CASE("timing wheel: an empty one is never due") {
  TimedOnes entries(1);
  TimingWheel wheel;
  std::vector<uint32_t> due;
  CHECK_EQ(wheel.NextDue(entries), TimingWheel::kNever);
  CHECK_EQ(wheel.PopDue(entries, TimingWheel::kDeadlineMsMax, 10, &due), 0u);
  wheel.check_invariants(entries);
}

TEST_CASE("timing wheel: a deadline is due at its millisecond, not before") {
  TimedOnes entries(1);
  TimingWheel wheel;
  std::vector<uint32_t> due;
  Add(wheel, entries, 1, 1000, 1);
  CHECK(TimingWheel::Contains(entries, 1));
  CHECK_EQ(wheel.NextDue(entries), 1000);
  CHECK_EQ(wheel.PopDue(entries, 999, 10, &due), 0u);
  CHECK_EQ(wheel.PopDue(entries, 1000, 10, &due), 1u);
  CHECK_EQ(due, std::vector<uint32_t>{1});
  CHECK(!TimingWheel::Contains(entries, 1));
  CHECK_EQ(wheel.NextDue(entries), TimingWheel::kNever);
}

TEST_CASE("timing wheel: a jump of years hands out all in order") {
  TimedOnes entries(4);
  TimingWheel wheel;
  std::vector<uint32_t> due;
  const int64_t year_ms = int64_t{365} * 24 * 3600 * 1000;
  Add(wheel, entries, 1, 100 * year_ms, 1);
  Add(wheel, entries, 2, 0, 2);
  Add(wheel, entries, 3, 1, 3);
  Add(wheel, entries, 4, TimingWheel::kNever, 4);
  CHECK_EQ(wheel.PopDue(entries, 200 * year_ms, 10, &due), 3u);
  CHECK_EQ(due, std::vector<uint32_t>{2, 3, 1});
  CHECK_EQ(wheel.NextDue(entries), TimingWheel::kDeadlineMsMax);
  wheel.Remove(entries, 4);
  CHECK_EQ(wheel.NextDue(entries), TimingWheel::kNever);
  wheel.check_invariants(entries);
}

TEST_CASE("timing wheel: one millisecond's entries come by sequence, however they went in") {
  constexpr uint32_t kCount = 5000;
  std::mt19937_64 random(TestSeed());
  TimedOnes entries(kCount);
  TimingWheel wheel;
  std::vector<uint32_t> order;
  for (uint32_t handle = 1; handle <= kCount; ++handle) order.push_back(handle);
  std::shuffle(order.begin(), order.end(), random);
  for (const uint32_t handle : order) Add(wheel, entries, handle, 60'000, handle * 7);
  wheel.check_invariants(entries);
  std::vector<uint32_t> due;
  while (wheel.PopDue(entries, 60'000, 33, &due) == 33) wheel.check_invariants(entries);
  std::sort(order.begin(), order.end());
  CHECK(due == order);
}

TEST_CASE("timing wheel: entries equal in deadline and sequence all come out") {
  constexpr uint32_t kCount = 1000;
  TimedOnes entries(kCount + 3);
  TimingWheel wheel;
  for (uint32_t handle = 1; handle <= kCount; ++handle) Add(wheel, entries, handle, 500, 9);
  wheel.check_invariants(entries);
  for (uint32_t handle = 2; handle <= kCount; handle += 2) wheel.Remove(entries, handle);
  // Neighbours on either side make it one slot among several.
  Add(wheel, entries, kCount + 1, 500, 8);
  Add(wheel, entries, kCount + 2, 500, 10);
  Add(wheel, entries, kCount + 3, 499, 10);
  wheel.check_invariants(entries);
  std::vector<uint32_t> due;
  CHECK_EQ(wheel.PopDue(entries, 500, 2, &due), 2u);
  CHECK_EQ(due, std::vector<uint32_t>{kCount + 3, kCount + 1});
  CHECK_EQ(wheel.PopDue(entries, 500, 100, &due), 100u);
  wheel.check_invariants(entries);
  CHECK_EQ(wheel.PopDue(entries, 500, 10'000, &due), 401u);
  CHECK_EQ(due.back(), kCount + 2);
  CHECK_EQ(wheel.size(), 0u);
  wheel.check_invariants(entries);
}

TEST_CASE("timing wheel: wheels go when their entries have gone") {
  constexpr uint32_t kCount = 100'000;
  std::mt19937_64 random(TestSeed());
  TimedOnes entries(kCount);
  TimingWheel wheel;
  for (uint32_t handle = 1; handle <= kCount; ++handle) {
    Add(wheel, entries, handle, static_cast<int64_t>(random() % 3'600'000), handle);
  }
  wheel.check_invariants(entries);
  for (uint32_t handle = 1; handle <= kCount; ++handle) wheel.Remove(entries, handle);
  CHECK_EQ(wheel.size(), 0u);
  // Counts the wheels against those allocated.
  wheel.check_invariants(entries);
}

// Random adds, removals and pops in a time that moves by `spread_ms` or jumps, against a set.
void RunAgainstModel(uint64_t seed, int operations, int64_t spread_ms, uint32_t count) {
  std::mt19937_64 random(seed);
  TimedOnes entries(count);
  TimingWheel wheel;
  std::set<std::tuple<int64_t, uint64_t, uint32_t>> model;
  std::vector<uint32_t> absent;
  std::vector<uint32_t> present;
  for (uint32_t handle = 1; handle <= count; ++handle) absent.push_back(handle);
  int64_t now_ms = static_cast<int64_t>(random() % 1'000'000'000'000);
  uint64_t sequence = 0;
  std::vector<uint32_t> due;

  for (int i = 0; i < operations; ++i) {
    const uint64_t choice = random() % 100;
    if (choice < 50 && !absent.empty()) {
      const uint32_t handle = absent.back();
      absent.pop_back();
      // Sometimes past, sometimes far away; sequences mostly, not always, ascend.
      int64_t deadline_ms =
          now_ms + static_cast<int64_t>(random() % static_cast<uint64_t>(spread_ms));
      if (random() % 50 == 0) deadline_ms = std::max<int64_t>(0, now_ms - 100);
      if (random() % 200 == 0)
        deadline_ms = now_ms + static_cast<int64_t>(random() >> (8 + random() % 50));
      deadline_ms = std::min(deadline_ms, TimingWheel::kDeadlineMsMax);
      ++sequence;
      const uint64_t own =
          random() % 4 == 0 ? sequence ^ (uint64_t{1} << (30 + random() % 25)) : sequence;
      Add(wheel, entries, handle, deadline_ms, own);
      model.emplace(deadline_ms, own, handle);
      present.push_back(handle);
    } else if (choice < 75 && !present.empty()) {
      const size_t at = random() % present.size();
      const uint32_t handle = present[at];
      if (TimingWheel::Contains(entries, handle)) {
        wheel.Remove(entries, handle);
        CHECK_EQ(model.erase({entries.DeadlineOf(handle), entries.SequenceOf(handle), handle}), 1u);
        absent.push_back(handle);
      }
      present[at] = present.back();
      present.pop_back();
    } else {
      if (choice < 90) now_ms += static_cast<int64_t>(random() % 4);
      if (choice == 99) now_ms += static_cast<int64_t>(random() % static_cast<uint64_t>(spread_ms));
      const size_t max = 1 + random() % 20;
      due.clear();
      const size_t popped = wheel.PopDue(entries, now_ms, max, &due);
      CHECK_EQ(popped, due.size());
      for (const uint32_t handle : due) {
        CHECK(!model.empty());
        CHECK_EQ(std::get<2>(*model.begin()), handle);
        CHECK_LE(std::get<0>(*model.begin()), now_ms);
        model.erase(model.begin());
        CHECK(!TimingWheel::Contains(entries, handle));
        absent.push_back(handle);
      }
      if (popped < max) CHECK(model.empty() || std::get<0>(*model.begin()) > now_ms);
    }
    CHECK_EQ(wheel.size(), model.size());
    if (random() % 4 == 0) {
      CHECK_EQ(wheel.NextDue(entries),
               model.empty() ? TimingWheel::kNever : std::get<0>(*model.begin()));
    }
    if (i % 10'000 == 0) wheel.check_invariants(entries);
  }
  wheel.check_invariants(entries);
}

TEST_CASE("timing wheel: half a million random operations, deadlines close together") {
  RunAgainstModel(TestSeed(), 500'000, 200, 3000);
}

TEST_CASE("timing wheel: half a million random operations, deadlines in one millisecond") {
  RunAgainstModel(TestSeed() + 1, 500'000, 1, 3000);
}

TEST_CASE("timing wheel: half a million random operations, deadlines far apart") {
  RunAgainstModel(TestSeed() + 2, 500'000, 600'000, 10'000);
}

}  // namespace
}  // namespace anteroom
