#ifndef ANTEROOM_SERVER_ENGINE_GROWING_ARRAY_H_
#define ANTEROOM_SERVER_ENGINE_GROWING_ARRAY_H_

// An array of plain values that only grows, in one piece: one load away where a segmented one
// (slab.h) takes two, for what is read in long chains.
//
// Growing doubles it with realloc; what has not been used yet is not resident. The C library moves
// the pages of a block that it has mapped by itself, and may copy a smaller one, with glibc up to
// 32 MiB. So the one call that doubles it is not always short: tens of milliseconds at ten million
// values of eight bytes (bench/growing_array_bench.cc), up to one at a million. It is meant for
// what there is one of for many people, as the nodes of a ranked queue.
//
// Threads: none; one owner. References are void after Grow.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace anteroom {

template <typename T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() { std::free(values_); }

  // Room for the first `size` values; those that are new are yet to be set. std::bad_alloc.
  void Grow(uint32_t size) {
    if (size <= capacity_) return;
    uint32_t capacity = capacity_ == 0 ? kCapacityMin : capacity_;
    while (capacity < size) capacity = capacity > UINT32_MAX / 2 ? UINT32_MAX : capacity * 2;
    void* grown = std::realloc(values_, capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    values_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  T& operator[](uint32_t index) { return values_[index]; }
  const T& operator[](uint32_t index) const { return values_[index]; }

 private:
  static constexpr uint32_t kCapacityMin = 64;

  T* values_ = nullptr;
  uint32_t capacity_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_GROWING_ARRAY_H_
