// Who comes: visitors are numbered in the order in which they join, and the number makes the id, so
// that both servers see the same 16 random-looking bytes and nobody has to keep a list.
#ifndef ANTEROOM_BENCH_LOADGEN_CROWD_H_
#define ANTEROOM_BENCH_LOADGEN_CROWD_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace anteroom::loadgen {

inline constexpr size_t kIdBytes = 16;

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
constexpr uint64_t Mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

struct VisitorId {
  std::array<char, kIdBytes> bytes;
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

inline VisitorId IdOf(uint64_t visitor) {
  const std::array<uint64_t, 2> words = {Mix(2 * visitor), Mix(2 * visitor + 1)};
  VisitorId id;
  static_assert(sizeof words == sizeof id.bytes);
  std::memcpy(id.bytes.data(), words.data(), sizeof words);
  return id;
}

// Which visitors wait at one server. Invariant: admitted <= joined; [admitted, joined) wait, but
// for a blur at the front: with many connections people do not arrive exactly in the order of their
// numbers.
struct Crowd {
  uint64_t joined = 0;
  uint64_t admitted = 0;

  uint64_t waiting() const { return joined - admitted; }

  // The `draw`-th visitor to ask about, anyone in line with the same likelihood, away from the
  // blur. At least one must wait.
  uint64_t SomeoneWaiting(uint64_t draw) const {
    constexpr uint64_t kBlur = 20'000;
    const uint64_t first = admitted + std::min(kBlur, waiting() / 4);
    // The high half of the product is a number below the range, without a division.
    const auto product = static_cast<unsigned __int128>(Mix(draw)) * (joined - first);
    return first + static_cast<uint64_t>(product >> 64);
  }
};

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_CROWD_H_
