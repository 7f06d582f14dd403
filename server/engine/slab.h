#ifndef ANTEROOM_SERVER_ENGINE_SLAB_H_
#define ANTEROOM_SERVER_ENGINE_SLAB_H_

// A slab: entries of one type, addressed by a 32-bit handle that stays good until it is freed.
//
//   Slab<Visitor> visitors;
//   uint32_t handle = visitors.Allocate();   // a zeroed Visitor; never 0
//   visitors[handle].room = 7;
//   visitors.Free(handle);
//
// Entries stand in segments of a power of two, each allocated once and never moved, so growing
// copies nothing but (rarely) the small directory of segment pointers. A segment is touched entry
// by entry as it fills: pages that no entry has used yet are not resident.
//
// Freed entries are given out again, the last freed first, before a new one is touched; the same
// calls always give the same handles. Free zeroes the entry but for its first four bytes, which
// hold the link of the free list: an owner that walks all handles 1..capacity() tells a live entry
// by a field beyond those bytes that is never 0 while it lives.
//
// Freed memory stays with the slab until it is destroyed. Limit: 2^32 - 1 entries.
// Threads: none; one owner.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "server/base/check.h"
#include "server/base/prefetch.h"

namespace anteroom {

// The handle that no entry has.
inline constexpr uint32_t kNoHandle = 0;

// Invariant: every handle 1..capacity() is either given out or on the free list exactly once, and
// size() counts the former.
template <typename T, uint32_t kEntriesOfSegment = 16384>
class Slab {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(sizeof(T) >= sizeof(uint32_t));
  static_assert(std::has_single_bit(kEntriesOfSegment));

 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    for (T* segment : segments_) ::operator delete (segment, std::align_val_t{kAlignment});
  }

  // A new entry, all bytes zero.
  uint32_t Allocate() {
    uint32_t handle = free_head_;
    T* entry;
    if (handle != kNoHandle) {
      entry = &(*this)[handle];
      std::memcpy(&free_head_, entry, sizeof(free_head_));
      std::memset(static_cast<void*>(entry), 0, sizeof(uint32_t));
    } else {
      CHECK_LT(capacity_, UINT32_MAX);
      handle = ++capacity_;
      if (handle / kSegmentEntries >= segments_.size()) AddSegment();
      entry = &(*this)[handle];
      std::memset(static_cast<void*>(entry), 0, sizeof(T));
    }
    ++size_;
    return handle;
  }

  // `handle` must be live.
  void Free(uint32_t handle) {
    DCHECK(handle != kNoHandle && handle <= capacity_);
    T* entry = &(*this)[handle];
    std::memset(static_cast<void*>(entry), 0, sizeof(T));
    std::memcpy(static_cast<void*>(entry), &free_head_, sizeof(free_head_));
    free_head_ = handle;
    --size_;
  }

  T& operator[](uint32_t handle) {
    return segments_[handle / kSegmentEntries][handle % kSegmentEntries];
  }
  const T& operator[](uint32_t handle) const {
    return segments_[handle / kSegmentEntries][handle % kSegmentEntries];
  }

  // Asks for the entry's cache lines ahead of use.
  void Prefetch(uint32_t handle) const {
    const char* entry = reinterpret_cast<const char*>(&(*this)[handle]);
    PrefetchLine(entry);
    // An entry whose size divides the line stands in one line.
    if constexpr (kLineBytes % sizeof(T) != 0) PrefetchLine(entry + sizeof(T) - 1);
  }

  // Entries given out now.
  uint32_t size() const { return size_; }

  // The highest handle ever given out; all handles to walk are 1..capacity().
  uint32_t capacity() const { return capacity_; }

  // Memory taken by segments that have been touched, in bytes, up to the last entry ever used.
  size_t bytes() const {
    return (capacity_ == 0 ? 0 : (size_t{capacity_} + 1) * sizeof(T)) +
           segments_.capacity() * sizeof(T*);
  }

  // Of that, what entries take that are given out.
  size_t used_bytes() const { return size_t{size_} * sizeof(T); }

  // Walks the free list: time O(freed entries).
  void check_invariants() const {
    CHECK_LE(size_, capacity_);
    uint32_t freed = 0;
    for (uint32_t handle = free_head_; handle != kNoHandle; ++freed) {
      CHECK_LE(handle, capacity_);
      CHECK_LT(freed, capacity_);
      std::memcpy(&handle, &(*this)[handle], sizeof(handle));
    }
    CHECK_EQ(freed, capacity_ - size_);
    CHECK_EQ(segments_.size(), capacity_ == 0 ? 0 : capacity_ / kSegmentEntries + 1);
  }

 private:
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  // A fuzzer makes hundreds of engines a second: small segments are not mapped anew for each.
  static constexpr uint32_t kSegmentEntries = kEntriesOfSegment < 64 ? kEntriesOfSegment : 64;
#else
  static constexpr uint32_t kSegmentEntries = kEntriesOfSegment;
#endif
  static constexpr size_t kLineBytes = 64;
  static constexpr size_t kAlignment = alignof(T) > kLineBytes ? alignof(T) : kLineBytes;

  void AddSegment() {
    segments_.push_back(static_cast<T*>(
        ::operator new (sizeof(T) * size_t{kSegmentEntries}, std::align_val_t{kAlignment})));
  }

  std::vector<T*> segments_;
  uint32_t capacity_ = 0;
  uint32_t size_ = 0;
  uint32_t free_head_ = kNoHandle;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_SLAB_H_
