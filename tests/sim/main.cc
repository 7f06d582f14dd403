// Runs simulations.
//
//   sim [--seed N] [--steps N] [--seconds N] [--seeds N] [--jobs N]
//
// With a seed that one alone; else one seed after another from a random one on, in `jobs` threads
// (default: all processors), for so many seconds (default 10) or until so many seeds are done. The
// last line is `N passed, N failed`, counted in seeds.
//
// Built with -DANTEROOM_CANARIES also `--canary NAME`, which plants a bug, and `--canaries`, which
// plants one after another and ends with how many were found (`N passed`).

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "server/base/check.h"
#include "tests/sim/canaries.h"
#include "tests/sim/runner.h"

namespace {

using anteroom::sim::Plan;
using anteroom::sim::Result;

struct Flags {
  Plan plan;
  std::string canary;
  bool canaries = false;
};

bool Parse(int argc, char** argv, Flags* flags) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--canaries") {
      flags->canaries = true;
      continue;
    }
    if (++i == argc) return false;
    if (flag == "--canary") {
      flags->canary = argv[i];
      continue;
    }
    // Nothing of anything would pass without a look at it.
    const std::string_view text = argv[i];
    uint64_t value = 0;
    const auto read = std::from_chars(text.begin(), text.end(), value);
    if (read.ec != std::errc() || read.ptr != text.end()) return false;
    if (value == 0 && flag != "--seed") return false;
    if (flag == "--seed") {
      flags->plan.first_seed = value;
      flags->plan.seeds_max = 1;
    } else if (flag == "--steps") {
      flags->plan.steps = value;
    } else if (flag == "--seconds") {
      flags->plan.seconds = value;
    } else if (flag == "--seeds") {
      flags->plan.seeds_max = value;
      flags->plan.seconds = UINT32_MAX;
    } else if (flag == "--jobs") {
      flags->plan.jobs = static_cast<unsigned>(value);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  std::random_device device;
  flags.plan.first_seed = uint64_t{device()} << 16;
  flags.plan.jobs = std::max(1u, std::thread::hardware_concurrency());
  if (!Parse(argc, argv, &flags)) {
    std::fprintf(stderr, "usage: %s [--seed N] [--steps N] [--seconds N] [--seeds N] [--jobs N]\n",
                 argv[0]);
    return 2;
  }
  if (flags.canaries) return anteroom::sim::FindCanaries(flags.plan);
  if (!flags.canary.empty() && !anteroom::sim::PlantCanary(flags.canary)) {
    std::fprintf(stderr, "no such bug can be planted in this build: %s\n", flags.canary.c_str());
    return 2;
  }
  const Result result = anteroom::sim::Run(flags.plan);
  if (result.failure) {
    std::printf("failed: %s\n  repeat: %s\n", result.failure->what.c_str(),
                anteroom::sim::CommandOf(*result.failure, flags.canary).c_str());
  }
  std::printf("%s\n", anteroom::sim::ToText(result.totals).c_str());
  std::printf("%u passed, %u failed\n", result.passed, result.failure ? 1 : 0);
  return result.failure ? 1 : 0;
}
