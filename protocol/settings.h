// A room's settings: their types, how they are typed and echoed, and what is allowed.
#ifndef ANTEROOM_PROTOCOL_SETTINGS_H_
#define ANTEROOM_PROTOCOL_SETTINGS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/kinds.h"

namespace anteroom::protocol {

// Admissions in time: `50/s`, `3000/m`, `7/h`, `none`.
struct Rate {
  uint32_t count = 0;
  uint32_t per_ms = 0;  // 1000, 60000 or 3600000; 0 is `none`, no limit

  bool none() const { return per_ms == 0; }
  // `none` has one spelling.
  bool well_formed() const { return per_ms != 0 || count == 0; }
  bool operator==(const Rate&) const = default;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("count", self.count);
    visit("per_ms", self.per_ms);
  }
};

// A number of people or slots: `100`, `none`.
struct Limit {
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  uint64_t value = kNone;

  bool none() const { return value == kNone; }
  bool operator==(const Limit&) const = default;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("value", self.value);
  }
};

// A length of time: `500ms`, `5m`, `none`.
struct Duration {
  static constexpr int64_t kNone = -1;
  int64_t ms = kNone;

  bool none() const { return ms == kNone; }
  bool operator==(const Duration&) const = default;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("ms", self.ms);
  }
};

// Units left to sell: `200`, `none`; as a change also `+4` and `-2`.
struct Stock {
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  static constexpr uint8_t kSet = 0;
  static constexpr uint8_t kAdd = 1;
  static constexpr uint8_t kTake = 2;
  uint64_t units = kNone;
  uint8_t change = kSet;

  bool none() const { return change == kSet && units == kNone; }
  bool relative() const { return change != kSet; }
  bool well_formed() const { return change <= kTake && (units != kNone || change == kSet); }
  bool operator==(const Stock&) const = default;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("units", self.units);
    visit("change", self.change);
  }
};

// So many units at most, whatever is added.
inline constexpr uint64_t kStockUnitsMax = 1'000'000'000'000;

// A factor in thousandths: `1`, `1.5`, `1.025`.
struct Factor {
  static constexpr uint32_t kOne = 1000;
  uint32_t milli = kOne;

  bool operator==(const Factor&) const = default;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("milli", self.milli);
  }
};

// X(type, name). The order is the settings' number on the wire and in the log: append only.
#define ANTEROOM_SETTINGS(X)  \
  X(Mode, mode)               \
  X(Rate, rate)               \
  X(Duration, admit_interval) \
  X(Limit, capacity)          \
  X(Duration, claim_ttl)      \
  X(NoShow, no_show)          \
  X(uint8_t, requeue_max)     \
  X(Duration, session_ttl)    \
  X(Renewal, session_renewal) \
  X(Duration, waiting_ttl)    \
  X(Limit, max_waiting)       \
  X(Duration, remember_ttl)   \
  X(Stock, stock)             \
  X(Factor, stock_oversubscribe)

// What is said of a room's settings; what is absent keeps its value (set) or gets its default
// (create).
struct RoomSettings {
  static constexpr size_t kPresenceBytes = 4;

#define ANTEROOM_X(Type, name) std::optional<Type> name;
  ANTEROOM_SETTINGS(ANTEROOM_X)
#undef ANTEROOM_X

  bool operator==(const RoomSettings&) const = default;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
#define ANTEROOM_X(Type, name) visit(#name, self.name);
    ANTEROOM_SETTINGS(ANTEROOM_X)
#undef ANTEROOM_X
  }
};

// The defaults of everything that has one; rate, capacity and stock have none and are absent, and
// so is stock_oversubscribe, which is 1 unless said and means nothing without a stock.
RoomSettings DefaultSettings();

// Copies what is present in `said` over `settings`.
void Overlay(const RoomSettings& said, RoomSettings* settings);

// Sets one setting from text, as in `rate=50/s`. Returns an empty string, or what is wrong and what
// would be right, and then sets nothing; a mistyped name is told the nearest right one.
std::string ParseSetting(std::string_view name, std::string_view text, RoomSettings* settings);

// What is wrong with the values themselves (a claim_ttl of zero, a rate beyond its limit), or an
// empty string. Whoever takes settings from the outside asks this.
std::string CheckSettings(const RoomSettings& settings);

// Every present setting in the form it is typed in, in the order of the table.
std::vector<std::pair<std::string, std::string>> FormatSettings(const RoomSettings& settings);

std::string FormatRate(const Rate& rate);
std::span<const std::string_view> SettingNames();

// What is wrong with a room's name or a visitor's id, or an empty string.
std::string CheckRoomName(std::string_view name);
std::string CheckVisitorId(std::string_view visitor);

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_SETTINGS_H_
