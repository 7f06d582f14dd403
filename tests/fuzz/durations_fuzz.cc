// Durations as people type them: what can be read is in its range, is written in a form that is no
// longer, and reads as the same.

#include <optional>
#include <string>

#include "protocol/duration.h"
#include "server/base/check.h"
#include "tests/fuzz/byte_source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anteroom::protocol;  // NOLINT(google-build-using-namespace): the whole file
  const std::string_view text = anteroom::fuzz::TextOf(data, size);
  const std::optional<int64_t> duration_ms = ParseDurationMs(text);
  if (!duration_ms) return 0;
  CHECK_GE(*duration_ms, 0);
  CHECK_LE(*duration_ms, kDurationMsMax);
  const std::string shortest = FormatDurationMs(*duration_ms);
  CHECK_LE(shortest.size(), size);
  CHECK(ParseDurationMs(shortest) == duration_ms);
  return 0;
}
