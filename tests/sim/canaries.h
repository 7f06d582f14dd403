// Bugs planted on purpose (server/base/canary.h), to see that simulations find them.
#ifndef ANTEROOM_TESTS_SIM_CANARIES_H_
#define ANTEROOM_TESTS_SIM_CANARIES_H_

#include <string_view>

#include "tests/sim/runner.h"

namespace anteroom::sim {

// False when this build knows of no such bug.
bool PlantCanary(std::string_view name);

// Plants each in turn, lets simulations find it, and repeats the failure from its seed. Prints a
// line for each, and `N passed, N failed`; the exit status.
int FindCanaries(const Plan& plan);

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_CANARIES_H_
