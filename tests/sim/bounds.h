// What must hold of a room whatever the model says, from what the engine does alone: nobody is let
// in beyond capacity and stock, nor, in any window, beyond the rate, nor before others of their
// lane. A broken promise throws std::logic_error.
//
// Invariant: `recent` are the latest admissions by rate since rate, interval or mode was changed.
// Threads: none; one owner.
#ifndef ANTEROOM_TESTS_SIM_BOUNDS_H_
#define ANTEROOM_TESTS_SIM_BOUNDS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>

#include "server/engine/engine.h"
#include "tests/sim/names.h"

namespace anteroom::sim {

class Bounds {
 public:
  // Takes the rooms as they are, after a start.
  void Begin(const Engine& engine);
  // After a record that let `by_operator` people in by hand, as its last effects, one of them
  // perhaps `over` the capacity.
  void Check(const Engine& engine, const Effects& effects, uint32_t by_operator, bool over);

 private:
  struct Admitted {
    int64_t at_ms;
    uint64_t count;
  };
  struct Limits {
    protocol::Rate rate;
    int64_t admit_interval_ms = 0;
    protocol::Mode mode = protocol::Mode::kQueue;
    bool operator==(const Limits&) const = default;
  };
  struct Seen {
    uint64_t occupied = 0;
    Limits limits;
    std::deque<Admitted> recent;
  };

  static Limits LimitsOf(const Room& room);
  static void CheckOrder(const Engine& engine, const Room& room, const Visitor& admitted);
  static void CheckWindows(const Seen& seen, int64_t now_ms);

  std::map<uint32_t, Seen> rooms_;  // by number
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_BOUNDS_H_
