#include "tests/sim/faults.h"

namespace anteroom::sim {

Faults DrawFaults(std::mt19937_64& random) {
  const auto below = [&](uint64_t limit) { return random() % limit; };
  const auto chance = [&](uint64_t usual) { return below(3) == 0 ? 0 : 1 + below(2 * usual); };
  Faults faults;
  faults.power_loss = chance(2000);
  faults.kill = chance(3000);
  faults.clean_stop = chance(3000);
  faults.failed_sync = chance(5000);
  faults.full_disk = chance(2500);
  faults.slow_sync = chance(400);
  faults.snapshot = chance(700);
  faults.stall = chance(1500);
  faults.broken_connection = chance(200);
  faults.short_writes = below(4) == 0;
  faults.power_lost_at_start = below(8) == 0;
  faults.pool = 1 + below(8);
  faults.answer = 1 + below(3);
  faults.turn = 1 + below(2);
  const uint64_t durability = below(12);
  faults.durability = durability == 0   ? app::Durability::kNone
                      : durability == 1 ? app::Durability::kInterval
                                        : app::Durability::kCommit;
  // Now and then so little that a slow disk stops everything.
  faults.undurable_bytes_max = below(4) == 0 ? 500 + below(4000) : 1u << 20;
  faults.segment_bytes = storage::kSegmentBytesMin * (below(3) == 0 ? 1 + below(8) : 4);
  return faults;
}

Network::Options DrawNetwork(std::mt19937_64& random) {
  const auto below = [&](uint64_t limit) { return random() % limit; };
  Network::Options options;
  options.connections = static_cast<uint32_t>(1 + below(24));
  options.pipelined = static_cast<uint32_t>(1 + below(6));
  options.turn_requests = static_cast<uint32_t>(1 + below(8));
  return options;
}

}  // namespace anteroom::sim
