// One simulation after another, in several threads, until the first that fails.
#ifndef ANTEROOM_TESTS_SIM_RUNNER_H_
#define ANTEROOM_TESTS_SIM_RUNNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/totals.h"

namespace anteroom::sim {

inline constexpr uint64_t kStepsDefault = 10'000;

struct Plan {
  uint64_t first_seed = 0;
  uint64_t seeds_max = UINT64_MAX;
  uint64_t steps = kStepsDefault;
  uint64_t seconds = 10;  // no seed is begun after them
  unsigned jobs = 1;
};

struct Failure {
  std::string what;
  uint64_t seed = 0;
  uint64_t steps = 0;
};

struct Result {
  WorkDone totals;
  unsigned passed = 0;
  std::optional<Failure> failure;  // the first one
};

Result Run(const Plan& plan);

// The command that repeats it, with the bug that was planted if any was.
std::string CommandOf(const Failure& failure, std::string_view canary);
std::string ToText(const WorkDone& totals);

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_RUNNER_H_
