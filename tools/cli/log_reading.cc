#include "tools/cli/log_reading.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "server/storage/storage_status.h"

namespace anteroom::cli {
Json Describe(const Engine& engine, uint64_t sequence, int64_t at_ms,
              const anteroom::Command& command) {
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
          const Room* room = engine.RoomAt(one.room);
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
    case storage::FailureKind::kMoved:
      return "moved";
    case storage::FailureKind::kNewerFormat:
      return "newer_format";
    case storage::FailureKind::kSecretMissing:
      return "secret_missing";
    case storage::FailureKind::kUnfinished:
      return "unfinished";
    case storage::FailureKind::kWrongKind:
      return "wrong_kind";
  }
  return "io";
}

ExitStatus FailReading(Context& context, const absl::Status& status) {
  const std::string_view error = ErrorNameOf(status);
  std::string_view message = protocol::ToStd(status.message());
  const std::string prefix = std::string(error) + ": ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return context.Fail(error, message);
}

}  // namespace anteroom::cli
