// Arrivals of an access log: each distinct visitor once, at its first request within the window.
//
// Invariant: `held_` is a heap, earliest first (by time, then line), of requests whose visitor was
// not given when they were read; every visitor given is in `seen_`; times never go back.
#ifndef ANTEROOM_TOOLS_REHEARSE_LOG_ARRIVALS_H_
#define ANTEROOM_TOOLS_REHEARSE_LOG_ARRIVALS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/rehearse/arrivals.h"
#include "tools/rehearse/line_reader.h"

namespace anteroom::tools {

class LogArrivals final : public ArrivalSource {
 public:
  // The window is in seconds UTC.
  LogArrivals(LineReader reader, const Window& window, uint64_t visitors_max);

  std::optional<Arrival> Next() override;
  void ReadToEnd() override;
  uint64_t lines() const override { return lines_; }
  uint64_t unreadable_lines() const override { return unreadable_lines_; }
  absl::Status status() const override { return reader_.status(); }

  void check_invariants() const;

 private:
  struct Held {
    int64_t at_s;
    uint64_t line;
    uint64_t hash;
    std::string host;
  };
  static bool Later(const Held& a, const Held& b) {
    return a.at_s != b.at_s ? a.at_s > b.at_s : a.line > b.line;
  }

  // Reads one line; false at the end of the file.
  bool ReadLine();
  bool EarliestIsSettled() const;

  LineReader reader_;
  const Window window_;
  const uint64_t visitors_max_;

  std::vector<Held> held_;
  absl::flat_hash_set<uint64_t> seen_;
  std::string host_;                                            // of the arrival given last
  int64_t newest_s_ = std::numeric_limits<int64_t>::min() / 2;  // room to subtract from
  int64_t latest_given_s_ = std::numeric_limits<int64_t>::min();
  bool at_end_ = false;
  uint64_t visitors_ = 0;
  uint64_t lines_ = 0;
  uint64_t unreadable_lines_ = 0;
};

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_LOG_ARRIVALS_H_
