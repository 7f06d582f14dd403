// One bit of the log on a disk that nobody uses at the moment is turned round, the log is read, and
// the bit is turned back.
#ifndef ANTEROOM_TESTS_SIM_FLIPPED_BIT_H_
#define ANTEROOM_TESTS_SIM_FLIPPED_BIT_H_

#include <random>

#include "tests/support/memory_files.h"

namespace anteroom::sim {

enum class FlippedBit {
  kNoLog,    // there is none to damage
  kRefused,  // with file and place
  kTorn,     // taken for a torn end: no more is missing than the last batch
  kNoHarm,   // everything is there
};

// Throws std::logic_error when it is none of these: damage unnamed, or a state that never was.
FlippedBit FlipOneBit(storage::MemoryFiles& disk, std::mt19937_64& random);

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_FLIPPED_BIT_H_
