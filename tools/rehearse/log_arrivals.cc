#include "tools/rehearse/log_arrivals.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "server/base/check.h"
#include "tools/rehearse/limits.h"
#include "tools/rehearse/log_line.h"

namespace anteroom::tools {

LogArrivals::LogArrivals(LineReader reader, const Window& window, uint64_t visitors_max)
    : reader_(std::move(reader)), window_(window), visitors_max_(visitors_max) {}

bool LogArrivals::ReadLine() {
  const auto line = reader_.Next();
  if (!line) return false;
  ++lines_;
  const auto parsed = line->whole ? ParseLogLine(line->text) : std::nullopt;
  if (!parsed) {
    ++unreadable_lines_;
    return true;
  }
  newest_s_ = std::max(newest_s_, parsed->utc_s());
  if (!window_.Contains(parsed->utc_s())) return true;
  const uint64_t hash = XXH3_64bits(parsed->host.data(), parsed->host.size());
  if (seen_.contains(hash)) return true;
  held_.push_back({parsed->utc_s(), lines_, hash, std::string(parsed->host)});
  std::push_heap(held_.begin(), held_.end(), Later);
  return true;
}

// Whether nothing that is still to be read may take its place before the earliest held.
bool LogArrivals::EarliestIsSettled() const {
  return at_end_ || held_.size() > kReorderRequestsMax ||
         (!held_.empty() && held_.front().at_s < newest_s_ - kReorderSecondsMax);
}

std::optional<Arrival> LogArrivals::Next() {
  while (visitors_ < visitors_max_) {
    if (!EarliestIsSettled()) {
      // Past the window by more than what can be out of order, nothing more is to come.
      const bool past = window_.to_s != std::numeric_limits<int64_t>::max() &&
                        newest_s_ - kReorderSecondsMax > window_.to_s;
      if (past || !ReadLine()) at_end_ = true;
      continue;
    }
    if (held_.empty()) return std::nullopt;
    std::pop_heap(held_.begin(), held_.end(), Later);
    Held earliest = std::move(held_.back());
    held_.pop_back();
    if (!seen_.insert(earliest.hash).second) continue;
    host_ = std::move(earliest.host);
    latest_given_s_ = std::max(latest_given_s_, earliest.at_s);
    return Arrival{latest_given_s_ * 1000, visitors_++, host_};
  }
  return std::nullopt;
}

void LogArrivals::ReadToEnd() {
  held_.clear();
  at_end_ = true;
  while (const auto line = reader_.Next()) {
    ++lines_;
    if (!line->whole || !ParseLogLine(line->text)) ++unreadable_lines_;
  }
}

void LogArrivals::check_invariants() const {
  CHECK(std::is_heap(held_.begin(), held_.end(), Later));
  CHECK(held_.size() <= kReorderRequestsMax + 1);
  CHECK_EQ(visitors_, seen_.size());
  CHECK(unreadable_lines_ <= lines_);
  reader_.check_invariants();
}

}  // namespace anteroom::tools
