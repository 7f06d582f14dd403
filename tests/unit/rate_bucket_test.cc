#include "server/engine/rate_bucket.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "tests/support/seed.h"

namespace anteroom {
namespace {

using protocol::Rate;

TEST_CASE("rate bucket: 50/s lets one in every twentieth of a second") {
  RateBucket bucket;
  bucket.Configure(Rate{50, 1000}, 20, 0);
  CHECK_EQ(bucket.ForEvent(), 2);  // begins full: two depths of one
  bucket.Spend(2);
  CHECK_EQ(bucket.NextAtMs(), 20);
  bucket.Fill(19);
  CHECK_EQ(bucket.ForTime(), 0);
  bucket.Fill(20);
  CHECK_EQ(bucket.ForTime(), 1);
}

TEST_CASE(
    "rate bucket: an interval of a second spends in batches, an event does not wait for one") {
  RateBucket bucket;
  bucket.Configure(Rate{50, 1000}, 1000, 0);
  CHECK_EQ(bucket.ForTime(), 100);
  bucket.Spend(100);
  bucket.Fill(999);
  CHECK_EQ(bucket.ForTime(), 0);
  CHECK_EQ(bucket.ForEvent(), 49);
  bucket.Fill(1000);
  CHECK_EQ(bucket.ForTime(), 50);
}

TEST_CASE("rate bucket: 0/s admits nobody, however long it waits") {
  RateBucket bucket;
  bucket.Configure(Rate{0, 1000}, 20, 0);
  bucket.Fill(int64_t{1} << 40);
  CHECK_EQ(bucket.ForEvent(), 0);
  CHECK_EQ(bucket.ForTime(), 0);
  CHECK_EQ(bucket.NextAtMs(), RateBucket::kNever);
}

TEST_CASE("rate bucket: years of standing still fill it to two depths and no further") {
  RateBucket bucket;
  bucket.Configure(Rate{1'000'000, 1000}, 3'600'000, 0);
  bucket.Spend(bucket.ForEvent());
  bucket.Fill(int64_t{1} << 44);
  CHECK_EQ(bucket.ForEvent(), 2 * 3'600'000'000);
  bucket.check_invariants();
}

TEST_CASE("rate bucket: a change of rate keeps the admissions that were there") {
  RateBucket bucket;
  bucket.Configure(Rate{60, 60'000}, 20, 0);
  bucket.Spend(1);
  CHECK_EQ(bucket.ForEvent(), 1);
  bucket.Configure(Rate{100, 1000}, 20, 0);
  CHECK_EQ(bucket.ForEvent(), 1);
  bucket.Configure(Rate{7, 3'600'000}, 20, 0);
  CHECK_EQ(bucket.ForEvent(), 1);
}

TEST_CASE("rate bucket: over long times exactly the rate, in any window at most two depths more") {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t limit) { return random() % limit; };
  constexpr uint32_t kPers[] = {1000, 60'000, 3'600'000};
  constexpr int64_t kIntervals[] = {1, 20, 333, 1000};
  for (int run = 0; run < 200; ++run) {
    const Rate rate{static_cast<uint32_t>(1 + below(500)), kPers[below(3)]};
    const int64_t interval_ms = kIntervals[below(4)];
    const double depth =
        std::max(1.0, double{1} * rate.count * static_cast<double>(interval_ms) / rate.per_ms);
    RateBucket bucket;
    bucket.Configure(rate, interval_ms, 0);
    uint64_t spent = 0;
    std::deque<std::pair<int64_t, uint64_t>> spends;  // time, spent before it
    int64_t now_ms = 0;
    for (int step = 0; step < 5000; ++step) {
      // Wakes up when it should; now and then an event comes first.
      const int64_t next_ms = bucket.NextAtMs();
      const bool event = below(3) == 0;
      now_ms =
          event ? now_ms + static_cast<int64_t>(below(static_cast<uint64_t>(next_ms - now_ms) + 1))
                : next_ms;
      bucket.Fill(now_ms);
      const uint64_t allowed = event ? bucket.ForEvent() : bucket.ForTime();
      if (allowed == 0) continue;
      if (spends.size() > 64) spends.pop_front();
      spends.emplace_back(now_ms, spent);
      bucket.Spend(allowed);
      spent += allowed;
      double most_over = 0;
      for (const auto& [at_ms, before] : spends) {
        const auto window_ms = static_cast<double>(now_ms - at_ms);
        const double allowed_in_window = rate.count * window_ms / rate.per_ms + 2 * depth;
        most_over = std::max(most_over, static_cast<double>(spent - before) - allowed_in_window);
      }
      REQUIRE_LE(most_over, 1e-6);
    }
    const double exact =
        static_cast<double>(rate.count) * static_cast<double>(now_ms) / rate.per_ms;
    CHECK_GE(static_cast<double>(spent), exact - 1);
    CHECK_LE(static_cast<double>(spent), exact + 2 * depth + 1e-6);
    bucket.check_invariants();
  }
}

}  // namespace
}  // namespace anteroom
