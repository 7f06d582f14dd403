#include "tests/sim/canaries.h"

#include <cstdio>
#include <string>

#include "server/base/canary.h"

namespace anteroom::sim {

#ifdef ANTEROOM_CANARIES

namespace {

struct Known {
  Canary canary;
  std::string_view name;
};
constexpr Known kAll[] = {
#define ANTEROOM_X(enumerator, name) {Canary::enumerator, name},
    ANTEROOM_CANARIES_TABLE(ANTEROOM_X)
#undef ANTEROOM_X
};

// Found, and found again at the same place from its seed alone.
bool Find(const Known& one, const Plan& plan) {
  planted_canary = one.canary;
  const Result result = Run(plan);
  const std::string name(one.name);
  if (!result.failure) {
    std::printf("NOT FOUND: %s, in %u seeds\n", name.c_str(), result.passed);
    return false;
  }
  Plan again = plan;
  again.first_seed = result.failure->seed;
  again.seeds_max = 1;
  const Result repeated = Run(again);
  if (!repeated.failure || repeated.failure->what != result.failure->what) {
    std::printf("NOT REPEATED: %s, seed %llu\n", name.c_str(),
                static_cast<unsigned long long>(result.failure->seed));
    return false;
  }
  std::printf("found: %s, after %u seeds without it\n  %s\n  repeat: %s\n", name.c_str(),
              result.passed, result.failure->what.c_str(),
              CommandOf(*result.failure, one.name).c_str());
  return true;
}

}  // namespace

bool PlantCanary(std::string_view name) {
  for (const Known& one : kAll) {
    if (one.name != name) continue;
    planted_canary = one.canary;
    return true;
  }
  return false;
}

int FindCanaries(const Plan& plan) {
  unsigned found = 0;
  unsigned missed = 0;
  for (const Known& one : kAll) {
    ++(Find(one, plan) ? found : missed);
    std::fflush(stdout);
  }
  std::printf("%u passed, %u failed\n", found, missed);
  return missed == 0 ? 0 : 1;
}

#else

bool PlantCanary(std::string_view) {
  return false;
}

int FindCanaries(const Plan&) {
  std::fprintf(stderr, "this build has no planted bugs: make sim-canaries\n");
  return 2;
}

#endif

}  // namespace anteroom::sim
