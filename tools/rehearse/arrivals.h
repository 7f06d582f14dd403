// From a file to one sequence of arrivals in the order of time, streamed: the file is never held in
// memory. Of an access log only a hash of each distinct visitor is (8 bytes; two visitors with the
// same 64-bit XXH3 count as one), and a window of recent lines that puts slightly disordered ones
// in order. Of a count file nothing is.
//
// A time earlier than one already given is given that one's: time never goes back here.
// Threads: one at a time.
#ifndef ANTEROOM_TOOLS_REHEARSE_ARRIVALS_H_
#define ANTEROOM_TOOLS_REHEARSE_ARRIVALS_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/rehearse/moment.h"

namespace anteroom::tools {

struct Arrival {
  int64_t at_ms = 0;      // since the epoch of its file; only differences mean anything
  uint64_t number = 0;    // from 0, of those given
  std::string_view host;  // who, in an access log; until the next call
};

// The visitor id of an arrival: the host, or `v` and its number (of eight digits or more) from 1.
std::string VisitorIdOf(const Arrival& arrival);

// Which part of a file is wanted.
struct Cut {
  std::optional<Moment> from;
  std::optional<Moment> to;  // exclusive
  uint64_t visitors_max = std::numeric_limits<uint64_t>::max();
};

// The same in seconds of the file's clock.
struct Window {
  int64_t from_s = std::numeric_limits<int64_t>::min();
  int64_t to_s = std::numeric_limits<int64_t>::max();

  bool Contains(int64_t at_s) const { return at_s >= from_s && at_s < to_s; }
};

// A time of day is on the day of `first_s`, or, for `to`, the day of `from`, or the day after that
// if it would not be later. An error when `to` is not after `from`.
absl::StatusOr<Window> ResolveCut(const Cut& cut, int64_t first_s);

class ArrivalSource {
 public:
  virtual ~ArrivalSource() = default;

  // Nothing at the end, which is also reached when the file can no longer be read: see status().
  virtual std::optional<Arrival> Next() = 0;
  // Reads what is left of the file, for the count of unreadable lines alone.
  virtual void ReadToEnd() = 0;

  virtual uint64_t lines() const = 0;  // read so far
  virtual uint64_t unreadable_lines() const = 0;
  virtual absl::Status status() const = 0;
};

// Tells what the file is by its first readable line, and opens it. Errors: it cannot be read, is
// not a regular file (it is read twice), or has no dates while the cut names one.
absl::StatusOr<std::unique_ptr<ArrivalSource>> OpenArrivals(const std::string& path,
                                                            const Cut& cut);

// What is to come, by reading all of it.
struct ArrivalSurvey {
  uint64_t visitors = 0;
  int64_t span_ms = 0;  // from the first arrival to the last
  uint64_t lines = 0;   // of the whole file, cut or not
  uint64_t unreadable_lines = 0;
};

absl::StatusOr<ArrivalSurvey> SurveyArrivals(const std::string& path, const Cut& cut);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_ARRIVALS_H_
