// The engine's clock: forward only, and only while it runs.
#include <doctest/doctest.h>

#include <random>

#include "server/app/engine_clock.h"
#include "tests/support/seed.h"

namespace anteroom::app {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST_CASE("a real clock goes on from where the log ends") {
  EngineClock clock(EngineClock::Kind::kReal, 5000, 70 * kMs);
  REQUIRE(clock.Read(70 * kMs) == 5000);
  REQUIRE(clock.Read(71 * kMs - 1) == 5000);
  REQUIRE(clock.Read(71 * kMs) == 5001);
  // A monotonic clock that is not.
  REQUIRE(clock.Read(60 * kMs) == 5001);
  REQUIRE(clock.Read(2070 * kMs) == 7000);
  clock.check_invariants();
}

TEST_CASE("the time of a stop does not count, nor that since the last reading before it") {
  EngineClock clock(EngineClock::Kind::kReal, 0, 0);
  REQUIRE(clock.Read(10 * kMs) == 10);
  clock.Stop();
  REQUIRE(clock.stopped());
  REQUIRE(clock.Read(500 * kMs) == 10);
  clock.Stop();
  clock.Resume(1000 * kMs);
  REQUIRE(clock.Read(1000 * kMs) == 10);
  REQUIRE(clock.Read(1005 * kMs) == 15);
  clock.check_invariants();
}

TEST_CASE("a virtual clock goes when it is told to") {
  EngineClock clock(EngineClock::Kind::kVirtual, 7, 0);
  REQUIRE(clock.Read(1000 * kMs) == 7);
  clock.MoveTo(300'007);
  REQUIRE(clock.Read(1 * kMs) == 300'007);
  clock.Stop();
  clock.Resume(5 * kMs);
  REQUIRE(clock.Read(9 * kMs) == 300'007);
}

TEST_CASE("no history makes a clock go back") {
  std::mt19937_64 random(TestSeed());
  EngineClock clock(EngineClock::Kind::kReal, 0, 0);
  int64_t shown_ms = 0;
  uint64_t now_ns = 0;
  for (int i = 0; i < 100'000; ++i) {
    now_ns += random() % (3 * kMs);
    switch (random() % 4) {
      case 0:
        clock.Stop();
        break;
      case 1:
        clock.Resume(now_ns);
        break;
      default:
        const int64_t now_ms = clock.Read(now_ns);
        REQUIRE(now_ms >= shown_ms);
        REQUIRE(now_ms <= static_cast<int64_t>(now_ns / kMs));
        shown_ms = now_ms;
    }
    clock.check_invariants();
  }
}

}  // namespace
}  // namespace anteroom::app
