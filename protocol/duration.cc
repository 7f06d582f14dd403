#include "protocol/duration.h"

#include <charconv>

namespace anteroom::protocol {
namespace {

struct Unit {
  std::string_view name;
  int64_t ms;
};

// Longest first, so that formatting takes the first that divides.
constexpr Unit kUnits[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

}  // namespace

std::optional<int64_t> ParseDurationMs(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit_name = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : kUnits) {
    if (unit.name != unit_name) continue;
    if (number > static_cast<uint64_t>(kDurationMsMax / unit.ms)) return std::nullopt;
    return static_cast<int64_t>(number) * unit.ms;
  }
  return std::nullopt;
}

std::string FormatDurationMs(int64_t duration_ms) {
  if (duration_ms == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration_ms % unit.ms == 0) {
      return std::to_string(duration_ms / unit.ms) + std::string(unit.name);
    }
  }
  return {};
}

}  // namespace anteroom::protocol
