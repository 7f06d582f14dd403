// What goes wrong in one life of the daemon, and how often: drawn from the seed.
#ifndef ANTEROOM_TESTS_SIM_FAULTS_H_
#define ANTEROOM_TESTS_SIM_FAULTS_H_

#include <cstdint>
#include <random>

#include "server/app/group_commit.h"
#include "tests/sim/network.h"

namespace anteroom::sim {

// A chance is one in so many steps; 0 is never.
struct Faults {
  uint64_t power_loss = 0;
  uint64_t kill = 0;
  uint64_t clean_stop = 0;
  uint64_t failed_sync = 0;
  uint64_t full_disk = 0;
  uint64_t slow_sync = 0;  // nothing comes back from the pool for a while
  uint64_t snapshot = 0;   // of what is closed, and what it covers goes
  uint64_t stall = 0;      // the process stands still for seconds
  uint64_t broken_connection = 0;
  bool short_writes = false;
  bool power_lost_at_start = false;

  uint64_t pool = 1;    // the pool gets on in one step of so many
  uint64_t answer = 1;  // an answer arrives in one step of so many
  uint64_t turn = 1;    // the daemon's loop turns in one step of so many
  app::Durability durability = app::Durability::kCommit;
  uint64_t undurable_bytes_max = 0;
  uint64_t segment_bytes = 0;
};

Faults DrawFaults(std::mt19937_64& random);
Network::Options DrawNetwork(std::mt19937_64& random);

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_FAULTS_H_
