#include "server/engine/timing_wheel.h"

namespace anteroom {

TimingWheel::SlotRef TimingWheel::FirstList() const {
  uint32_t number = anchor_;
  for (;;) {
    const Wheel& wheel = wheels_[number];
    const uint32_t slot = static_cast<uint32_t>(std::countr_zero(wheel.occupied));
    if ((wheel.finer & Bit(slot)) == 0) return RefOf(number, slot);
    number = wheel.content[slot];
  }
}

uint32_t TimingWheel::NewWheel(SlotRef ref, Key key, Key difference) {
  const uint64_t high = static_cast<uint64_t>(difference >> 64);
  const uint64_t low = static_cast<uint64_t>(difference);
  const int highest_bit = high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(low);
  const uint32_t number = wheels_.Allocate();
  CHECK_LT(number, kOut / kSlots);
  Wheel& wheel = wheels_[number];
  wheel.shift = highest_bit - highest_bit % kDigitBits;
  const Key start = key >> (wheel.shift + kDigitBits) << (wheel.shift + kDigitBits);
  wheel.start_high = static_cast<uint64_t>(start >> 64);
  wheel.start_low = static_cast<uint64_t>(start);
  wheel.parent = ref;
  Wheel& above = wheels_[ref / kSlots];
  const uint32_t slot = ref % kSlots;
  above.finer |= Bit(slot);
  above.content[slot] = number;
  above.length[slot] = 0;
  return number;
}

void TimingWheel::PutFiner(uint32_t above, uint32_t finer) {
  Wheel& wheel = wheels_[above];
  const uint32_t slot = wheel.SlotOf(wheels_[finer].start());
  wheel.occupied |= Bit(slot);
  wheel.finer |= Bit(slot);
  wheel.content[slot] = finer;
  wheels_[finer].parent = RefOf(above, slot);
}

}  // namespace anteroom
