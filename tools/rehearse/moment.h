// Moments as people and files write them, without a time zone: seconds since 1970-01-01 00:00 on
// the clock that the file was written by. Pure functions.
#ifndef ANTEROOM_TOOLS_REHEARSE_MOMENT_H_
#define ANTEROOM_TOOLS_REHEARSE_MOMENT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace anteroom::tools {

inline constexpr int64_t kSecondsPerDay = 86400;

// Takes a whole number of `digits` digits, no sign, off the front; nothing, and `text` as it was,
// when there is none. At most 18 digits.
std::optional<int64_t> TakeDigits(std::string_view* text, size_t digits);
// Takes `literal` off the front.
bool TakeLiteral(std::string_view* text, std::string_view literal);

// Days since 1970-01-01; nothing for a date that is not in the calendar.
std::optional<int64_t> DayNumber(int64_t year, int64_t month, int64_t day);

// Takes `HH:MM` or `HH:MM:SS` off the front, as the second of the day; a leap second is taken.
std::optional<int64_t> TakeTimeOfDay(std::string_view* text);

// A moment that may leave the day open.
struct Moment {
  std::optional<int64_t> day;  // DayNumber
  int64_t second_of_day = 0;
  bool operator==(const Moment&) const = default;
};

// `20:15`, `20:15:30`, `1998-06-30 20:15`, `1998-06-30T20:15:30`, `30/Jun/1998:20:15:30`.
std::optional<Moment> ParseMoment(std::string_view text);

// Takes `30/Jun/1998:20:15:30` off the front, as access logs write it: seconds since 1970.
std::optional<int64_t> TakeLogTime(std::string_view* text);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_MOMENT_H_
