#include "tools/cli/log_reading.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "server/storage/storage_status.h"

namespace anteroom::cli {
namespace {

absl::Status Wrong(uint64_t sequence, std::string_view why) {
  return storage::FailureStatus(storage::FailureKind::kDamaged,
                                "record " + std::to_string(sequence) + ": " + std::string(why));
}

}  // namespace

// Nobody chooses ids against a tool that reads what is already there: any seed does.
LogReading::LogReading(OnRecord on_record)
    : on_record_(std::move(on_record)), engine_(EngineOptions{}) {}

absl::Status LogReading::Record(uint64_t sequence, std::string_view bytes) {
  int64_t at_ms = 0;
  Command command;
  if (!DecodeRecord(bytes, &at_ms, &command)) {
    return Wrong(sequence, "its bytes are no command of this version");
  }
  if (at_ms < engine_.now_ms()) return Wrong(sequence, "its time is before the one before it");
  if (on_record_) on_record_(Describe(sequence, at_ms, command));
  effects_.Clear();
  engine_.Apply(at_ms, command, &effects_);
  return absl::OkStatus();
}

absl::Status LogReading::Mark(storage::MarkPlace, uint64_t next_sequence,
                              const storage::EngineMark& mark) {
  const Digest digest = engine_.digest();
  const storage::EngineMark here{digest.low, digest.high, engine_.now_ms()};
  if (here == mark) return absl::OkStatus();
  return Wrong(next_sequence, "the state before it is not the one that the log says it was");
}

Json LogReading::Describe(uint64_t sequence, int64_t at_ms, const Command& command) const {
  Json line = Json::object();
  line["sequence"] = sequence;
  line["at_ms"] = at_ms;
  std::visit(
      [&](const auto& one) {
        using One = std::remove_cvref_t<decltype(one)>;
        line["type"] = std::string(One::kName);
        Json fields = ToJson(one);
        if constexpr (std::is_same_v<One, command::RoomCreate>) {
          line["room"] = fields["name"];
          fields.erase("name");
        } else if constexpr (requires { one.room; }) {
          const Room* room = engine_.RoomAt(one.room);
          if (room != nullptr) line["room"] = room->name;
          line["room_number"] = fields["room"];
          fields.erase("room");
        }
        line.update(fields);
      },
      command);
  return line;
}

std::string_view ErrorNameOf(const absl::Status& status) {
  switch (storage::KindOf(status)) {
    case storage::FailureKind::kNone:
    case storage::FailureKind::kIo:
    case storage::FailureKind::kNoSpace:
      return "io";
    case storage::FailureKind::kNotFound:
      return "not_found";
    case storage::FailureKind::kInUse:
      return "in_use";
    case storage::FailureKind::kDamaged:
      return "damaged";
    case storage::FailureKind::kNewerFormat:
      return "newer_format";
    case storage::FailureKind::kSecretMissing:
      return "secret_missing";
    case storage::FailureKind::kWrongKind:
      return "wrong_kind";
  }
  return "io";
}

}  // namespace anteroom::cli
