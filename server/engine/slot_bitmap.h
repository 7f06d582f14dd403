#ifndef ANTEROOM_SERVER_ENGINE_SLOT_BITMAP_H_
#define ANTEROOM_SERVER_ENGINE_SLOT_BITMAP_H_

// Which of a node's 256 slots are occupied.

#include <bit>
#include <cstdint>

namespace anteroom {

struct SlotBitmap {
  static constexpr uint32_t kSlots = 256;

  uint64_t words[kSlots / 64];

  bool Test(uint32_t slot) const { return (words[slot / 64] >> (slot % 64) & 1) != 0; }
  void Set(uint32_t slot) { words[slot / 64] |= uint64_t{1} << (slot % 64); }
  void Clear(uint32_t slot) { words[slot / 64] &= ~(uint64_t{1} << (slot % 64)); }
  void ClearAll() { words[0] = words[1] = words[2] = words[3] = 0; }

  // Occupied slots below `slot`; at most 255.
  uint32_t CountBelow(uint32_t slot) const {
    const uint32_t word = slot / 64;
    const uint64_t below = (uint64_t{1} << (slot % 64)) - 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      count += CountWord(words[i] & (i < word ? ~uint64_t{0} : i == word ? below : 0));
    }
    return count;
  }

  // All occupied slots, 0 to 256.
  uint32_t Count() const {
    uint32_t count = 0;
    for (const uint64_t word : words) count += CountWord(word);
    return count;
  }

  // The occupied slot with `index` occupied ones below it; there must be one.
  uint32_t Select(uint32_t index) const {
    uint32_t word = 0;
    for (uint32_t count; index >= (count = CountWord(words[word])); ++word) index -= count;
    uint64_t bits = words[word];
    uint32_t slot = word * 64;
    for (uint32_t half = 32; half >= 8; half /= 2) {
      const uint32_t count = CountWord(bits & ((uint64_t{1} << half) - 1));
      if (index >= count) {
        index -= count;
        bits >>= half;
        slot += half;
      }
    }
    for (; index > 0; --index) bits &= bits - 1;
    return slot + static_cast<uint32_t>(std::countr_zero(bits));
  }

  // First slot at or after `slot` (0 to 256) that is occupied, or kSlots.
  uint32_t NextSet(uint32_t slot) const { return Next(slot, 0); }
  // First slot at or after `slot` (0 to 256) that is free, or kSlots.
  uint32_t NextClear(uint32_t slot) const { return Next(slot, ~uint64_t{0}); }

  // Last slot before `slot` (0 to 256) that is occupied, or kSlots.
  uint32_t PreviousSet(uint32_t slot) const { return Previous(slot, 0); }
  // Last slot before `slot` (0 to 256) that is free, or kSlots.
  uint32_t PreviousClear(uint32_t slot) const { return Previous(slot, ~uint64_t{0}); }

 private:
  static uint32_t CountWord(uint64_t word) { return static_cast<uint32_t>(std::popcount(word)); }

  uint32_t Next(uint32_t slot, uint64_t flip) const {
    if (slot >= kSlots) return kSlots;
    uint32_t word = slot / 64;
    uint64_t bits = (words[word] ^ flip) >> (slot % 64) << (slot % 64);
    while (bits == 0) {
      if (++word == 4) return kSlots;
      bits = words[word] ^ flip;
    }
    return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
  }

  uint32_t Previous(uint32_t slot, uint64_t flip) const {
    if (slot == 0) return kSlots;
    uint32_t word = (slot - 1) / 64;
    const uint32_t unwanted = 63 - (slot - 1) % 64;
    uint64_t bits = (words[word] ^ flip) << unwanted >> unwanted;
    while (bits == 0) {
      if (word-- == 0) return kSlots;
      bits = words[word] ^ flip;
    }
    return word * 64 + 63 - static_cast<uint32_t>(std::countl_zero(bits));
  }
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_SLOT_BITMAP_H_
