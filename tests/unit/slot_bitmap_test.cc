#include "server/engine/slot_bitmap.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include "server/base/check.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

constexpr uint32_t kSlots = SlotBitmap::kSlots;

// What the bitmap is, slot by slot.
struct PlainBitmap {
  std::array<bool, kSlots> occupied{};

  uint32_t CountBelow(uint32_t slot) const {
    return static_cast<uint32_t>(std::count(occupied.begin(), occupied.begin() + slot, true));
  }
  uint32_t Next(uint32_t slot, bool wanted) const {
    while (slot < kSlots && occupied[slot] != wanted) ++slot;
    return slot;
  }
  uint32_t Previous(uint32_t slot, bool wanted) const {
    while (slot > 0) {
      if (occupied[--slot] == wanted) return slot;
    }
    return kSlots;
  }
  uint32_t Select(uint32_t index) const {
    uint32_t slot = Next(0, true);
    while (index-- > 0) slot = Next(slot + 1, true);
    return slot;
  }
};

// Every question, about every slot.
void CompareAll(const SlotBitmap& bits, const PlainBitmap& model) {
  const uint32_t count = model.CountBelow(kSlots);
  CHECK_EQ(bits.Count(), count);
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    CHECK_EQ(bits.Test(slot), model.occupied[slot]);
    CHECK_EQ(bits.CountBelow(slot), model.CountBelow(slot));
  }
  for (uint32_t slot = 0; slot <= kSlots; ++slot) {
    CHECK_EQ(bits.NextSet(slot), model.Next(slot, true));
    CHECK_EQ(bits.NextClear(slot), model.Next(slot, false));
    CHECK_EQ(bits.PreviousSet(slot), model.Previous(slot, true));
    CHECK_EQ(bits.PreviousClear(slot), model.Previous(slot, false));
  }
  for (uint32_t index = 0; index < count; ++index)
    CHECK_EQ(bits.Select(index), model.Select(index));
}

TEST_CASE("slot bitmap: none, one, all but one, and all occupied") {
  SlotBitmap bits{};
  PlainBitmap model;
  CompareAll(bits, model);
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    bits.Set(slot);
    model.occupied[slot] = true;
    CompareAll(bits, model);
    bits.Clear(slot);
    model.occupied[slot] = false;
  }
  for (uint32_t slot = 0; slot < kSlots; ++slot) bits.Set(slot);
  model.occupied.fill(true);
  CompareAll(bits, model);
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    bits.Clear(slot);
    model.occupied[slot] = false;
    CompareAll(bits, model);
    bits.Set(slot);
    model.occupied[slot] = true;
  }
  bits.ClearAll();
  model.occupied.fill(false);
  CompareAll(bits, model);
}

TEST_CASE("slot bitmap: as slot by slot, over a million random operations") {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  SlotBitmap bits{};
  PlainBitmap model;
  const auto set = [&](uint32_t slot, bool occupied) {
    if (occupied) {
      bits.Set(slot);
    } else {
      bits.Clear(slot);
    }
    model.occupied[slot] = occupied;
  };
  uint32_t fill_percent = 50;
  for (int step = 0; step < 1'000'000; ++step) {
    // From nearly empty to nearly full, so that whole words are one or the other.
    if (step % 2000 == 0) fill_percent = below(101);
    switch (below(10)) {
      case 0:
        CHECK_EQ(bits.Count(), model.CountBelow(kSlots));
        break;
      case 1: {
        const uint32_t slot = below(kSlots);
        CHECK_EQ(bits.CountBelow(slot), model.CountBelow(slot));
        break;
      }
      case 2: {
        const uint32_t count = model.CountBelow(kSlots);
        if (count == 0) break;
        const uint32_t index = below(count);
        CHECK_EQ(bits.Select(index), model.Select(index));
        break;
      }
      case 3: {
        const uint32_t slot = below(kSlots + 1);
        CHECK_EQ(bits.NextSet(slot), model.Next(slot, true));
        CHECK_EQ(bits.NextClear(slot), model.Next(slot, false));
        break;
      }
      case 4: {
        const uint32_t slot = below(kSlots + 1);
        CHECK_EQ(bits.PreviousSet(slot), model.Previous(slot, true));
        CHECK_EQ(bits.PreviousClear(slot), model.Previous(slot, false));
        break;
      }
      case 5: {
        // A run, as they come where people join one after the other.
        const bool occupied = below(100) < fill_percent;
        const uint32_t end = below(kSlots + 1);
        for (uint32_t slot = end - std::min(end, below(20)); slot < end; ++slot) {
          set(slot, occupied);
        }
        break;
      }
      case 6:
        if (below(1000) == 0) {
          bits.ClearAll();
          model.occupied.fill(false);
        }
        break;
      default: {
        const uint32_t slot = below(kSlots);
        CHECK_EQ(bits.Test(slot), model.occupied[slot]);
        set(slot, below(100) < fill_percent);
        CHECK_EQ(bits.Test(slot), model.occupied[slot]);
      }
    }
    if (step % 5000 == 0) CompareAll(bits, model);
  }
  CompareAll(bits, model);
}

}  // namespace
}  // namespace anteroom
