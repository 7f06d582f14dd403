// The hard commands: everything that changes the engine's state, as values and as the bytes of a
// log record. A record is
//
//   offset  size  field
//   0       1     type      kType of the command
//   1       8     at_ms     engine time
//   9       -     the command, in the encoding of protocol/codec.h
//
// Applied to a state in which it makes no sense (a claim of somebody absent) a command does
// nothing: what is decided stands before the record, but any sequence of records that DecodeRecord
// takes, their times not falling, is a valid log.
// What an operator did has `by`, the name of the operator's credentials, when credentials were in
// use. It is for people: the state does not depend on it.
#ifndef ANTEROOM_SERVER_ENGINE_COMMAND_H_
#define ANTEROOM_SERVER_ENGINE_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/codec.h"
#include "protocol/kinds.h"
#include "protocol/settings.h"
#include "server/engine/record.h"

namespace anteroom::command {

// Time has passed; what is due by now is done. Every command does this first.
struct Tick {
  ANTEROOM_RECORD(1, "tick")
};

struct RoomCreate {
  std::string_view name;
  protocol::RoomSettings settings;  // all: the defaults of the version that wrote the record too
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(2, "room_create",
                  ANTEROOM_RECORD_FIELD(name) ANTEROOM_RECORD_FIELD(settings)
                      ANTEROOM_RECORD_FIELD(by))
};

// Rooms are named by the number that they got from a counter when they were made.
struct RoomSet {
  uint32_t room = 0;
  protocol::RoomSettings settings;
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(3, "room_set",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(settings)
                      ANTEROOM_RECORD_FIELD(by))
};

struct RoomDelete {
  uint32_t room = 0;
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(4, "room_delete", ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(by))
};

struct RoomReset {
  uint32_t room = 0;
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(5, "room_reset", ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(by))
};

struct Join {
  uint32_t room = 0;
  std::string_view visitor;
  uint8_t lane = 0;
  ANTEROOM_RECORD(10, "join",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor)
                      ANTEROOM_RECORD_FIELD(lane))
};

// Join, and if that admits, claim.
struct Enter {
  uint32_t room = 0;
  std::string_view visitor;
  uint8_t lane = 0;
  ANTEROOM_RECORD(11, "enter",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor)
                      ANTEROOM_RECORD_FIELD(lane))
};

struct Leave {
  uint32_t room = 0;
  std::string_view visitor;
  ANTEROOM_RECORD(12, "leave", ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor))
};

struct Claim {
  uint32_t room = 0;
  std::string_view visitor;
  ANTEROOM_RECORD(13, "claim", ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor))
};

// Ends this admission; of one that has run out, completes it late.
struct Finish {
  uint32_t room = 0;
  std::string_view visitor;
  uint64_t admission = 0;
  protocol::Outcome outcome = protocol::Outcome::kCancelled;
  std::optional<std::string_view> by = std::nullopt;
  std::optional<uint32_t> units = std::nullopt;  // 1 unless said
  ANTEROOM_RECORD(14, "finish",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor)
                      ANTEROOM_RECORD_FIELD(admission) ANTEROOM_RECORD_FIELD(outcome)
                          ANTEROOM_RECORD_FIELD(by) ANTEROOM_RECORD_FIELD(units))
};

// A soft deadline ran out: the visitor waiting was not heard from, the sliding session not touched.
struct Expire {
  uint32_t room = 0;
  std::string_view visitor;
  ANTEROOM_RECORD(15, "expire", ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor))
};

// A hard deadline of this visitor is over, and is done before the visitor's turn in the order of
// deadlines because somebody asks.
struct Settle {
  uint32_t room = 0;
  std::string_view visitor;
  ANTEROOM_RECORD(16, "settle", ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor))
};

struct Admit {
  uint32_t room = 0;
  uint32_t count = 0;
  std::optional<std::string_view> key;
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(20, "admit",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(count)
                      ANTEROOM_RECORD_FIELD(key) ANTEROOM_RECORD_FIELD(by))
};

struct AdmitVisitor {
  uint32_t room = 0;
  std::string_view visitor;
  bool over = false;
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(21, "admit_visitor",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor)
                      ANTEROOM_RECORD_FIELD(over) ANTEROOM_RECORD_FIELD(by))
};

struct Revoke {
  uint32_t room = 0;
  std::string_view visitor;
  std::optional<int64_t> block_ms;
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(22, "revoke",
                  ANTEROOM_RECORD_FIELD(room) ANTEROOM_RECORD_FIELD(visitor)
                      ANTEROOM_RECORD_FIELD(block_ms) ANTEROOM_RECORD_FIELD(by))
};

// Admissions from the next one on have their tokens made with this key (engine.h, TokenKeyRange).
struct UseTokenKey {
  uint32_t key_id = 0;  // from 1, of the directory's secrets
  std::optional<std::string_view> by = std::nullopt;
  ANTEROOM_RECORD(30, "use_token_key", ANTEROOM_RECORD_FIELD(key_id) ANTEROOM_RECORD_FIELD(by))
};

}  // namespace anteroom::command

namespace anteroom {

using Command =
    std::variant<command::Tick, command::RoomCreate, command::RoomSet, command::RoomDelete,
                 command::RoomReset, command::Join, command::Enter, command::Leave, command::Claim,
                 command::Finish, command::Expire, command::Settle, command::Admit,
                 command::AdmitVisitor, command::Revoke, command::UseTokenKey>;

// Replaces the content of *record.
template <typename OneCommand>
void EncodeRecord(int64_t at_ms, const OneCommand& one, std::string* record) {
  record->clear();
  protocol::ByteWriter writer(record);
  writer.Put(OneCommand::kType);
  writer.Put(at_ms);
  protocol::Encode(one, record);
}

// The latest time of a record, in the year 6429: it and any duration after it fit in 48 bits.
inline constexpr int64_t kRecordMsMax = int64_t{1} << 47;

// False when the bytes are no record, or say what the engine cannot hold: settings out of their
// ranges, a name or an id that is none, a time beyond kRecordMsMax. Views in *command point into
// `record`.
bool DecodeRecord(std::string_view record, int64_t* at_ms, Command* command);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_COMMAND_H_
