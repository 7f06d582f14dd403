// Durations as people type them: what can be read is in its range, is written in a form that is no
// longer, and reads as the same.

#include <optional>
#include <string>

#include "protocol/duration.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"

void anteroom::fuzz::TryDurations(std::string_view text) {
  using namespace anteroom::protocol;  // NOLINT(google-build-using-namespace): the whole function
  const std::optional<int64_t> duration_ms = ParseDurationMs(text);
  if (!duration_ms) return;
  CHECK_GE(*duration_ms, 0);
  CHECK_LE(*duration_ms, kDurationMsMax);
  const std::string shortest = FormatDurationMs(*duration_ms);
  CHECK_LE(shortest.size(), text.size());
  CHECK(ParseDurationMs(shortest) == duration_ms);
}
