// A whole daemon but for its sockets, with its clients, on a clock, a disk and a network that are
// simulated. One seed decides everything, so a run can be repeated to the byte. README.md says what
// is checked; a broken check throws std::logic_error.
//
//   Simulation simulation(seed);
//   simulation.Run(steps);
//
// Threads: one; as many simulations as there are threads.
#ifndef ANTEROOM_TESTS_SIM_SIMULATION_H_
#define ANTEROOM_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <random>

#include "tests/sim/chronicle.h"
#include "tests/sim/clients.h"
#include "tests/sim/daemon.h"
#include "tests/sim/faults.h"
#include "tests/sim/names.h"
#include "tests/sim/network.h"
#include "tests/sim/pool.h"
#include "tests/sim/totals.h"
#include "tests/support/memory_files.h"

namespace anteroom::sim {

class Simulation {
 public:
  explicit Simulation(uint64_t seed);

  void Run(uint64_t steps);
  const WorkDone& totals() const { return totals_; }

 private:
  // How a life of the daemon ends.
  enum class Death { kNone, kKilled, kPowerLost, kStopped };

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool OneIn(uint64_t chance) { return chance != 0 && Below(chance) == 0; }
  Daemon::Options DaemonOptions();
  void ClearDisk();

  // One life of the daemon, from its start to its end.
  void Live();
  Death LiveUntilDeath(Daemon& daemon);
  Death Step(Daemon& daemon);
  void MoveTime();
  void StepDisk();
  void Bury(Death death);
  void Drain();
  void CheckWholeLog(Daemon& daemon);

  std::mt19937_64 random_;
  const Names names_;
  storage::MemoryFiles disk_;
  Pool pool_;
  Network network_;
  Clients clients_;
  Chronicle chronicle_;
  Faults faults_;
  WorkDone totals_;
  uint64_t steps_left_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t slow_steps_left_ = 0;
  uint64_t full_steps_left_ = 0;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_SIMULATION_H_
