#include "server/engine/heard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/support/seed.h"

namespace anteroom {
namespace {

constexpr int64_t kDayMs = 24 * 3600 * 1000;

// Handles 1 to kPeople are somebody's.
constexpr uint32_t kPeople = 3000;
struct People {
  Roster roster{1};
  Heard heard{roster.soft_deadlines()};
  People() {
    for (uint32_t i = 1; i <= kPeople; ++i) REQUIRE_EQ(roster.Add(1, std::to_string(i)), i);
  }
};

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
  People people;
  Heard& heard = people.heard;
  heard.Hear(7, 1000, 500);
  CHECK_EQ(heard.DeadlineOf(7, 1000), 1500);
  CHECK(PopAll(heard, 1499).empty());
  CHECK_EQ(PopAll(heard, 1500), std::vector<uint32_t>{7});
  CHECK_EQ(heard.DeadlineOf(7, 1500), Heard::kNever);
}

TEST_CASE("heard: being heard from again moves the deadline, clearing takes it away") {
  People people;
  Heard& heard = people.heard;
  heard.Hear(1, 0, 100);
  heard.Hear(2, 0, 100);
  heard.Hear(1, 50, 100);
  heard.Clear(2);
  CHECK(PopAll(heard, 149).empty());
  CHECK_EQ(PopAll(heard, 150), std::vector<uint32_t>{1});
}

TEST_CASE("heard: the low 32 bits are enough for 24 days, at any age of the engine") {
  for (const int64_t start_ms : {int64_t{0}, (int64_t{1} << 32) - kDayMs, int64_t{3} << 33}) {
    People people;
    Heard& heard = people.heard;
    heard.Hear(64, start_ms, 24 * kDayMs);
    CHECK_EQ(heard.DeadlineOf(64, start_ms), start_ms + 24 * kDayMs);
    CHECK(PopAll(heard, start_ms + 24 * kDayMs - 1).empty());
    CHECK_EQ(PopAll(heard, start_ms + 24 * kDayMs).size(), 1);
  }
}

TEST_CASE("heard: whoever is gone has no deadline, nor has the next one with the handle") {
  People people;
  people.heard.Hear(7, 0, 100);
  people.roster[7].state = 1;
  people.roster.Remove(7);
  CHECK_EQ(people.roster.Add(1, "somebody new"), 7);
  CHECK_EQ(people.heard.DeadlineOf(7, 0), Heard::kNever);
  CHECK(PopAll(people.heard, 100).empty());
  people.heard.Hear(7, 100, 50);
  CHECK(PopAll(people.heard, 149).empty());
  CHECK_EQ(PopAll(people.heard, 150), std::vector<uint32_t>{7});
}

TEST_CASE("heard: an earlier deadline than the one before is kept to") {
  People people;
  people.heard.Hear(7, 0, 5000);
  people.heard.Hear(7, 10, 20);
  CHECK_EQ(PopAll(people.heard, 30), std::vector<uint32_t>{7});
}

TEST_CASE("heard: as a plain map does, over a million random operations") {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t limit) { return random() % limit; };
  People people;
  Heard& heard = people.heard;
  std::unordered_map<uint32_t, int64_t> model;
  // Across the place where 32 bits begin again.
  int64_t now_ms = (int64_t{1} << 32) - 2'000'000;
  for (int step = 0; step < 1'000'000; ++step) {
    const auto visitor = static_cast<uint32_t>(1 + below(kPeople));
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
