#include "tools/rehearse/moment.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace anteroom::tools {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// `1998-06-30`.
std::optional<int64_t> TakeIsoDay(std::string_view* text) {
  std::string_view rest = *text;
  const auto year = TakeDigits(&rest, 4);
  if (!year || !TakeLiteral(&rest, "-")) return std::nullopt;
  const auto month = TakeDigits(&rest, 2);
  if (!month || !TakeLiteral(&rest, "-")) return std::nullopt;
  const auto day = TakeDigits(&rest, 2);
  if (!day) return std::nullopt;
  const auto number = DayNumber(*year, *month, *day);
  if (number) *text = rest;
  return number;
}

// `30/Jun/1998`.
std::optional<int64_t> TakeLogDay(std::string_view* text) {
  std::string_view rest = *text;
  const auto day = TakeDigits(&rest, 2);
  if (!day || !TakeLiteral(&rest, "/")) return std::nullopt;
  const auto* const month = std::find(kMonths.begin(), kMonths.end(), rest.substr(0, 3));
  if (month == kMonths.end()) return std::nullopt;
  rest.remove_prefix(3);
  if (!TakeLiteral(&rest, "/")) return std::nullopt;
  const auto year = TakeDigits(&rest, 4);
  if (!year) return std::nullopt;
  const auto number = DayNumber(*year, month - kMonths.begin() + 1, *day);
  if (number) *text = rest;
  return number;
}

}  // namespace

std::optional<int64_t> TakeDigits(std::string_view* text, size_t digits) {
  if (text->size() < digits) return std::nullopt;
  int64_t value = 0;
  for (const char c : text->substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text->remove_prefix(digits);
  return value;
}

bool TakeLiteral(std::string_view* text, std::string_view literal) {
  if (!text->starts_with(literal)) return false;
  text->remove_prefix(literal.size());
  return true;
}

std::optional<int64_t> DayNumber(int64_t year, int64_t month, int64_t day) {
  namespace chrono = std::chrono;
  if (year < 0 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31) {
    return std::nullopt;
  }
  const chrono::year_month_day date{chrono::year(static_cast<int>(year)),
                                    chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return chrono::sys_days(date).time_since_epoch().count();
}

std::optional<int64_t> TakeTimeOfDay(std::string_view* text) {
  std::string_view rest = *text;
  const auto hour = TakeDigits(&rest, 2);
  if (!hour || *hour > 23 || !TakeLiteral(&rest, ":")) return std::nullopt;
  const auto minute = TakeDigits(&rest, 2);
  if (!minute || *minute > 59) return std::nullopt;
  int64_t second = 0;
  if (TakeLiteral(&rest, ":")) {
    const auto given = TakeDigits(&rest, 2);
    if (!given || *given > 60) return std::nullopt;
    second = *given;
  }
  *text = rest;
  return *hour * 3600 + *minute * 60 + second;
}

std::optional<Moment> ParseMoment(std::string_view text) {
  Moment moment;
  moment.day = TakeIsoDay(&text);
  if (moment.day) {
    if (!TakeLiteral(&text, " ") && !TakeLiteral(&text, "T")) return std::nullopt;
  } else {
    moment.day = TakeLogDay(&text);
    if (moment.day && !TakeLiteral(&text, ":")) return std::nullopt;
  }
  const auto second_of_day = TakeTimeOfDay(&text);
  if (!second_of_day || !text.empty()) return std::nullopt;
  moment.second_of_day = *second_of_day;
  return moment;
}

std::optional<int64_t> TakeLogTime(std::string_view* text) {
  std::string_view rest = *text;
  const auto day = TakeLogDay(&rest);
  if (!day || !TakeLiteral(&rest, ":")) return std::nullopt;
  const std::string_view before = rest;
  const auto second_of_day = TakeTimeOfDay(&rest);
  // Only with seconds.
  if (!second_of_day || before.size() - rest.size() != 8) return std::nullopt;
  *text = rest;
  return *day * kSecondsPerDay + *second_of_day;
}

}  // namespace anteroom::tools
