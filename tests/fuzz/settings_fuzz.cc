// Lines `name=value` as an operator types them, names and ids: what is taken is within the ranges
// and is echoed in a form that reads as the same; what is not taken changes nothing and says why.

#include <algorithm>
#include <string>

#include "protocol/settings.h"
#include "protocol/text.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"

namespace anteroom::fuzz {
namespace {

using protocol::RoomSettings;

void TrySetting(std::string_view line, RoomSettings* settings) {
  const size_t equals = line.find('=');
  const std::string_view name = line.substr(0, equals);
  const std::string_view value = equals == line.npos ? "" : line.substr(equals + 1);
  const RoomSettings before = *settings;
  const std::string wrong = protocol::ParseSetting(name, value, settings);
  if (!wrong.empty()) {
    CHECK(*settings == before);
    return;
  }
  CHECK_EQ(protocol::CheckSettings(*settings), "");
  RoomSettings again;
  for (const auto& [echoed_name, text] : protocol::FormatSettings(*settings)) {
    CHECK_EQ(protocol::ParseSetting(echoed_name, text, &again), "");
  }
  CHECK(again == *settings);
}

void TryId(std::string_view id) {
  std::string bytes;
  CHECK(protocol::UnescapeId(protocol::EscapeId(id), &bytes));
  CHECK_EQ(bytes, id);
  if (protocol::UnescapeId(id, &bytes)) {
    std::string again;
    CHECK(protocol::UnescapeId(protocol::EscapeId(bytes), &again));
    CHECK_EQ(again, bytes);
  }
  protocol::CheckVisitorId(id);
  if (protocol::CheckRoomName(id).empty()) CHECK_EQ(protocol::EscapeId(id), id);
}

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TrySettings(std::string_view text) {
  RoomSettings settings;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    // The nearest name is looked for in time that grows with the length, which a terminal bounds.
    const std::string_view line = text.substr(0, std::min<size_t>(end, 300));
    TrySetting(line, &settings);
    TryId(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}
