// A whole daemon but for its sockets, on a clock and a disk that are simulated: the real desk,
// engine, log writer and recovery; clients that join, retry, vanish and race; an operator who
// changes settings; crashes at any call, unsynced writes kept, dropped or torn, failed syncs, a
// full disk. One seed decides everything, so a run can be repeated to the byte.
//
// Checked: after each crash recovery gives exactly the state at some record at or after the last
// one whose effects had left, never half of one; a start succeeds whenever the disk lets it; the
// engine's own invariants (counts against a recount, ranks, digests) at each start and now and
// then; no admission number twice in anything that left; the log read from its first byte gives
// the running state; and once faults stop everybody is let in and leaves.
//
// A broken check throws std::logic_error.
// Threads: one.
#ifndef ANTEROOM_TESTS_SIM_SIMULATION_H_
#define ANTEROOM_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "server/storage/log_format.h"
#include "tests/support/memory_files.h"

namespace anteroom::sim {

struct Totals {
  uint64_t steps = 0;
  uint64_t records = 0;
  uint64_t batches = 0;
  uint64_t starts = 0;
  uint64_t power_losses = 0;
  uint64_t kills = 0;
  uint64_t stops = 0;
  uint64_t full_disks = 0;
};

// What the world outside the daemon knows.
// Invariant: states[n] is the state after record n; those after `released` may be lost.
struct History {
  std::vector<storage::EngineMark> states;
  uint64_t released = 0;
  // Admissions that somebody was told of, and whose they are: "room/visitor".
  std::map<uint64_t, std::string> admissions;
};

class Simulation {
 public:
  explicit Simulation(uint64_t seed);

  void Run(uint64_t steps);
  const Totals& totals() const { return totals_; }

 private:
  // How often what goes wrong, drawn from the seed: one in so many steps, 0 never.
  struct Faults {
    uint64_t power_loss = 0;
    uint64_t kill = 0;
    uint64_t clean_stop = 0;
    uint64_t failed_sync = 0;
    uint64_t full_disk = 0;
    bool short_writes = false;
    uint64_t commit = 1;
  };

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool OneIn(uint64_t chance) { return chance != 0 && Below(chance) == 0; }
  void DrawFaults();
  // One life of the daemon, from its start to its end.
  void Live();
  void EndOfPower();
  void Drain();

  std::mt19937_64 random_;
  storage::MemoryFiles disk_;
  Faults faults_;
  History history_;
  Totals totals_;
  uint64_t steps_left_ = 0;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_SIMULATION_H_
