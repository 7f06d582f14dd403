// Arrivals of a count file: every request a visitor of its own, those of one second or minute
// spread evenly over it, the first at its start.
//
// Invariant: of the present row `given_` of `requests` have been looked at; times never go back.
#ifndef ANTEROOM_TOOLS_REHEARSE_COUNT_ARRIVALS_H_
#define ANTEROOM_TOOLS_REHEARSE_COUNT_ARRIVALS_H_

#include <cstdint>
#include <optional>

#include "tools/rehearse/arrivals.h"
#include "tools/rehearse/count_row.h"
#include "tools/rehearse/line_reader.h"

namespace anteroom::tools {

class CountArrivals final : public ArrivalSource {
 public:
  CountArrivals(LineReader reader, CountUnit unit, const Window& window, uint64_t visitors_max);

  std::optional<Arrival> Next() override;
  void ReadToEnd() override;
  uint64_t lines() const override { return lines_; }
  uint64_t unreadable_lines() const override { return unreadable_lines_; }
  absl::Status status() const override { return reader_.status(); }

  void check_invariants() const;

 private:
  // The next readable row of the file; nothing at its end.
  std::optional<CountRow> NextRow();

  LineReader reader_;
  const CountUnit unit_;
  const Window window_;
  const uint64_t visitors_max_;

  CountRow row_;
  uint64_t given_ = 0;
  int64_t latest_ms_ = std::numeric_limits<int64_t>::min();
  uint64_t visitors_ = 0;
  uint64_t lines_ = 0;
  uint64_t unreadable_lines_ = 0;
};

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_COUNT_ARRIVALS_H_
