#include "protocol/settings.h"

#include <charconv>
#include <type_traits>

#include "protocol/duration.h"
#include "protocol/limits.h"
#include "protocol/text.h"

namespace anteroom::protocol {
namespace {

template <typename Number>
bool ParseWhole(std::string_view text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && !text.empty();
}

std::string OneOf(std::span<const std::string_view> names) {
  std::string text = "one of";
  for (std::string_view name : names) text.append(" ").append(name);
  return text;
}

// One overload of Parse, FormOf and Format for each type of setting.

bool Parse(std::string_view text, Mode* mode) {
  const auto parsed = ParseMode(text);
  if (parsed) *mode = *parsed;
  return parsed.has_value();
}
std::string FormOf(Mode) {
  return OneOf(ModeNames());
}
std::string Format(Mode mode) {
  return std::string(NameOf(mode));
}

bool Parse(std::string_view text, NoShow* no_show) {
  const auto parsed = ParseNoShow(text);
  if (parsed) *no_show = *parsed;
  return parsed.has_value();
}
std::string FormOf(NoShow) {
  return OneOf(NoShowNames());
}
std::string Format(NoShow no_show) {
  return std::string(NameOf(no_show));
}

bool Parse(std::string_view text, Renewal* renewal) {
  const auto parsed = ParseRenewal(text);
  if (parsed) *renewal = *parsed;
  return parsed.has_value();
}
std::string FormOf(Renewal) {
  return OneOf(RenewalNames());
}
std::string Format(Renewal renewal) {
  return std::string(NameOf(renewal));
}

bool Parse(std::string_view text, uint8_t* number) {
  return ParseWhole(text, number);
}
std::string FormOf(uint8_t) {
  return "a whole number from 0 to 255, like 1";
}
std::string Format(uint8_t number) {
  return std::to_string(number);
}

constexpr struct {
  std::string_view name;
  uint32_t ms;
} kRateUnits[] = {{"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};

bool Parse(std::string_view text, Rate* rate) {
  if (text == "none") {
    *rate = Rate{};
    return true;
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !ParseWhole(text.substr(0, slash), &rate->count)) {
    return false;
  }
  for (const auto& unit : kRateUnits) {
    if (text.substr(slash + 1) == unit.name) {
      rate->per_ms = unit.ms;
      return true;
    }
  }
  return false;
}
std::string FormOf(Rate) {
  return "admissions in time like 50/s, 3000/m or 10/h, or none";
}
std::string Format(const Rate& rate) {
  for (const auto& unit : kRateUnits) {
    if (rate.per_ms == unit.ms) return std::to_string(rate.count) + "/" + std::string(unit.name);
  }
  return "none";
}

bool Parse(std::string_view text, Limit* limit) {
  if (text == "none") {
    *limit = Limit{};
    return true;
  }
  return ParseWhole(text, &limit->value) && !limit->none();
}
std::string FormOf(Limit) {
  return "a whole number like 100, or none";
}
std::string Format(const Limit& limit) {
  return limit.none() ? "none" : std::to_string(limit.value);
}

bool Parse(std::string_view text, Stock* stock) {
  *stock = Stock{};
  if (text == "none") return true;
  if (text.starts_with('+')) stock->change = Stock::kAdd;
  if (text.starts_with('-')) stock->change = Stock::kTake;
  if (stock->relative()) text.remove_prefix(1);
  return ParseWhole(text, &stock->units) && stock->units != Stock::kNone;
}
std::string FormOf(Stock) {
  return "units left like 200, a change of them like +4 or -2, or none";
}
std::string Format(const Stock& stock) {
  if (stock.none()) return "none";
  const std::string units = std::to_string(stock.units);
  if (!stock.relative()) return units;
  return (stock.change == Stock::kAdd ? "+" : "-") + units;
}

// In whole numbers, for a factor decides who is let in.
bool Parse(std::string_view text, Factor* factor) {
  const size_t point = text.find('.');
  uint32_t ones = 0;
  if (!ParseWhole(text.substr(0, point), &ones) || ones > 1'000'000) return false;
  factor->milli = ones * Factor::kOne;
  if (point == std::string_view::npos) return true;
  const std::string_view decimals = text.substr(point + 1);
  uint32_t fraction = 0;
  if (decimals.size() > 3 || !ParseWhole(decimals, &fraction)) return false;
  for (size_t digits = decimals.size(); digits < 3; ++digits) fraction *= 10;
  factor->milli += fraction;
  return true;
}
std::string FormOf(Factor) {
  return "a factor with at most three decimals, like 1 or 1.5";
}
std::string Format(const Factor& factor) {
  std::string text = std::to_string(factor.milli / Factor::kOne);
  uint32_t fraction = factor.milli % Factor::kOne;
  if (fraction == 0) return text;
  text += '.';
  for (uint32_t digit = Factor::kOne / 10; fraction > 0; digit /= 10) {
    text += static_cast<char>('0' + fraction / digit);
    fraction %= digit;
  }
  return text;
}

bool Parse(std::string_view text, Duration* duration) {
  if (text == "none") {
    *duration = Duration{};
    return true;
  }
  const auto parsed = ParseDurationMs(text);
  if (parsed) duration->ms = *parsed;
  return parsed.has_value();
}
std::string Format(const Duration& duration) {
  return duration.none() ? "none" : FormatDurationMs(duration.ms);
}

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kDayMs = 24 * 3600 * kSecondMs;
constexpr uint32_t kRateCountMax = 1'000'000;
constexpr uint32_t kOversubscribeMilliMax = 100 * Factor::kOne;

struct DurationRange {
  std::string_view name;
  int64_t least_ms;
  int64_t most_ms;
  bool may_be_none;
};

// The soft deadlines (waiting_ttl, sliding sessions) are kept as 32-bit milliseconds, which is why
// they end at 24 days.
constexpr DurationRange kDurationRanges[] = {
    {"admit_interval", 1, 3600 * kSecondMs, false},   {"claim_ttl", 1, 365 * kDayMs, false},
    {"session_ttl", 1, 24 * kDayMs, false},           {"waiting_ttl", 1, 24 * kDayMs, true},
    {"remember_ttl", kSecondMs, 365 * kDayMs, false},
};

constexpr const DurationRange& RangeOf(std::string_view name) {
  const DurationRange* range = kDurationRanges;
  while (range->name != name) ++range;
  return *range;
}

// Does not compile unless every setting that is a duration has its range.
#define ANTEROOM_X(Type, setting) \
  static_assert(!std::is_same_v<Type, Duration> || RangeOf(#setting).name == #setting);
ANTEROOM_SETTINGS(ANTEROOM_X)
#undef ANTEROOM_X

std::string Describe(const DurationRange& range) {
  return FormatDurationMs(range.least_ms) + " to " + FormatDurationMs(range.most_ms) +
         (range.may_be_none ? ", or none" : "");
}

template <typename T>
std::string FormOf(std::string_view, const T& value) {
  return FormOf(value);
}
std::string FormOf(std::string_view name, const Duration&) {
  return "a duration with a unit like 500ms, 30s, 5m or 1h: " + Describe(RangeOf(name));
}

std::string CheckValue(std::string_view name, const Duration& duration) {
  const DurationRange& range = RangeOf(name);
  const bool right = duration.none()
                         ? range.may_be_none
                         : duration.ms >= range.least_ms && duration.ms <= range.most_ms;
  if (right) return {};
  return std::string(name) + " is " + Format(duration) + ", it takes " + Describe(range);
}
std::string CheckValue(std::string_view name, const Rate& rate) {
  if (rate.none()) return {};
  if (rate.per_ms != 1000 && rate.per_ms != 60'000 && rate.per_ms != 3'600'000) {
    return std::string(name) + " is per " + std::to_string(rate.per_ms) +
           " ms, it takes a second, a minute or an hour";
  }
  if (rate.count > kRateCountMax) {
    return std::string(name) + " is " + Format(rate) + ", it takes at most " +
           std::to_string(kRateCountMax) + " admissions in its unit of time";
  }
  return {};
}
std::string CheckValue(std::string_view name, const Stock& stock) {
  const bool right =
      stock.none() || (stock.units <= kStockUnitsMax && !(stock.relative() && stock.units == 0));
  if (right) return {};
  return std::string(name) + " is " + Format(stock) + ", it takes at most " +
         std::to_string(kStockUnitsMax) + " units, and a change of at least 1";
}
std::string CheckValue(std::string_view name, const Factor& factor) {
  if (factor.milli >= Factor::kOne && factor.milli <= kOversubscribeMilliMax) return {};
  return std::string(name) + " is " + Format(factor) + ", it takes 1 to 100";
}
template <typename T>
std::string CheckValue(std::string_view, const T&) {
  return {};
}

}  // namespace

RoomSettings DefaultSettings() {
  RoomSettings settings;
  settings.mode = Mode::kQueue;
  settings.admit_interval = Duration{20};
  settings.claim_ttl = Duration{5 * 60 * kSecondMs};
  settings.no_show = NoShow::kEnd;
  settings.requeue_max = uint8_t{1};
  settings.session_ttl = Duration{10 * 60 * kSecondMs};
  settings.session_renewal = Renewal::kSliding;
  settings.waiting_ttl = Duration{};
  settings.max_waiting = Limit{};
  settings.remember_ttl = Duration{10 * 60 * kSecondMs};
  return settings;
}

void Overlay(const RoomSettings& said, RoomSettings* settings) {
#define ANTEROOM_X(Type, name) \
  if (said.name) settings->name = said.name;
  ANTEROOM_SETTINGS(ANTEROOM_X)
#undef ANTEROOM_X
}

std::string ParseSetting(std::string_view name, std::string_view text, RoomSettings* settings) {
  bool known = false;
  std::string wrong;
  RoomSettings::Fields(*settings, [&](std::string_view field_name, auto& field) {
    if (field_name != name) return;
    known = true;
    auto value = typename std::remove_cvref_t<decltype(field)>::value_type{};
    if (Parse(text, &value)) {
      wrong = CheckValue(name, value);
      if (wrong.empty()) field = value;
    } else {
      wrong = std::string(name) + " is \"" + EscapeId(text) + "\", it takes " + FormOf(name, value);
    }
  });
  if (known) return wrong;
  const std::string_view nearest = NearestName(name, SettingNames());
  std::string message = "there is no setting \"" + EscapeId(name) + "\"";
  if (!nearest.empty()) return message + ", did you mean " + std::string(nearest) + "?";
  return message + ", the settings are: " + OneOf(SettingNames()).substr(7);
}

std::string CheckSettings(const RoomSettings& settings) {
  std::string wrong;
  RoomSettings::Fields(settings, [&](std::string_view name, const auto& field) {
    if (wrong.empty() && field.has_value()) wrong = CheckValue(name, *field);
  });
  return wrong;
}

std::vector<std::pair<std::string, std::string>> FormatSettings(const RoomSettings& settings) {
  std::vector<std::pair<std::string, std::string>> formatted;
  RoomSettings::Fields(settings, [&](std::string_view name, const auto& field) {
    if (field.has_value()) formatted.emplace_back(std::string(name), Format(*field));
  });
  return formatted;
}

std::string FormatRate(const Rate& rate) {
  return Format(rate);
}

std::span<const std::string_view> SettingNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> collected;
    const RoomSettings settings;
    RoomSettings::Fields(settings,
                         [&](std::string_view name, const auto&) { collected.push_back(name); });
    return collected;
  }();
  return names;
}

std::string CheckRoomName(std::string_view name) {
  bool right = !name.empty() && name.size() <= kRoomNameBytesMax;
  for (const char c : name) {
    right = right &&
            ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-');
  }
  if (right) return {};
  return "a room's name is 1 to 64 of a-z 0-9 . _ -, not \"" + EscapeId(name.substr(0, 80)) + "\"";
}

std::string CheckVisitorId(std::string_view visitor) {
  if (!visitor.empty() && visitor.size() <= kVisitorIdBytesMax) return {};
  return "a visitor's id is 1 to 255 bytes, not " + std::to_string(visitor.size());
}

}  // namespace anteroom::protocol
