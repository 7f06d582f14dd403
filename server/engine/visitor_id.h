#ifndef ANTEROOM_SERVER_ENGINE_VISITOR_ID_H_
#define ANTEROOM_SERVER_ENGINE_VISITOR_ID_H_

// A visitor's id, 1 to 255 opaque bytes, in 17 bytes without alignment, so that the entry that
// holds it can pack its other fields around it.
//
// Up to 16 bytes stand inline. A longer id is spilled to a block of its own on the heap, and the
// pointer to it stands in the first eight inline bytes. PackedId is trivially copyable, so entries
// can be moved as bytes; ownership of the block is therefore explicit: whoever calls Set calls
// Clear exactly once for it, and a byte copy owns nothing.
//
// All bytes zero is the empty id, which is what a fresh slab entry holds. Bytes of `bytes` that an
// inline id does not fill are zero.
// Threads: none; one owner.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace anteroom {

inline constexpr size_t kVisitorIdInlineBytes = 16;
inline constexpr size_t kVisitorIdBytesMax = 255;

// Invariant: length <= 16 and the id is bytes[0..length), or length > 16 and bytes[0..8) is the
// address of a heap block of `length` bytes that this id owns.
struct PackedId {
  uint8_t length;
  char bytes[kVisitorIdInlineBytes];

  // Takes a copy of `id` (at most 255 bytes, else CHECK); a spilled id held before is freed.
  void Set(std::string_view id);

  // Frees what was spilled; the id is empty afterwards.
  void Clear();

  bool spilled() const { return length > kVisitorIdInlineBytes; }

  // Good until Set or Clear, or, for an inline id, until the PackedId itself moves.
  std::string_view view() const { return {spilled() ? SpilledBlock() : bytes, length}; }

  bool Equals(std::string_view id) const {
    return id.size() == length && std::memcmp(view().data(), id.data(), length) == 0;
  }

  // Bytes outside this struct, with what glibc's allocator adds: eight, and no block has fewer than
  // 32 or another number than a multiple of 16.
  size_t heap_bytes() const {
    if (!spilled()) return 0;
    const size_t block_bytes = (length + size_t{8} + 15) / 16 * 16;
    return block_bytes < 32 ? 32 : block_bytes;
  }

  void check_invariants() const;

 private:
  char* SpilledBlock() const {
    char* block;
    std::memcpy(&block, bytes, sizeof(block));
    return block;
  }
};

static_assert(sizeof(PackedId) == 17);
static_assert(alignof(PackedId) == 1);
static_assert(std::is_trivially_copyable_v<PackedId>);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_VISITOR_ID_H_
