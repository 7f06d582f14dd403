// Runs simulations: `sim [--seed N] [--steps N] [--seconds N]`. Without a seed, seeds from a random
// one on, for so many seconds (default 10); with one, that one alone. The last line is
// `N passed, N failed`, counted in seeds.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include "server/base/check.h"
#include "tests/sim/simulation.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kStepsDefault = 20'000;
constexpr uint64_t kSecondsDefault = 10;

void ThrowCheckFailure(const char* file, int line, std::string_view message) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " +
                         std::string(message));
}

bool Simulate(uint64_t seed, uint64_t steps, anteroom::sim::Totals* sums) {
  try {
    anteroom::sim::Simulation simulation(seed);
    simulation.Run(steps);
    const anteroom::sim::Totals& totals = simulation.totals();
    sums->steps += totals.steps;
    sums->records += totals.records;
    sums->batches += totals.batches;
    sums->starts += totals.starts;
    sums->power_losses += totals.power_losses;
    sums->kills += totals.kills;
    sums->stops += totals.stops;
    sums->full_disks += totals.full_disks;
    return true;
  } catch (const std::exception& failure) {
    std::printf("failed: %s\n  repeat: make sim SEED=%llu STEPS=%llu\n", failure.what(),
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(steps));
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<uint64_t> seed;
  uint64_t steps = kStepsDefault;
  uint64_t seconds = kSecondsDefault;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    char* end = nullptr;
    const uint64_t value = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 0) : 0;
    const bool whole = end != nullptr && end != argv[i + 1] && *end == '\0';
    if (whole && flag == "--seed") {
      seed = value;
    } else if (whole && flag == "--steps") {
      steps = value;
    } else if (whole && flag == "--seconds") {
      seconds = value;
    } else {
      std::fprintf(stderr, "usage: %s [--seed N] [--steps N] [--seconds N]\n", argv[0]);
      return 2;
    }
  }
  anteroom::SetCheckFailureHandler(ThrowCheckFailure);
  std::random_device device;
  uint64_t next_seed = seed.value_or(uint64_t{device()} << 16);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  unsigned passed = 0;
  unsigned failed = 0;
  anteroom::sim::Totals sums;
  do {
    ++(Simulate(next_seed++, steps, &sums) ? passed : failed);
  } while (!seed && failed == 0 && Clock::now() < end);
  const auto count = [](uint64_t number) { return static_cast<unsigned long long>(number); };
  std::printf(
      "%llu steps, %llu records in %llu batches, %llu starts, %llu power losses, %llu kills, %llu "
      "clean "
      "stops, %llu full disks\n",
      count(sums.steps), count(sums.records), count(sums.batches), count(sums.starts),
      count(sums.power_losses), count(sums.kills), count(sums.stops), count(sums.full_disks));
  std::printf("%u passed, %u failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
