// What simulations went through.
#ifndef ANTEROOM_TESTS_SIM_TOTALS_H_
#define ANTEROOM_TESTS_SIM_TOTALS_H_

#include <cstdint>

namespace anteroom::sim {

#define ANTEROOM_SIM_TOTALS(X) \
  X(steps)                     \
  X(answers)                   \
  X(without_log_space)         \
  X(records)                   \
  X(starts)                    \
  X(power_losses)              \
  X(kills)                     \
  X(stops)                     \
  X(snapshots)                 \
  X(broken_connections)        \
  X(stalls)                    \
  X(slow_syncs)                \
  X(failed_syncs)              \
  X(full_disks)                \
  X(bits_refused)              \
  X(bits_torn)                 \
  X(bits_harmless)

struct WorkDone {
#define ANTEROOM_X(name) uint64_t name = 0;
  ANTEROOM_SIM_TOTALS(ANTEROOM_X)
#undef ANTEROOM_X

  WorkDone& operator+=(const WorkDone& other) {
#define ANTEROOM_X(name) name += other.name;
    ANTEROOM_SIM_TOTALS(ANTEROOM_X)
#undef ANTEROOM_X
    return *this;
  }
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_TOTALS_H_
