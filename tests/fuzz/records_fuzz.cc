// The bytes of a record of the log: what is one has these bytes and no others, and any engine can
// apply it.

#include <string>
#include <variant>

#include "server/base/check.h"
#include "server/engine/engine.h"
#include "tests/fuzz/targets.h"

void anteroom::fuzz::TryRecords(std::string_view record) {
  int64_t at_ms = 0;
  Command command;
  if (!DecodeRecord(record, &at_ms, &command)) return;
  std::string again;
  std::visit([&](const auto& one) { EncodeRecord(at_ms, one, &again); }, command);
  CHECK_EQ(again, record);
  CHECK(at_ms >= 0 && at_ms <= kRecordMsMax);

  Command other;
  int64_t other_ms = 0;
  CHECK(!DecodeRecord(record.substr(0, record.size() - 1), &other_ms, &other));
  CHECK(!DecodeRecord(again + '\0', &other_ms, &other));

  // Where there is a room and somebody in it, so that it can make sense.
  Engine engine(EngineOptions{});
  Effects effects;
  engine.Apply(0, command::RoomCreate{"room", protocol::DefaultSettings()}, &effects);
  engine.Apply(0, command::Join{1, "visitor", 128}, &effects);
  engine.Apply(at_ms, command, &effects);
  engine.check_invariants();
}
