// One server in the comparison: its connections, and who waits there.
#ifndef ANTEROOM_BENCH_LOADGEN_CONTESTANT_H_
#define ANTEROOM_BENCH_LOADGEN_CONTESTANT_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "bench/loadgen/comparison.h"
#include "bench/loadgen/crowd.h"
#include "bench/loadgen/load.h"
#include "bench/loadgen/side.h"

namespace anteroom::loadgen {

// Rates are of joins, positions and people let in a second. More than one answer in a thousand that
// was not hoped for is an error: the rate would be of something else.
class Contestant {
 public:
  static absl::StatusOr<std::unique_ptr<Contestant>> Open(Side* side, const Server& server,
                                                          const Plan& plan);

  // The crowd of the plan gets in line. Its resident memory a person, or 0 when that is not known.
  absl::StatusOr<double> Preload();
  absl::StatusOr<double> Join();
  absl::StatusOr<double> AskPositions();
  absl::StatusOr<double> Admit();

 private:
  Contestant(Side* side, pid_t process, const Plan& plan)
      : side_(*side), process_(process), plan_(plan) {}

  // `unit` is what is counted, `per_request` how many of it a request is for.
  absl::StatusOr<double> Measure(std::string_view what, uint64_t requests, uint32_t per_request,
                                 size_t connections, const Ask& ask);

  Side& side_;
  const pid_t process_;
  const Plan& plan_;
  std::unique_ptr<Load> load_;
  Crowd crowd_;
  Answers answers_;  // of the last run
  uint64_t draws_ = 0;
};

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_CONTESTANT_H_
