#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/seed.h"
#include "tools/rehearse/checks.h"
#include "tools/rehearse/limits.h"

namespace anteroom::tools {
namespace {

using Admissions = std::vector<Admission>;

uint64_t Numbers(const Admissions& admissions) {
  Violations violations;
  CheckNumbers(admissions, &violations);
  return violations.count();
}

uint64_t Order(const Admissions& admissions) {
  Violations violations;
  CheckOrder(admissions, &violations);
  return violations.count();
}

uint64_t Capacity(const Admissions& admissions, uint64_t capacity) {
  Violations violations;
  CheckCapacity(admissions, {capacity}, &violations);
  return violations.count();
}

// Admissions at these moments, numbered from 1.
uint64_t RateOf(const std::vector<uint64_t>& at_ms, protocol::Rate rate, int64_t interval_ms) {
  Admissions admissions;
  for (size_t i = 0; i < at_ms.size(); ++i) {
    admissions.push_back({.number = i + 1, .arrival = i + 1, .admitted_at_ms = at_ms[i]});
  }
  Violations violations;
  CheckRate(admissions, rate, interval_ms, &violations);
  return violations.count();
}

constexpr protocol::Rate kTenPerSecond = {10, 1000};

TEST_CASE("no admission number twice") {
  CHECK(Numbers({}) == 0);
  CHECK(Numbers({{.number = 3}, {.number = 1}, {.number = 2}}) == 0);
  CHECK(Numbers({{.number = 3}, {.number = 1}, {.number = 3}}) == 1);
  CHECK(Numbers({{.number = 3}, {.number = 3}, {.number = 3}}) == 2);
}

TEST_CASE("who comes first is let in first") {
  CHECK(Order({}) == 0);
  CHECK(Order({{.number = 2, .arrival = 7}, {.number = 1, .arrival = 5}}) == 0);
  CHECK(Order({{.number = 2, .arrival = 5}, {.number = 1, .arrival = 7}}) == 1);
  CHECK(Order({{.number = 1, .arrival = 5}, {.number = 2, .arrival = 5}}) == 1);
  // One who was let in much too early does not make all the others wrong twice over.
  CHECK(Order({{.number = 1, .arrival = 3},
               {.number = 2, .arrival = 1},
               {.number = 3, .arrival = 2},
               {.number = 4, .arrival = 4}}) == 2);
  // Lanes are apart.
  CHECK(Order({{.number = 1, .arrival = 9, .lane = 0},
               {.number = 2, .arrival = 5, .lane = 1},
               {.number = 3, .arrival = 10, .lane = 0}}) == 0);
  CHECK(Order({{.number = 1, .arrival = 9, .lane = 0},
               {.number = 2, .arrival = 5, .lane = 1},
               {.number = 3, .arrival = 8, .lane = 0}}) == 1);
}

TEST_CASE("the rate, with the two depths it may run ahead") {
  // One depth is one admission here, so two at once, then one every 100 ms.
  CHECK(RateOf({0, 0, 100, 200, 300}, kTenPerSecond, 20) == 0);
  CHECK(RateOf({0, 0, 0}, kTenPerSecond, 20) == 1);
  CHECK(RateOf({0, 0, 99}, kTenPerSecond, 20) == 1);
  CHECK(RateOf({0, 0, 100, 199}, kTenPerSecond, 20) == 1);
  // What is saved is two depths at most, however long nobody came.
  CHECK(RateOf({0, 1'000'000, 1'000'000, 1'000'100}, kTenPerSecond, 20) == 0);
  CHECK(RateOf({0, 1'000'000, 1'000'000, 1'000'000}, kTenPerSecond, 20) == 1);
  // Batches of half a second: a depth is five.
  const std::vector<uint64_t> ten(10, 5000);
  CHECK(RateOf(ten, kTenPerSecond, 500) == 0);
  const std::vector<uint64_t> eleven(11, 5000);
  CHECK(RateOf(eleven, kTenPerSecond, 500) == 1);
  // A broken moment is told once, not for ever after.
  CHECK(RateOf({0, 0, 0, 0, 0, 1000, 1100, 1200}, kTenPerSecond, 20) == 3);
  CHECK(RateOf({0, 0, 0}, {}, 20) == 0);
  CHECK(RateOf({5}, {0, 1000}, 20) == 0);
  CHECK(RateOf({5, 5, 9'000'000}, {0, 1000}, 20) == 1);
  CHECK(RateOf({0, 1'000'000'000'000}, {4'000'000'000, 1000}, 20) == 0);
}

TEST_CASE("the rate is exceeded where some window holds too many, and nowhere else") {
  std::mt19937_64 random(TestSeed());
  int broken = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    const protocol::Rate rate = {static_cast<uint32_t>(1 + random() % 50),
                                 random() % 2 == 0 ? 1000U : 60000U};
    const auto interval_ms = static_cast<int64_t>(1 + random() % 300);
    const uint64_t gap_ms = 1 + 2 * rate.per_ms / rate.count;
    std::vector<uint64_t> at_ms;
    uint64_t now_ms = 1000;
    for (size_t i = 1 + random() % 12; i > 0; --i) {
      at_ms.push_back(now_ms);
      now_ms += random() % 4 == 0 ? 0 : random() % gap_ms;
    }
    // In units of which per_ms make an admission.
    const uint64_t depth = std::max<uint64_t>(rate.per_ms, rate.count * interval_ms);
    bool exceeded = false;
    for (size_t first = 0; first < at_ms.size(); ++first) {
      for (size_t last = first; last < at_ms.size(); ++last) {
        const uint64_t window_ms = at_ms[last] - at_ms[first];
        exceeded |= (last - first + 1) * rate.per_ms > rate.count * window_ms + 2 * depth;
      }
    }
    broken += exceeded ? 1 : 0;
    CHECK((RateOf(at_ms, rate, interval_ms) > 0) == exceeded);
  }
  // Both happen, or nothing was tested.
  CHECK(broken > kRounds / 20);
  CHECK(broken < kRounds - kRounds / 20);
}

TEST_CASE("capacity at every moment") {
  const Admissions two = {{.number = 1, .admitted_at_ms = 10, .ended_at_ms = 20},
                          {.number = 2, .admitted_at_ms = 15, .ended_at_ms = 30}};
  CHECK(Capacity(two, 2) == 0);
  CHECK(Capacity(two, 1) == 1);
  CHECK(Capacity(two, 0) == 1);  // one stretch of time
  // Within a millisecond what frees comes first.
  CHECK(Capacity({{.number = 1, .admitted_at_ms = 10, .ended_at_ms = 20},
                  {.number = 2, .admitted_at_ms = 20, .ended_at_ms = 30}},
                 1) == 0);
  CHECK(Capacity({{.number = 1, .admitted_at_ms = 10, .ended_at_ms = 21},
                  {.number = 2, .admitted_at_ms = 20, .ended_at_ms = 30}},
                 1) == 1);
  // In and out within one millisecond.
  CHECK(Capacity({{.number = 1, .admitted_at_ms = 10, .ended_at_ms = 10},
                  {.number = 2, .admitted_at_ms = 10, .ended_at_ms = 10}},
                 1) == 0);
  // Still inside takes a slot for ever; an end that is not known takes none.
  CHECK(Capacity({{.number = 1, .admitted_at_ms = 10}, {.number = 2, .admitted_at_ms = 99}}, 1) ==
        1);
  CHECK(Capacity({{.number = 1, .admitted_at_ms = 10, .ended_at_ms = Admission::kUnknown},
                  {.number = 2, .admitted_at_ms = 99}},
                 1) == 0);
  CHECK(Capacity(two, protocol::Limit::kNone) == 0);
}

TEST_CASE("capacity is exceeded where too many are inside, and nowhere else") {
  std::mt19937_64 random(TestSeed());
  int broken = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    Admissions admissions;
    for (size_t i = 1 + random() % 10; i > 0; --i) {
      const uint64_t from_ms = random() % 40;
      admissions.push_back(
          {.number = i, .admitted_at_ms = from_ms, .ended_at_ms = from_ms + random() % 15});
    }
    const uint64_t capacity = random() % 6;
    bool exceeded = false;
    for (uint64_t at_ms = 0; at_ms < 60; ++at_ms) {
      const auto inside =
          std::count_if(admissions.begin(), admissions.end(), [&](const Admission& admission) {
            return admission.admitted_at_ms <= at_ms && admission.ended_at_ms > at_ms;
          });
      exceeded |= static_cast<uint64_t>(inside) > capacity;
    }
    broken += exceeded ? 1 : 0;
    CHECK((Capacity(admissions, capacity) > 0) == exceeded);
  }
  CHECK(broken > kRounds / 20);
  CHECK(broken < kRounds - kRounds / 20);
}

TEST_CASE("all violations are counted, the first ones told") {
  const Admissions same(100, {.number = 7});
  Violations violations;
  CheckNumbers(same, &violations);
  CHECK(violations.count() == 99);
  CHECK(violations.told().size() == kViolationsTold);
}

}  // namespace
}  // namespace anteroom::tools
