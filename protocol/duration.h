// Durations as people type them: a whole number and a unit, `500ms`, `30s`, `5m`, `1h`, `2d`.
#ifndef ANTEROOM_PROTOCOL_DURATION_H_
#define ANTEROOM_PROTOCOL_DURATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace anteroom::protocol {

// The longest duration that can be said: 365 days.
inline constexpr int64_t kDurationMsMax = int64_t{365} * 24 * 3600 * 1000;

// Nothing when the text is not of the form, has no unit or is longer than kDurationMsMax.
std::optional<int64_t> ParseDurationMs(std::string_view text);

// The shortest form that says exactly this many milliseconds: 300000 is `5m`, 90000 is `90s`.
std::string FormatDurationMs(int64_t duration_ms);

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_DURATION_H_
