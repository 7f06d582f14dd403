#include "tests/sim/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "server/base/check.h"
#include "tests/sim/simulation.h"

namespace anteroom::sim {

namespace {

using Clock = std::chrono::steady_clock;

void ThrowCheckFailure(const char* file, int line, std::string_view message) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " +
                         std::string(message));
}

// What the threads share.
struct Work {
  const Plan& plan;
  const Clock::time_point end;
  std::atomic<uint64_t> begun = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex = {};
  Result result = {};
};

std::optional<std::string> Simulate(uint64_t seed, uint64_t steps, WorkDone* totals) {
  try {
    Simulation simulation(seed);
    simulation.Run(steps);
    *totals = simulation.totals();
    return std::nullopt;
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

void SimulateSome(Work* work) {
  while (!work->stop && Clock::now() < work->end) {
    const uint64_t begun = work->begun++;
    if (begun >= work->plan.seeds_max) return;
    const uint64_t seed = work->plan.first_seed + begun;
    WorkDone totals;
    const auto failure = Simulate(seed, work->plan.steps, &totals);
    const std::lock_guard<std::mutex> lock(work->mutex);
    work->result.totals += totals;
    if (!failure) {
      ++work->result.passed;
    } else if (!work->result.failure) {
      work->result.failure = {*failure, seed, work->plan.steps};
      work->stop = true;
    }
  }
}

}  // namespace

Result Run(const Plan& plan) {
  SetCheckFailureHandler(ThrowCheckFailure);
  Work work{.plan = plan, .end = Clock::now() + std::chrono::seconds(plan.seconds)};
  std::vector<std::thread> threads;
  const uint64_t jobs = std::min<uint64_t>(std::max(1u, plan.jobs), plan.seeds_max);
  threads.reserve(jobs);
  for (uint64_t i = 0; i < jobs; ++i) threads.emplace_back(SimulateSome, &work);
  for (std::thread& thread : threads) thread.join();
  return work.result;
}

std::string CommandOf(const Failure& failure, std::string_view canary) {
  std::string command = canary.empty() ? "make sim" : "make sim-canaries CANARY=";
  command += canary;
  return command + " SEED=" + std::to_string(failure.seed) +
         " STEPS=" + std::to_string(failure.steps);
}

std::string ToText(const WorkDone& totals) {
  std::string text;
  const auto add = [&](std::string name, uint64_t value) {
    std::replace(name.begin(), name.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + std::to_string(value) + " " + name;
  };
#define ANTEROOM_X(name) add(#name, totals.name);
  ANTEROOM_SIM_TOTALS(ANTEROOM_X)
#undef ANTEROOM_X
  return text;
}

}  // namespace anteroom::sim
