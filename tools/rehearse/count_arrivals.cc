#include "tools/rehearse/count_arrivals.h"

#include <algorithm>
#include <utility>

#include "server/base/check.h"

namespace anteroom::tools {

CountArrivals::CountArrivals(LineReader reader, CountUnit unit, const Window& window,
                             uint64_t visitors_max)
    : reader_(std::move(reader)), unit_(unit), window_(window), visitors_max_(visitors_max) {}

std::optional<CountRow> CountArrivals::NextRow() {
  while (const auto line = reader_.Next()) {
    ++lines_;
    if (line->whole) {
      if (const auto row = ParseCountRow(unit_, line->text)) return row;
      if (lines_ == 1 && ParseCountNames(line->text)) continue;
    }
    ++unreadable_lines_;
  }
  return std::nullopt;
}

std::optional<Arrival> CountArrivals::Next() {
  const int64_t unit_ms = UnitMs(unit_);
  while (visitors_ < visitors_max_) {
    while (given_ == row_.requests) {
      const auto row = NextRow();
      if (!row) return std::nullopt;
      row_ = *row;
      // A minute of which no second is wanted is not gone through request by request.
      const bool apart =
          row_.start_s >= window_.to_s || row_.start_s + unit_ms / 1000 <= window_.from_s;
      given_ = apart ? row_.requests : 0;
    }
    // Below 10^9 requests times 60,000 ms.
    const int64_t within_ms =
        static_cast<int64_t>(given_) * unit_ms / static_cast<int64_t>(row_.requests);
    ++given_;
    if (!window_.Contains(row_.start_s + within_ms / 1000)) continue;
    latest_ms_ = std::max(latest_ms_, row_.start_s * 1000 + within_ms);
    return Arrival{latest_ms_, visitors_++, {}};
  }
  return std::nullopt;
}

void CountArrivals::ReadToEnd() {
  while (NextRow()) {
  }
}

void CountArrivals::check_invariants() const {
  CHECK(given_ <= row_.requests);
  CHECK(visitors_ <= visitors_max_);
  CHECK(unreadable_lines_ <= lines_);
  reader_.check_invariants();
}

}  // namespace anteroom::tools
