#include "server/engine/heard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <unordered_map>
#include <vector>

#include "tests/support/seed.h"

namespace anteroom {
namespace {

constexpr int64_t kDayMs = 24 * 3600 * 1000;

std::vector<uint32_t> PopAll(Heard& heard, int64_t now_ms) {
  std::vector<Heard::Over> over;
  while (heard.NextDue() <= now_ms) heard.PopDue(now_ms, 4, &over);
  std::vector<uint32_t> visitors;
  visitors.reserve(over.size());
  for (const Heard::Over& one : over) visitors.push_back(one.visitor);
  std::sort(visitors.begin(), visitors.end());
  return visitors;
}

TEST_CASE("heard: a deadline is over at its very millisecond, not before") {
  Heard heard;
  heard.Hear(7, 1000, 500);
  CHECK_EQ(heard.DeadlineOf(7, 1000), 1500);
  CHECK(PopAll(heard, 1499).empty());
  CHECK_EQ(PopAll(heard, 1500), std::vector<uint32_t>{7});
  CHECK_EQ(heard.DeadlineOf(7, 1500), Heard::kNever);
}

TEST_CASE("heard: being heard from again moves the deadline, clearing takes it away") {
  Heard heard;
  heard.Hear(1, 0, 100);
  heard.Hear(2, 0, 100);
  heard.Hear(1, 50, 100);
  heard.Clear(2);
  CHECK(PopAll(heard, 149).empty());
  CHECK_EQ(PopAll(heard, 150), std::vector<uint32_t>{1});
}

TEST_CASE("heard: the low 32 bits are enough for 24 days, at any age of the engine") {
  for (const int64_t start_ms : {int64_t{0}, (int64_t{1} << 32) - kDayMs, int64_t{3} << 33}) {
    Heard heard;
    heard.Hear(64, start_ms, 24 * kDayMs);
    CHECK_EQ(heard.DeadlineOf(64, start_ms), start_ms + 24 * kDayMs);
    CHECK(PopAll(heard, start_ms + 24 * kDayMs - 1).empty());
    CHECK_EQ(PopAll(heard, start_ms + 24 * kDayMs).size(), 1);
  }
}

TEST_CASE("heard: as a plain map does, over a million random operations") {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t limit) { return random() % limit; };
  Heard heard;
  std::unordered_map<uint32_t, int64_t> model;
  // Across the place where 32 bits begin again.
  int64_t now_ms = (int64_t{1} << 32) - 2'000'000;
  for (int step = 0; step < 1'000'000; ++step) {
    const auto visitor = static_cast<uint32_t>(1 + below(3000));
    switch (below(8)) {
      case 0:
        heard.Clear(visitor);
        model.erase(visitor);
        break;
      case 1:
        now_ms += static_cast<int64_t>(below(40));
        break;
      default: {
        const auto ttl_ms = static_cast<int64_t>(1 + below(below(16) == 0 ? 100'000 : 500));
        heard.Hear(visitor, now_ms, ttl_ms);
        // No deadline falls on a multiple of 2^32; see Hear.
        model[visitor] = now_ms + ttl_ms + ((now_ms + ttl_ms) % (int64_t{1} << 32) == 0 ? 1 : 0);
      }
    }
    CHECK_EQ(heard.DeadlineOf(visitor, now_ms),
             model.contains(visitor) ? model[visitor] : Heard::kNever);
    if (step % 64 != 0) continue;
    std::vector<uint32_t> wanted;
    int64_t earliest_ms = Heard::kNever;
    for (const auto& [one, deadline_ms] : model) {
      earliest_ms = std::min(earliest_ms, deadline_ms);
      if (deadline_ms <= now_ms) wanted.push_back(one);
    }
    REQUIRE_LE(heard.NextDue(), earliest_ms);
    std::sort(wanted.begin(), wanted.end());
    REQUIRE_EQ(PopAll(heard, now_ms), wanted);
    for (const uint32_t one : wanted) model.erase(one);
    if (step % 65536 == 0) heard.check_invariants(now_ms);
  }
}

}  // namespace
}  // namespace anteroom
