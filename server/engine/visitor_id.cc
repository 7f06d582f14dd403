#include "server/engine/visitor_id.h"

#include "server/base/check.h"

namespace anteroom {

void PackedId::Set(std::string_view id) {
  CHECK_LE(id.size(), kVisitorIdBytesMax);
  char* block = nullptr;
  if (id.size() > kVisitorIdInlineBytes) {
    block = new char[id.size()];
    std::memcpy(block, id.data(), id.size());
  }
  char inline_bytes[kVisitorIdInlineBytes] = {};
  if (block != nullptr) {
    std::memcpy(inline_bytes, &block, sizeof(block));
  } else if (!id.empty()) {
    std::memcpy(inline_bytes, id.data(), id.size());
  }
  // Last, so that `id` may be this id's own view.
  Clear();
  std::memcpy(bytes, inline_bytes, sizeof(bytes));
  length = static_cast<uint8_t>(id.size());
}

void PackedId::Clear() {
  if (spilled()) delete[] SpilledBlock();
  length = 0;
  std::memset(bytes, 0, sizeof(bytes));
}

void PackedId::check_invariants() const {
  const size_t filled = spilled() ? sizeof(char*) : length;
  for (size_t i = filled; i < sizeof(bytes); ++i) CHECK_EQ(bytes[i], '\0');
  if (spilled()) CHECK_NE(SpilledBlock(), nullptr);
}

}  // namespace anteroom
