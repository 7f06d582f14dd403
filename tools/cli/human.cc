#include "tools/cli/human.h"

#include <algorithm>
#include <cstdio>

#include "protocol/text.h"

namespace anteroom::cli {
namespace {

struct Unit {
  std::string_view name;
  uint64_t ms;
};

constexpr Unit kTimeUnits[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1000}, {"ms", 1}};

uint64_t Rounded(uint64_t number, uint64_t unit) {
  return (number + unit / 2) / unit * unit;
}

// The largest unit of which there is at least one.
const Unit& UnitOf(uint64_t duration_ms) {
  const Unit* unit = kTimeUnits;
  while (unit->ms > std::max<uint64_t>(1, duration_ms)) ++unit;
  return *unit;
}

std::string Say(uint64_t duration_ms, const Unit& unit) {
  return std::to_string(duration_ms / unit.ms) + " " + std::string(unit.name);
}

}  // namespace

std::string HumanDuration(uint64_t duration_ms) {
  if (duration_ms == 0) return "0 s";
  const Unit* unit = &UnitOf(duration_ms);
  if (unit->ms <= 1000) {
    const uint64_t rounded = Rounded(duration_ms, unit->ms);
    return Say(rounded, UnitOf(rounded));
  }
  // Beside ten of the greater unit the smaller one no longer matters.
  const Unit* smaller = unit + 1;
  const bool coarse = duration_ms >= 10 * unit->ms;
  const uint64_t rounded = Rounded(duration_ms, coarse ? unit->ms : smaller->ms);
  unit = &UnitOf(rounded);
  smaller = unit + 1;
  const uint64_t rest = rounded % unit->ms;
  std::string text = Say(rounded, *unit);
  if (!coarse && rest >= smaller->ms) text += " " + Say(rest, *smaller);
  return text;
}

std::string HumanRange(uint64_t low_ms, uint64_t high_ms) {
  const Unit& unit = UnitOf(high_ms);
  if (&unit == &UnitOf(low_ms) || low_ms == 0) {
    const uint64_t low = Rounded(low_ms, unit.ms) / unit.ms;
    const uint64_t high = std::max(low, Rounded(high_ms, unit.ms) / unit.ms);
    const std::string name = " " + std::string(unit.name);
    if (low == high) return std::to_string(low) + name;
    return std::to_string(low) + "–" + std::to_string(high) + name;
  }
  return HumanDuration(low_ms) + " – " + HumanDuration(high_ms);
}

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1024) return Count(bytes, "byte", "bytes");
  auto size = static_cast<double>(bytes);
  static constexpr const char* kNames[] = {"KiB", "MiB", "GiB", "TiB"};
  size_t i = 0;
  size /= 1024;
  while (size >= 1024 && i + 1 < std::size(kNames)) {
    size /= 1024;
    ++i;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", size, kNames[i]);
  return text;
}

std::string Count(uint64_t number, std::string_view one, std::string_view many) {
  return std::to_string(number) + " " + std::string(number == 1 ? one : many);
}

std::string Printable(std::string_view text) {
  const std::string escaped = protocol::EscapeId(text);
  std::string printable;
  for (size_t i = 0; i < escaped.size(); ++i) {
    printable += escaped[i];
    // A backslash of the text itself: it stays one.
    if (escaped[i] == '\\' && i + 1 < escaped.size() && escaped[i + 1] == '\\') ++i;
  }
  return printable;
}

size_t Width(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Aligned(const std::vector<std::pair<std::string, std::string>>& lines, size_t indent) {
  size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, Width(name));
  std::string text;
  for (const auto& [name, value] : lines) {
    if (!text.empty()) text += '\n';
    text += std::string(indent, ' ') + name;
    if (!value.empty()) text += std::string(width - Width(name) + 2, ' ') + value;
  }
  return text;
}

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    if (!text.empty()) text += '\n';
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text += std::string(widths[i] - Width(row[i]) + 2, ' ');
    }
  }
  return text;
}

}  // namespace anteroom::cli
