// Lines of access logs and of count files, and moments: what is read from them is in its ranges and
// within the line.

#include <algorithm>
#include <optional>
#include <string_view>

#include "protocol/limits.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"
#include "tools/rehearse/count_row.h"
#include "tools/rehearse/limits.h"
#include "tools/rehearse/log_line.h"
#include "tools/rehearse/moment.h"

namespace anteroom::fuzz {
namespace {

// From the year 0 to 9999.
constexpr int64_t kEarliestS = -62'167'219'200;
constexpr int64_t kLatestS = 253'402'300'800;

void TryLine(std::string_view line) {
  if (const auto parsed = tools::ParseLogLine(line)) {
    CHECK(!parsed->host.empty());
    CHECK_LE(parsed->host.size(), protocol::kVisitorIdBytesMax);
    CHECK(line.starts_with(parsed->host));
    CHECK(parsed->written_s >= kEarliestS && parsed->written_s <= kLatestS);
    CHECK(parsed->zone_s > -tools::kSecondsPerDay && parsed->zone_s < tools::kSecondsPerDay);
  }
  if (const auto moment = tools::ParseMoment(line)) {
    CHECK(moment->second_of_day >= 0 && moment->second_of_day <= tools::kSecondsPerDay);
  }
  tools::ParseCountNames(line);
  for (const tools::CountUnit unit : {tools::CountUnit::kSecond, tools::CountUnit::kMinute}) {
    const auto row = tools::ParseCountRow(unit, line);
    if (!row) continue;
    CHECK_LE(row->requests, tools::kRequestsPerUnitMax);
    CHECK(row->start_s >= kEarliestS && row->start_s <= kLatestS);
  }
}

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TryLogLines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    TryLine(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}
