// The comparison: the same crowd at every server, in rounds; within a round the servers take turns
// at each kind of load. Every ratio is the median of the rounds' ratios, so that a busy moment of
// the machine, which falls on neighbours alike, weighs little.
#ifndef ANTEROOM_BENCH_LOADGEN_COMPARISON_H_
#define ANTEROOM_BENCH_LOADGEN_COMPARISON_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "bench/loadgen/sockets.h"

namespace anteroom::loadgen {

struct Server {
  Address address;
  pid_t process = 0;  // 0: not known; its memory and processor time are not told then
};

struct Plan {
  // Any may be absent; what cannot be compared then is left out.
  std::optional<Server> redis;
  std::optional<Server> anteroom;         // durability none
  std::optional<Server> anteroom_commit;  // durability commit

  uint64_t people = 1'000'000;  // waiting before the first round, and again before every other
  // Of each round. As many are let in as have joined.
  uint64_t joins = 300'000;
  uint64_t positions = 300'000;
  uint32_t admitted_at_a_time = 50;

  size_t connections = 50;
  size_t depth = 16;
  uint32_t rounds = 5;
  // After so long no further round begins, but for the first kRoundsMin.
  double seconds_max = 120;
};

inline constexpr uint32_t kRoundsMin = 3;

// The result, with the names that `make bench-redis` prints. Tells on standard error how it goes.
absl::StatusOr<nlohmann::ordered_json> Compare(const Plan& plan);

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_COMPARISON_H_
