#include "server/engine/line_speed.h"

#include <doctest/doctest.h>

namespace anteroom {
namespace {

TEST_CASE("line speed: unknown until the line has been seen to shorten") {
  LineSpeed speed;
  CHECK_FALSE(speed.Estimate(1000, 5).has_value());
  speed.Depart(1000, 1);
  CHECK_FALSE(speed.Estimate(5000, 5).has_value());
  speed.Depart(2000, 1);
  CHECK(speed.Estimate(2000, 5).has_value());
}

TEST_CASE("line speed: a steady line is told its wait, within a range around it") {
  LineSpeed speed;
  for (int64_t at_ms = 0; at_ms <= 60'000; at_ms += 20) speed.Depart(at_ms, 1);
  const auto estimate = speed.Estimate(60'000, 999);
  REQUIRE(estimate.has_value());
  CHECK_GE(estimate->eta_ms, 19'500);
  CHECK_LE(estimate->eta_ms, 20'500);
  CHECK_LT(estimate->low_ms, estimate->eta_ms);
  CHECK_GT(estimate->high_ms, estimate->eta_ms);
  CHECK_LE(estimate->high_ms, 30'000);
}

TEST_CASE("line speed: a slow line is measured over its last departures") {
  LineSpeed speed;
  for (int64_t at_ms = 0; at_ms <= 1'200'000; at_ms += 20'000) speed.Depart(at_ms, 1);
  const auto estimate = speed.Estimate(1'200'000, 9);
  REQUIRE(estimate.has_value());
  CHECK_EQ(estimate->eta_ms, 200'000);
}

TEST_CASE("line speed: follows when the rate changes") {
  LineSpeed speed;
  for (int64_t at_ms = 0; at_ms < 60'000; at_ms += 10) speed.Depart(at_ms, 1);
  for (int64_t at_ms = 60'000; at_ms <= 120'000; at_ms += 100) speed.Depart(at_ms, 1);
  const auto estimate = speed.Estimate(120'000, 99);
  REQUIRE(estimate.has_value());
  CHECK_GE(estimate->eta_ms, 9'500);
  CHECK_LE(estimate->eta_ms, 10'500);
}

TEST_CASE("line speed: a longer wait for everybody when nobody moves any more") {
  LineSpeed speed;
  speed.Depart(0, 1);
  speed.Depart(1000, 10);
  const auto moving = speed.Estimate(1000, 10);
  const auto stalled = speed.Estimate(61'000, 10);
  REQUIRE((moving.has_value() && stalled.has_value()));
  CHECK_GT(stalled->eta_ms, 10 * moving->eta_ms);
}

TEST_CASE("line speed: the longest lines and windows do not overflow") {
  LineSpeed speed;
  speed.Depart(0, 1);
  speed.Depart(int64_t{1} << 40, 1);
  const auto estimate = speed.Estimate(int64_t{1} << 40, uint64_t{1} << 40);
  REQUIRE(estimate.has_value());
  CHECK_LT(estimate->low_ms, estimate->eta_ms);
  CHECK_GT(estimate->high_ms, estimate->eta_ms);
  speed.check_invariants();
}

}  // namespace
}  // namespace anteroom
