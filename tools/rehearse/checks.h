// What a rehearsal checks about the daemon, from nothing but the replies that it gave: arrival and
// admission numbers and engine times. Pure functions.
#ifndef ANTEROOM_TOOLS_REHEARSE_CHECKS_H_
#define ANTEROOM_TOOLS_REHEARSE_CHECKS_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "protocol/limits.h"
#include "protocol/settings.h"

namespace anteroom::tools {

// One letting-in, as the visitor saw it.
struct Admission {
  // The slot is still taken, or when it became free is not known.
  static constexpr uint64_t kInside = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kUnknown = kInside - 1;

  uint64_t number = 0;
  uint64_t arrival = 0;  // by which the visitor then stood in line
  uint64_t admitted_at_ms = 0;
  uint64_t ended_at_ms = kInside;
  uint8_t lane = protocol::kLaneDefault;
};

// Counts all violations and keeps the words of the first kViolationsTold.
class Violations {
 public:
  void Add(std::string text);
  uint64_t count() const { return count_; }
  const std::vector<std::string>& told() const { return told_; }

 private:
  uint64_t count_ = 0;
  std::vector<std::string> told_;
};

// No number belongs to two admissions. This and the next take admissions in any order.
void CheckNumbers(std::span<const Admission> admissions, Violations* violations);

// Within a lane, admission numbers grow with arrival numbers.
void CheckOrder(std::span<const Admission> admissions, Violations* violations);

// In any window W of engine time, both ends counted, at most rate × W + 2 × depth admissions, depth
// = max(1, rate × interval). All windows are checked by one pass: they hold if and only if a bucket
// that is full at the start, holds two depths and gains the rate, never lacks a token (the token
// bucket of RFC 2697, in exact integers).
void CheckRate(std::span<const Admission> admissions, const protocol::Rate& rate,
               int64_t admit_interval_ms, Violations* violations);

// At every moment at most `capacity` inside; within one millisecond what frees a slot comes before
// what takes it. An admission whose end is not known takes no slot, so that nothing is said that is
// not sure. Told once for each stretch of time over capacity.
void CheckCapacity(std::span<const Admission> admissions, const protocol::Limit& capacity,
                   Violations* violations);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_CHECKS_H_
