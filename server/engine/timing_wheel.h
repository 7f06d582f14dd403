#ifndef ANTEROOM_SERVER_ENGINE_TIMING_WHEEL_H_
#define ANTEROOM_SERVER_ENGINE_TIMING_WHEEL_H_

// An index over deadlines: what is due next, and what is due by now, in order.
//
//   TimingWheel wheel;
//   wheel.Add(owner, handle);
//   while (wheel.NextDue(owner) <= now) wheel.PopDue(owner, now, 256, &due);
//
// A hierarchical timing wheel (G. Varghese, T. Lauck, "Hashed and hierarchical timing wheels",
// SOSP 1987): wheels of 64 slots, a slot of one holding what a whole finer wheel below it would,
// from slots of 2^60 ms down to slots of 1 ms. It differs from the classic form in when entries
// move to a finer wheel: not when the hand comes near, which for a slot of a million entries would
// be one step of a million, but when a slot has more than kListMax entries; it then gets a finer
// wheel below it, on the level where its entries first differ. So wheels exist where there is a
// crowd, no step moves more than kListMax entries, and a jump of years costs nothing. Entries of
// one millisecond are told apart in the same way, by wheels over their sequence.
//
// Order: PopDue hands entries out by (deadline, sequence), across calls as well. Sequences of one
// deadline should be unique: entries that are equal in both come out in no promised order.
//
// Every call costs a few steps, each of them bounded: Add, Remove and NextDue at most kListMax
// entries looked at, PopDue some for each entry popped.
//
// The entries are the owner's, and hold the links:
//   WheelLink& LinkOf(uint32_t handle);
//   int64_t DeadlineOf(uint32_t handle) const;    // ms, >= 0
//   uint64_t SequenceOf(uint32_t handle) const;   // < 2^60
// Deadline and sequence must not change while an entry is in the wheel: Remove, change, Add.
// Handles are 1 to 2^31 - 1.
// Threads: none; one owner.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/base/check.h"
#include "server/engine/slab.h"

namespace anteroom {

// All zero: not in a wheel. Only the wheel writes it.
struct WheelLink {
  uint32_t next = 0;
  uint32_t prev = 0;
};

// Invariant: each entry is in the list of the slot that its key leads to; a list has at most
// kListMax entries, or entries of one key only; a wheel but the anchor has at least two slots in
// use; next_due_ms_ is the earliest deadline unless it is kUnknown.
class TimingWheel {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  // Later deadlines are taken for this one.
  static constexpr int64_t kDeadlineMsMax = (int64_t{1} << 62) - 1;
  static constexpr uint32_t kListMax = 16;

  TimingWheel() : anchor_(wheels_.Allocate()) {}
  TimingWheel(const TimingWheel&) = delete;
  TimingWheel& operator=(const TimingWheel&) = delete;

  // The entry must not be in a wheel.
  template <typename Owner>
  void Add(Owner& owner, uint32_t handle);

  // The entry must be in this wheel.
  template <typename Owner>
  void Remove(Owner& owner, uint32_t handle);

  // Whether the entry is in a wheel.
  template <typename Owner>
  static bool Contains(Owner& owner, uint32_t handle) {
    return owner.LinkOf(handle).next != 0;
  }

  // The earliest deadline; kNever if there is none.
  template <typename Owner>
  int64_t NextDue(Owner& owner) const;

  // Takes out at most `max` entries with deadline <= now_ms, appends them to *out, and returns how
  // many. Fewer than `max` means that no more are due.
  template <typename Owner>
  size_t PopDue(Owner& owner, int64_t now_ms, size_t max, std::vector<uint32_t>* out);

  size_t size() const { return size_; }
  size_t bytes() const { return wheels_.bytes(); }

  // Visits every entry.
  template <typename Owner>
  void check_invariants(Owner& owner) const;

 private:
  // Deadline and sequence as one number. Each level of wheels takes six bits of it.
  __extension__ using Key = unsigned __int128;
  static constexpr int kSequenceBits = 60;
  static constexpr int kDigitBits = 6;
  static constexpr uint32_t kSlots = 1 << kDigitBits;
  static constexpr int64_t kUnknown = -1;

  // A place for a list or a finer wheel: wheel number and slot.
  using SlotRef = uint32_t;
  // A link with this bit leads out of the list: `prev` to the list's slot, `next` to its end.
  static constexpr uint32_t kOut = uint32_t{1} << 31;
  static constexpr uint32_t kEnd = UINT32_MAX;
  // The length of a list whose entries all have one key; it may be any.
  static constexpr uint8_t kOneKey = UINT8_MAX;

  struct Wheel {
    uint64_t occupied;  // slots in use
    uint64_t finer;     // of these, slots that have a finer wheel
    uint64_t start_high;
    uint64_t start_low;  // the first key that belongs here
    SlotRef parent;
    int32_t shift;             // a key's slot is its six bits from here
    uint32_t content[kSlots];  // the list's first entry, or the number of the finer wheel
    uint8_t length[kSlots];    // of a list, at most; or kOneKey

    Key start() const { return static_cast<Key>(start_high) << 64 | start_low; }
    bool Covers(Key key) const { return (key ^ start()) >> (shift + kDigitBits) == 0; }
    uint32_t SlotOf(Key key) const { return static_cast<uint32_t>(key >> shift) % kSlots; }
  };

  static uint64_t Bit(uint32_t slot) { return uint64_t{1} << slot; }
  static SlotRef RefOf(uint32_t wheel, uint32_t slot) { return wheel << kDigitBits | slot; }
  static int64_t DeadlineOfKey(Key key) { return static_cast<int64_t>(key >> kSequenceBits); }

  template <typename Owner>
  static Key KeyOf(Owner& owner, uint32_t handle);
  template <typename Owner>
  void Push(Owner& owner, SlotRef ref, uint32_t handle);
  template <typename Owner>
  SlotRef Refine(Owner& owner, SlotRef ref, Key key);
  template <typename Owner>
  void Unlink(Owner& owner, uint32_t handle);
  template <typename Owner>
  void Vacate(Owner& owner, SlotRef ref);
  template <typename Owner>
  size_t CheckList(Owner& owner, SlotRef ref, std::vector<Key>* keys) const;

  // The first list in order; the wheel is not empty.
  SlotRef FirstList() const;
  // Puts a new wheel at `ref`, on the level of the highest bit of `difference` and around `key`.
  uint32_t NewWheel(SlotRef ref, Key key, Key difference);
  // Puts the wheel `finer` into the slot of `above` that it belongs to.
  void PutFiner(uint32_t above, uint32_t finer);

  Slab<Wheel, 1024> wheels_;
  uint32_t anchor_;  // a wheel of which only slot 0 is used: it covers everything
  size_t size_ = 0;
  mutable int64_t next_due_ms_ = kNever;
};

template <typename Owner>
TimingWheel::Key TimingWheel::KeyOf(Owner& owner, uint32_t handle) {
  const int64_t deadline_ms = owner.DeadlineOf(handle);
  const uint64_t sequence = owner.SequenceOf(handle);
  CHECK(deadline_ms >= 0 && sequence >> kSequenceBits == 0);
  return static_cast<Key>(deadline_ms < kDeadlineMsMax ? deadline_ms : kDeadlineMsMax)
             << kSequenceBits |
         sequence;
}

template <typename Owner>
void TimingWheel::Add(Owner& owner, uint32_t handle) {
  CHECK(handle != kNoHandle && handle < kOut);
  CHECK(!Contains(owner, handle));
  const Key key = KeyOf(owner, handle);
  SlotRef ref = RefOf(anchor_, 0);
  for (;;) {
    const Wheel& wheel = wheels_[ref / kSlots];
    const uint32_t slot = ref % kSlots;
    if ((wheel.finer & Bit(slot)) != 0) {
      uint32_t below = wheel.content[slot];
      if (!wheels_[below].Covers(key)) {
        const uint32_t between = NewWheel(ref, key, key ^ wheels_[below].start());
        PutFiner(between, below);
        below = between;
      }
      ref = RefOf(below, wheels_[below].SlotOf(key));
    } else if (wheel.length[slot] >= kListMax) {
      const SlotRef refined = Refine(owner, ref, key);
      if (refined == ref) break;
      ref = refined;
    } else {
      break;
    }
  }
  Push(owner, ref, handle);
  ++size_;
  const int64_t deadline_ms = DeadlineOfKey(key);
  if (next_due_ms_ != kUnknown && deadline_ms < next_due_ms_) next_due_ms_ = deadline_ms;
}

template <typename Owner>
void TimingWheel::Push(Owner& owner, SlotRef ref, uint32_t handle) {
  Wheel& wheel = wheels_[ref / kSlots];
  const uint32_t slot = ref % kSlots;
  WheelLink& link = owner.LinkOf(handle);
  link.prev = kOut | ref;
  if ((wheel.occupied & Bit(slot)) != 0) {
    link.next = wheel.content[slot];
    owner.LinkOf(link.next).prev = handle;
  } else {
    link.next = kEnd;
    wheel.occupied |= Bit(slot);
  }
  wheel.content[slot] = handle;
  if (wheel.length[slot] != kOneKey) ++wheel.length[slot];
}

// Makes room in a list that seems full for an entry with `key`; returns where that entry belongs
// now: `ref` itself when the list was shorter than thought or has this one key, else a slot of the
// new wheel that the list's entries have gone to.
template <typename Owner>
TimingWheel::SlotRef TimingWheel::Refine(Owner& owner, SlotRef ref, Key key) {
  Wheel& wheel = wheels_[ref / kSlots];
  const uint32_t slot = ref % kSlots;
  const uint32_t first = wheel.content[slot];
  if (wheel.length[slot] == kOneKey) {
    const Key list_key = KeyOf(owner, first);
    if (list_key == key) return ref;
    Wheel& finer = wheels_[NewWheel(ref, key, key ^ list_key)];
    const uint32_t list_slot = finer.SlotOf(list_key);
    finer.occupied |= Bit(list_slot);
    finer.content[list_slot] = first;
    finer.length[list_slot] = kOneKey;
    owner.LinkOf(first).prev = kOut | RefOf(wheel.content[slot], list_slot);
    return RefOf(wheel.content[slot], finer.SlotOf(key));
  }

  uint32_t handles[kListMax];
  Key keys[kListMax];
  uint32_t count = 0;
  Key difference = 0;
  for (uint32_t handle = first; handle != kEnd; handle = owner.LinkOf(handle).next) {
    keys[count] = KeyOf(owner, handle);
    difference |= keys[count] ^ key;
    handles[count++] = handle;
  }
  if (count < kListMax) {
    wheel.length[slot] = static_cast<uint8_t>(count);
    return ref;
  }
  if (difference == 0) {
    wheel.length[slot] = kOneKey;
    return ref;
  }
  const uint32_t finer = NewWheel(ref, key, difference);
  for (uint32_t i = 0; i < count; ++i) {
    Push(owner, RefOf(finer, wheels_[finer].SlotOf(keys[i])), handles[i]);
  }
  return RefOf(finer, wheels_[finer].SlotOf(key));
}

template <typename Owner>
void TimingWheel::Remove(Owner& owner, uint32_t handle) {
  CHECK(Contains(owner, handle));
  if (DeadlineOfKey(KeyOf(owner, handle)) <= next_due_ms_) next_due_ms_ = kUnknown;
  Unlink(owner, handle);
}

template <typename Owner>
void TimingWheel::Unlink(Owner& owner, uint32_t handle) {
  WheelLink& link = owner.LinkOf(handle);
  if (link.next != kEnd) owner.LinkOf(link.next).prev = link.prev;
  if ((link.prev & kOut) == 0) {
    owner.LinkOf(link.prev).next = link.next;
  } else {
    const SlotRef ref = link.prev & ~kOut;
    if (link.next != kEnd) {
      wheels_[ref / kSlots].content[ref % kSlots] = link.next;
    } else {
      Vacate(owner, ref);
    }
  }
  link = {};
  if (--size_ == 0) next_due_ms_ = kNever;
}

// The slot's list has become empty. Wheels that are of no more use go with it.
template <typename Owner>
void TimingWheel::Vacate(Owner& owner, SlotRef ref) {
  const uint32_t number = ref / kSlots;
  Wheel& wheel = wheels_[number];
  wheel.occupied &= ~Bit(ref % kSlots);
  wheel.content[ref % kSlots] = 0;
  wheel.length[ref % kSlots] = 0;
  if (number == anchor_ || !std::has_single_bit(wheel.occupied)) return;
  // One slot is left: what is there moves up to where this wheel was.
  const uint32_t slot = static_cast<uint32_t>(std::countr_zero(wheel.occupied));
  const uint32_t content = wheel.content[slot];
  const SlotRef parent = wheel.parent;
  Wheel& above = wheels_[parent / kSlots];
  above.content[parent % kSlots] = content;
  if ((wheel.finer & Bit(slot)) != 0) {
    wheels_[content].parent = parent;
  } else {
    above.finer &= ~Bit(parent % kSlots);
    above.length[parent % kSlots] = wheel.length[slot];
    owner.LinkOf(content).prev = kOut | parent;
  }
  wheels_.Free(number);
}

template <typename Owner>
int64_t TimingWheel::NextDue(Owner& owner) const {
  if (next_due_ms_ != kUnknown) return next_due_ms_;
  const SlotRef ref = FirstList();
  const Wheel& wheel = wheels_[ref / kSlots];
  const uint32_t first = wheel.content[ref % kSlots];
  Key earliest = KeyOf(owner, first);
  if (wheel.length[ref % kSlots] != kOneKey) {
    for (uint32_t handle = first; handle != kEnd; handle = owner.LinkOf(handle).next) {
      const Key key = KeyOf(owner, handle);
      if (key < earliest) earliest = key;
    }
  }
  next_due_ms_ = DeadlineOfKey(earliest);
  return next_due_ms_;
}

template <typename Owner>
size_t TimingWheel::PopDue(Owner& owner, int64_t now_ms, size_t max, std::vector<uint32_t>* out) {
  struct Entry {
    Key key;
    uint32_t handle;
  };
  size_t popped = 0;
  while (popped < max && size_ > 0 && next_due_ms_ <= now_ms) {
    const SlotRef ref = FirstList();
    const Wheel& wheel = wheels_[ref / kSlots];
    const bool one_key = wheel.length[ref % kSlots] == kOneKey;
    // The list in order, by insertion; of equal entries, as many as are wanted.
    Entry entries[kListMax];
    uint32_t count = 0;
    for (uint32_t handle = wheel.content[ref % kSlots]; handle != kEnd;
         handle = owner.LinkOf(handle).next) {
      const Key key = KeyOf(owner, handle);
      uint32_t at = count++;
      for (; at > 0 && key < entries[at - 1].key; --at) entries[at] = entries[at - 1];
      entries[at] = {key, handle};
      if (one_key && count == kListMax) break;
    }
    uint32_t taken = 0;
    while (taken < count && popped < max && DeadlineOfKey(entries[taken].key) <= now_ms) {
      Unlink(owner, entries[taken].handle);
      out->push_back(entries[taken].handle);
      ++taken;
      ++popped;
    }
    if (size_ == 0) break;
    next_due_ms_ = taken < count ? DeadlineOfKey(entries[taken].key) : kUnknown;
  }
  return popped;
}

template <typename Owner>
void TimingWheel::check_invariants(Owner& owner) const {
  wheels_.check_invariants();
  size_t entries = 0;
  uint32_t wheels = 0;
  Key earliest = ~Key{0};
  std::vector<uint32_t> to_visit = {anchor_};
  while (!to_visit.empty()) {
    const uint32_t number = to_visit.back();
    to_visit.pop_back();
    ++wheels;
    const Wheel& wheel = wheels_[number];
    CHECK_EQ(wheel.finer & ~wheel.occupied, 0u);
    if (number == anchor_) {
      CHECK_EQ(wheel.occupied & ~uint64_t{1}, 0u);
    } else {
      CHECK_GE(std::popcount(wheel.occupied), 2);
      CHECK_EQ(wheel.shift % kDigitBits, 0);
    }
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      if ((wheel.occupied & Bit(slot)) == 0) {
        CHECK_EQ(wheel.content[slot], 0u);
        CHECK_EQ(wheel.length[slot], 0);
        continue;
      }
      std::vector<Key> keys;
      if ((wheel.finer & Bit(slot)) != 0) {
        const Wheel& below = wheels_[wheel.content[slot]];
        CHECK_EQ(below.parent, RefOf(number, slot));
        CHECK(number == anchor_ || below.shift < wheel.shift);
        keys.push_back(below.start());
        to_visit.push_back(wheel.content[slot]);
      } else {
        entries += CheckList(owner, RefOf(number, slot), &keys);
        for (const Key key : keys) earliest = key < earliest ? key : earliest;
      }
      for (const Key key : keys) {
        CHECK(number == anchor_ || (wheel.Covers(key) && wheel.SlotOf(key) == slot));
      }
    }
  }
  CHECK_EQ(entries, size_);
  CHECK_EQ(wheels, wheels_.size());
  if (size_ == 0) CHECK_EQ(next_due_ms_, kNever);
  if (next_due_ms_ != kUnknown && size_ != 0) CHECK_EQ(next_due_ms_, DeadlineOfKey(earliest));
}

// Checks one list's links and length; appends its entries' keys and returns their number.
template <typename Owner>
size_t TimingWheel::CheckList(Owner& owner, SlotRef ref, std::vector<Key>* keys) const {
  const Wheel& wheel = wheels_[ref / kSlots];
  const uint8_t length = wheel.length[ref % kSlots];
  size_t count = 0;
  uint32_t prev = kOut | ref;
  for (uint32_t handle = wheel.content[ref % kSlots]; handle != kEnd;) {
    const WheelLink& link = owner.LinkOf(handle);
    CHECK_EQ(link.prev, prev);
    keys->push_back(KeyOf(owner, handle));
    if (length == kOneKey) CHECK(keys->back() == keys->front());
    ++count;
    prev = handle;
    handle = link.next;
  }
  CHECK_GT(count, 0u);
  if (length != kOneKey) {
    CHECK_LE(count, length);
    CHECK_LE(length, kListMax);
  }
  return count;
}

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_TIMING_WHEEL_H_
