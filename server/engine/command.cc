#include "server/engine/command.h"

#include <utility>

#include "protocol/duration.h"
#include "protocol/limits.h"
#include "protocol/text.h"

namespace anteroom {
namespace {

template <size_t... kIndexes>
bool DecodeOneOf(uint8_t type, std::string_view bytes, Command* command,
                 std::index_sequence<kIndexes...>) {
  bool decoded = false;
  const auto try_one = [&]<size_t kIndex>() {
    using One = std::variant_alternative_t<kIndex, Command>;
    if (One::kType != type) return false;
    decoded = protocol::Decode(bytes, &command->emplace<kIndex>());
    return true;
  };
  (try_one.template operator()<kIndexes>() || ...);
  return decoded;
}

// Whether the engine can hold what the fields say. What they refer to need not be there.
template <typename One>
bool IsWithinLimits(const One& one) {
  if constexpr (requires { one.settings; }) {
    if (!protocol::CheckSettings(one.settings).empty()) return false;
  }
  if constexpr (requires { one.name; }) {
    if (!protocol::CheckRoomName(one.name).empty()) return false;
  }
  if constexpr (requires { one.visitor; }) {
    if (one.visitor.empty() || one.visitor.size() > protocol::kVisitorIdBytesMax) return false;
  }
  if constexpr (requires { one.key_id; }) {
    if (one.key_id == 0) return false;
  }
  if constexpr (requires { one.by; }) {
    if (one.by && !protocol::IsCredentialName(*one.by)) return false;
  }
  if constexpr (requires { one.block_ms; }) {
    if (one.block_ms && (*one.block_ms < 1 || *one.block_ms > protocol::kDurationMsMax))
      return false;
  }
  return true;
}

}  // namespace

bool DecodeRecord(std::string_view record, int64_t* at_ms, Command* command) {
  protocol::ByteReader reader(record);
  const auto type = reader.Get<uint8_t>();
  *at_ms = reader.Get<int64_t>();
  if (reader.failed() || *at_ms < 0 || *at_ms > kRecordMsMax) return false;
  return DecodeOneOf(type, reader.GetBytes(reader.left_bytes()), command,
                     std::make_index_sequence<std::variant_size_v<Command>>()) &&
         std::visit([](const auto& one) { return IsWithinLimits(one); }, *command);
}

}  // namespace anteroom
