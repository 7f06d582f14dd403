#include "server/engine/command.h"

#include <utility>

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

}  // namespace

bool DecodeRecord(std::string_view record, int64_t* at_ms, Command* command) {
  protocol::ByteReader reader(record);
  const auto type = reader.Get<uint8_t>();
  *at_ms = reader.Get<int64_t>();
  if (reader.failed() || *at_ms < 0) return false;
  return DecodeOneOf(type, reader.GetBytes(reader.left_bytes()), command,
                     std::make_index_sequence<std::variant_size_v<Command>>());
}

}  // namespace anteroom
