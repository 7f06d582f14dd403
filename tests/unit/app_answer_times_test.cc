// How long answers took, in buckets: each request once, with the time from its turn to its release.
#include "server/app/answer_times.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace anteroom::app {
namespace {

TEST_CASE("latency histogram: a time is in every bucket that is not below it") {
  LatencyHistogram histogram;
  histogram.Add(100);
  histogram.Add(101, 3);
  histogram.Add(5'000'000);
  histogram.Add(5'000'001, 2);
  const protocol::Latencies latencies = histogram.Describe();
  REQUIRE(latencies.buckets.size() == LatencyHistogram::kAtMostUs.size());
  CHECK(latencies.buckets[0].at_most_us == 100);
  CHECK(latencies.buckets[0].count == 1);
  CHECK(latencies.buckets[1].count == 4);
  CHECK(latencies.buckets[13].count == 4);
  CHECK(latencies.buckets[14].count == 5);
  CHECK(latencies.count == 7);
  CHECK(latencies.sum_us == 100 + 303 + 5'000'000 + 10'000'002);
}

TEST_CASE("latency histogram: random times, against counting them") {
  std::mt19937_64 random(TestSeed());
  LatencyHistogram histogram;
  std::vector<uint64_t> times_us;
  for (int i = 0; i < 5000; ++i) {
    times_us.push_back(random() >> (34 + random() % 30));
    histogram.Add(times_us.back());
  }
  for (const protocol::LatencyBucket& bucket : histogram.Describe().buckets) {
    CAPTURE(bucket.at_most_us);
    CHECK(bucket.count == static_cast<uint64_t>(std::count_if(
                              times_us.begin(), times_us.end(),
                              [&](uint64_t took_us) { return took_us <= bucket.at_most_us; })));
  }
  CHECK(histogram.Describe().count == times_us.size());
}

constexpr uint64_t kMsInNs = 1'000'000;

TEST_CASE("answer times: until their mark is released, chunks of a turn together") {
  AnswerTimes answers;
  answers.BeginTurn(0);
  answers.Count(0, 1);
  CHECK_FALSE(answers.waits());
  answers.Count(3, 1);
  answers.Count(2, 4);
  answers.BeginTurn(10 * kMsInNs);
  answers.Count(1, 5);
  answers.Release(3, 11 * kMsInNs);
  CHECK(answers.times().Describe().count == 0);
  answers.Release(4, 20 * kMsInNs);
  CHECK(answers.times().Describe().count == 5);
  CHECK(answers.times().Describe().sum_us == 5 * 20'000);
  // As without a log to wait for.
  answers.Release(UINT64_MAX, 21 * kMsInNs);
  CHECK(answers.times().Describe().count == 6);
  CHECK(answers.times().Describe().sum_us == 5 * 20'000 + 11'000);
  CHECK_FALSE(answers.waits());
}

TEST_CASE("answer times: while a disk hangs, every request is counted still") {
  AnswerTimes answers;
  const uint64_t turns = limits::kTurnsTimedMax + 1000;
  for (uint64_t turn = 1; turn <= turns; ++turn) {
    answers.BeginTurn(turn * kMsInNs);
    answers.Count(2, turn);
  }
  // The last ones wait together, for the last mark.
  answers.Release(turns - 1, (turns + 1) * kMsInNs);
  CHECK(answers.times().Describe().count == 2 * (limits::kTurnsTimedMax - 1));
  CHECK(answers.waits());
  answers.Release(turns, (turns + 1) * kMsInNs);
  CHECK(answers.times().Describe().count == 2 * turns);
}

}  // namespace
}  // namespace anteroom::app
