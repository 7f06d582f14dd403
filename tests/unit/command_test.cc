// The records of the log: golden bytes, because what has been written must be read for ever.

#include "server/engine/command.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "protocol/duration.h"
#include "server/engine/engine.h"

namespace anteroom {
namespace {

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

template <typename One>
std::string RecordOf(const One& one) {
  std::string record;
  EncodeRecord(0x0102, one, &record);
  int64_t at_ms = 0;
  Command command;
  REQUIRE(DecodeRecord(record, &at_ms, &command));
  CHECK_EQ(at_ms, 0x0102);
  REQUIRE(std::holds_alternative<One>(command));
  std::string again;
  EncodeRecord(at_ms, std::get<One>(command), &again);
  CHECK_EQ(again, record);
  for (size_t size = 0; size < record.size(); ++size) {
    CHECK_FALSE(DecodeRecord(std::string_view(record).substr(0, size), &at_ms, &command));
  }
  CHECK_FALSE(DecodeRecord(record + "x", &at_ms, &command));
  return Hex(record);
}

TEST_CASE("command: every record has its bytes") {
  protocol::RoomSettings settings;
  settings.mode = protocol::Mode::kPaused;
  settings.capacity = protocol::Limit{5};
  const std::string at = "0201000000000000";
  const std::string none = "00";  // no optional field
  CHECK_EQ(RecordOf(command::Tick{}), "01" + at + none);
  CHECK_EQ(RecordOf(command::RoomCreate{"ab", settings}),
           "02" + at + none + "026162" + "09000000" + "03" + "0500000000000000");
  CHECK_EQ(RecordOf(command::RoomSet{7, settings}),
           "03" + at + none + "07000000" + "09000000" + "03" + "0500000000000000");
  CHECK_EQ(RecordOf(command::RoomDelete{7}), "04" + at + none + "07000000");
  CHECK_EQ(RecordOf(command::RoomReset{7}), "05" + at + none + "07000000");
  CHECK_EQ(RecordOf(command::Join{7, "v", 128}), "0a" + at + none + "07000000" + "0176" + "80");
  CHECK_EQ(RecordOf(command::Enter{7, "v", 0}), "0b" + at + none + "07000000" + "0176" + "00");
  CHECK_EQ(RecordOf(command::Leave{7, "v"}), "0c" + at + none + "07000000" + "0176");
  CHECK_EQ(RecordOf(command::Claim{7, "v"}), "0d" + at + none + "07000000" + "0176");
  CHECK_EQ(RecordOf(command::Finish{7, "v", 9, protocol::Outcome::kCompleted}),
           "0e" + at + none + "07000000" + "0176" + "0900000000000000" + "01");
  CHECK_EQ(RecordOf(command::Expire{7, "v"}), "0f" + at + none + "07000000" + "0176");
  CHECK_EQ(RecordOf(command::Settle{7, "v"}), "10" + at + none + "07000000" + "0176");
  CHECK_EQ(RecordOf(command::Admit{7, 3, "k"}),
           "14" + at + "01" + "07000000" + "03000000" + "016b");
  CHECK_EQ(RecordOf(command::Admit{7, 3, std::nullopt}),
           "14" + at + none + "07000000" + "03000000");
  CHECK_EQ(RecordOf(command::AdmitVisitor{7, "v", true}),
           "15" + at + none + "07000000" + "0176" + "01");
  CHECK_EQ(RecordOf(command::Revoke{7, "v", 256}),
           "16" + at + "01" + "07000000" + "0176" + "0001000000000000");
  CHECK_EQ(RecordOf(command::UseTokenKey{0x01020304}), "1e" + at + none + "04030201");
}

TEST_CASE("command: what an operator did can say who it was") {
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{5};
  const std::string at = "0201000000000000";
  const std::string ann = "03616e6e";
  CHECK_EQ(RecordOf(command::RoomCreate{"ab", settings, "ann"}),
           "02" + at + "01" + "026162" + "08000000" + "0500000000000000" + ann);
  CHECK_EQ(RecordOf(command::RoomSet{7, settings, "ann"}),
           "03" + at + "01" + "07000000" + "08000000" + "0500000000000000" + ann);
  CHECK_EQ(RecordOf(command::RoomDelete{7, "ann"}), "04" + at + "01" + "07000000" + ann);
  CHECK_EQ(RecordOf(command::RoomReset{7, "ann"}), "05" + at + "01" + "07000000" + ann);
  CHECK_EQ(RecordOf(command::Finish{7, "v", 9, protocol::Outcome::kCompleted, "ann"}),
           "0e" + at + "01" + "07000000" + "0176" + "0900000000000000" + "01" + ann);
  CHECK_EQ(RecordOf(command::Admit{7, 3, "k", "ann"}),
           "14" + at + "03" + "07000000" + "03000000" + "016b" + ann);
  CHECK_EQ(RecordOf(command::Admit{7, 3, std::nullopt, "ann"}),
           "14" + at + "02" + "07000000" + "03000000" + ann);
  CHECK_EQ(RecordOf(command::AdmitVisitor{7, "v", true, "ann"}),
           "15" + at + "01" + "07000000" + "0176" + "01" + ann);
  CHECK_EQ(RecordOf(command::Revoke{7, "v", 256, "ann"}),
           "16" + at + "03" + "07000000" + "0176" + "0001000000000000" + ann);
  CHECK_EQ(RecordOf(command::UseTokenKey{7, "ann"}), "1e" + at + "01" + "07000000" + ann);
}

TEST_CASE("command: who did it changes nothing") {
  Engine anonymous((EngineOptions()));
  Engine named((EngineOptions()));
  Effects effects;
  const auto apply = [&](auto one) {
    anonymous.Apply(1, one, &effects);
    one.by = "ann";
    named.Apply(1, one, &effects);
    CHECK_EQ(anonymous.digest(), named.digest());
  };
  protocol::RoomSettings settings = protocol::DefaultSettings();
  settings.capacity = protocol::Limit{5};
  settings.rate = protocol::Rate{};
  apply(command::RoomCreate{"ab", settings});
  apply(command::RoomSet{1, settings});
  apply(command::AdmitVisitor{1, "v", true});
  apply(command::Finish{1, "v", 1, protocol::Outcome::kCompleted});
  apply(command::Admit{1, 3, "k"});
  apply(command::Revoke{1, "w", 256});
  apply(command::RoomReset{1});
  apply(command::RoomDelete{2});
  apply(command::UseTokenKey{7});
}

TEST_CASE("command: an unknown type and a time before the beginning are no records") {
  int64_t at_ms;
  Command command;
  CHECK_FALSE(DecodeRecord(std::string("\x63", 1) + std::string(8, '\0'), &at_ms, &command));
  CHECK_FALSE(DecodeRecord(std::string("\x01", 1) + std::string(8, '\xff'), &at_ms, &command));
}

TEST_CASE("command: what the engine cannot hold is no record") {
  const auto is_record = [](const auto& one, int64_t at_ms = 0) {
    std::string record;
    EncodeRecord(at_ms, one, &record);
    Command command;
    return DecodeRecord(record, &at_ms, &command);
  };
  CHECK(is_record(command::Tick{}, kRecordMsMax));
  CHECK_FALSE(is_record(command::Tick{}, kRecordMsMax + 1));
  CHECK(is_record(command::Join{7, std::string(255, 'v'), 0}));
  CHECK_FALSE(is_record(command::Join{7, "", 0}));
  CHECK(is_record(command::Revoke{7, "v", protocol::kDurationMsMax}));
  CHECK_FALSE(is_record(command::Revoke{7, "v", protocol::kDurationMsMax + 1}));
  CHECK_FALSE(is_record(command::Revoke{7, "v", 0}));
  CHECK(is_record(command::UseTokenKey{UINT32_MAX}));
  CHECK_FALSE(is_record(command::UseTokenKey{kFirstTokenKey}));
  protocol::RoomSettings settings;
  CHECK(is_record(command::RoomCreate{"room", settings}));
  CHECK_FALSE(is_record(command::RoomCreate{"no room", settings}));
  CHECK(is_record(command::RoomDelete{7, std::string(64, 'a')}));
  CHECK_FALSE(is_record(command::RoomDelete{7, std::string(65, 'a')}));
  CHECK_FALSE(is_record(command::RoomDelete{7, ""}));
  CHECK_FALSE(is_record(command::RoomDelete{7, "Ann\n"}));
  settings.claim_ttl = protocol::Duration{INT64_MAX};
  CHECK_FALSE(is_record(command::RoomSet{7, settings}));
}

}  // namespace
}  // namespace anteroom
