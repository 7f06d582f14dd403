// One line of a count file: how many requests there were in a second or a minute.
//
//   second_of_day,requests        minute_utc,requests
//   0,0                           1998-06-29 00:00,16083
//   1,1                           1998-06-29 00:01,16510
//
// The line with names may be missing. Pure functions.
#ifndef ANTEROOM_TOOLS_REHEARSE_COUNT_ROW_H_
#define ANTEROOM_TOOLS_REHEARSE_COUNT_ROW_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace anteroom::tools {

enum class CountUnit : uint8_t { kSecond, kMinute };

struct CountRow {
  int64_t start_s = 0;  // of the day, or since 1970-01-01 00:00 UTC
  uint64_t requests = 0;
};

constexpr int64_t UnitMs(CountUnit unit) {
  return unit == CountUnit::kSecond ? 1000 : 60000;
}

// What the names in a first line say; nothing when it is not such a line.
std::optional<CountUnit> ParseCountNames(std::string_view line);

std::optional<CountRow> ParseCountRow(CountUnit unit, std::string_view line);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_COUNT_ROW_H_
