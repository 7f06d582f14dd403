#include "tools/rehearse/count_row.h"

#include <charconv>

#include "tools/rehearse/limits.h"
#include "tools/rehearse/moment.h"

namespace anteroom::tools {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::optional<uint64_t> ParseNumber(std::string_view text, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

struct TwoFields {
  std::string_view first;
  std::string_view second;
};

std::optional<TwoFields> SplitInTwo(std::string_view line) {
  const size_t comma = line.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  return TwoFields{Trim(line.substr(0, comma)), Trim(line.substr(comma + 1))};
}

}  // namespace

std::optional<CountUnit> ParseCountNames(std::string_view line) {
  TakeLiteral(&line, "\xef\xbb\xbf");  // the mark that spreadsheets put at the front of UTF-8
  const auto names = SplitInTwo(line);
  if (!names) return std::nullopt;
  if (names->second != "requests" && names->second != "count") return std::nullopt;
  if (names->first.starts_with("second")) return CountUnit::kSecond;
  if (names->first.starts_with("minute")) return CountUnit::kMinute;
  return std::nullopt;
}

std::optional<CountRow> ParseCountRow(CountUnit unit, std::string_view line) {
  const auto fields = SplitInTwo(line);
  if (!fields) return std::nullopt;
  const auto requests = ParseNumber(fields->second, kRequestsPerUnitMax);
  if (!requests) return std::nullopt;
  CountRow row;
  row.requests = *requests;
  if (unit == CountUnit::kSecond) {
    const auto second = ParseNumber(fields->first, kSecondsPerDay - 1);
    if (!second) return std::nullopt;
    row.start_s = static_cast<int64_t>(*second);
    return row;
  }
  const auto moment = ParseMoment(fields->first);
  if (!moment || !moment->day) return std::nullopt;
  row.start_s = *moment->day * kSecondsPerDay + moment->second_of_day;
  return row;
}

}  // namespace anteroom::tools
