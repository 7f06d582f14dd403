#ifndef ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_ELEMENTS_H_
#define ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_ELEMENTS_H_

// The part of RankedQueue that works on the elements within nodes and talks to their owner.
// Included by ranked_queue.h alone.

#include <algorithm>
#include <cstdint>

#include "server/base/canary.h"
#include "server/engine/ranked_queue.h"

namespace anteroom {

template <typename Owner>
QueuePlace RankedQueue::Insert(Owner& owner, uint32_t handle, QueueKey key) {
  DCHECK(handle != kNoHandle);
  if (head_ == 0) Open();
  ++size_;
  if (size_ == 1 || bound_ < key) {
    bound_ = key;
    if (tail_ == head_ || pool_->key(tail_).major != key.major) {
      AddNodeAfter(tail_, key, pool_->NextHeight());
    }
    return Append(owner, tail_, handle, key);
  }

  uint32_t node = hint_;
  if (node == 0 || key < pool_->key(node) ||
      (pool_->next(node, 0) != 0 && !(key < pool_->key(pool_->next(node, 0))))) {
    node = LastNodeNotAbove(key);
  }
  const uint32_t next = pool_->next(node, 0);
  const bool next_in_lane = next != 0 && pool_->key(next).major == key.major;
  QueuePlace place;
  if (node == head_ || pool_->key(node).major != key.major) {
    // The first of its lane, so far.
    if (next_in_lane) {
      pool_->key(next) = key;
      node = next;
      place = InsertWithin(owner, node, handle, key);
    } else {
      node = AddNodeAfter(node, key, pool_->NextHeight());
      place = Append(owner, node, handle, key);
    }
  } else if (!next_in_lane && owner.KeyOf(LastHandle(node)) < key) {
    place = Append(owner, node, handle, key);
  } else {
    place = InsertWithin(owner, node, handle, key);
  }
  hint_ = place.node();
  return place;
}

template <typename Owner>
void RankedQueue::Remove(Owner& owner, QueuePlace place) {
  const uint32_t node = place.node();
  RankedQueuePool::Meta& meta = pool_->meta(node);
  SlotBitmap& bits = pool_->bits(node);
  CHECK(bits.Test(place.slot()));
  bits.Clear(place.slot());
  --meta.live;
  --size_;
  if (!ANTEROOM_CANARY(kRankOffAfterRemoval)) AddToSpans(node, -1);
  if (meta.live == 0) {
    DropNode(node);
    return;
  }
  if (CanMergeNext(node)) {
    MergeNext(owner, node);
  } else if (meta.height == 1) {
    // The node before is known only from the lowest level; other nodes wait for their neighbours.
    const uint32_t before = pool_->climb(node).back;
    if (before != head_ && CanMergeNext(before)) MergeNext(owner, before);
  }
}

// Puts an element into a free slot, and counts it.
template <typename Owner>
QueuePlace RankedQueue::Put(Owner& owner, uint32_t node, uint32_t slot, uint32_t handle) {
  RankedQueuePool::Meta& meta = pool_->meta(node);
  pool_->handles(node)[slot] = handle;
  pool_->bits(node).Set(slot);
  ++meta.live;
  meta.used = std::max<uint16_t>(meta.used, static_cast<uint16_t>(slot + 1));
  AddToSpans(node, 1);
  const QueuePlace place = QueuePlace::Of(node, slot);
  owner.SetPlace(handle, place);
  return place;
}

// Puts an element behind all others of a node that ends its lane.
template <typename Owner>
QueuePlace RankedQueue::Append(Owner& owner, uint32_t node, uint32_t handle, QueueKey key) {
  if (pool_->meta(node).used == pool_->capacity(node)) {
    if (LiveIn(node) * 2 <= pool_->capacity(node) && LiveIn(node) != 0) {
      // Half of the slots are holes: as many appends have paid for the moves.
      uint32_t handles[kSlotsMax];
      const uint32_t count = Gather(node, handles);
      Arrange(owner, node, handles, count, count);
    } else if (pool_->capacity(node) < kSlotsMax) {
      pool_->GrowBlock(node, pool_->capacity(node) + 1);
    } else {
      node = AddNodeAfter(node, key, HeightAfter(node));
      pool_->GrowBlock(node, kSlotsMax);
    }
  }
  return Put(owner, node, pool_->meta(node).used, handle);
}

// Puts an element among those of a node, by its key, which is not below the node's.
template <typename Owner>
QueuePlace RankedQueue::InsertWithin(Owner& owner, uint32_t node, uint32_t handle, QueueKey key) {
  if (LiveIn(node) == pool_->capacity(node)) {
    if (pool_->capacity(node) < kSlotsMax) {
      pool_->GrowBlock(node, pool_->capacity(node) + 1);
    } else {
      Split(owner, node);
      const uint32_t upper = pool_->next(node, 0);
      if (!(key < pool_->key(upper))) node = upper;
    }
  }
  const uint32_t slot = OpenSlot(owner, node, FirstAbove(owner, node, key));
  return Put(owner, node, slot, handle);
}

// The slot of the node's first element above `key`, or `used` when there is none.
template <typename Owner>
uint32_t RankedQueue::FirstAbove(Owner& owner, uint32_t node, QueueKey key) const {
  const SlotBitmap& bits = pool_->bits(node);
  const uint32_t* handles = pool_->handles(node);
  uint32_t low = 0;
  uint32_t high = LiveIn(node);
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (key < owner.KeyOf(handles[bits.Select(middle)])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == LiveIn(node) ? pool_->meta(node).used : bits.Select(low);
}

// Makes a free slot right before the element at `slot` (or behind all, when that is `used`), and
// after the element before it. The node is not full.
template <typename Owner>
uint32_t RankedQueue::OpenSlot(Owner& owner, uint32_t node, uint32_t slot) {
  SlotBitmap& bits = pool_->bits(node);
  const uint32_t capacity = pool_->capacity(node);
  if (slot < capacity && !bits.Test(slot)) return slot;
  if (slot > 0 && !bits.Test(slot - 1)) return slot - 1;

  const uint32_t left = bits.PreviousClear(slot);
  const uint32_t right = std::min(bits.NextClear(slot), capacity);
  const uint32_t left_moves = left == SlotBitmap::kSlots ? kSlotsMax : slot - 1 - left;
  const uint32_t right_moves = right == capacity ? kSlotsMax : right - slot;
  // At three quarters full or less, a hole is at most a few slots away after the spreading.
  if (std::min(left_moves, right_moves) > kShiftMax && LiveIn(node) * 4 <= capacity * 3) {
    const uint32_t before = bits.CountBelow(slot % kSlotsMax) + (slot == kSlotsMax) * LiveIn(node);
    Spread(owner, node, capacity);
    return OpenSlot(owner, node,
                    before == LiveIn(node) ? pool_->meta(node).used : bits.Select(before));
  }

  uint32_t* handles = pool_->handles(node);
  RankedQueuePool::Meta& meta = pool_->meta(node);
  if (left_moves <= right_moves) {
    for (uint32_t to = left; to + 1 < slot; ++to) {
      handles[to] = handles[to + 1];
      owner.SetPlace(handles[to], QueuePlace::Of(node, to));
    }
    bits.Set(left);
    bits.Clear(slot - 1);
    return slot - 1;
  }
  for (uint32_t to = right; to > slot; --to) {
    handles[to] = handles[to - 1];
    owner.SetPlace(handles[to], QueuePlace::Of(node, to));
  }
  bits.Set(right);
  bits.Clear(slot);
  meta.used = std::max<uint16_t>(meta.used, static_cast<uint16_t>(right + 1));
  return slot;
}

// Lays `count` handles out over the node's first `slots` slots, evenly; the node holds nothing else
// afterwards. Spans are the caller's.
template <typename Owner>
void RankedQueue::Arrange(Owner& owner, uint32_t node, const uint32_t* handles, uint32_t count,
                          uint32_t slots) {
  RankedQueuePool::Meta& meta = pool_->meta(node);
  SlotBitmap& bits = pool_->bits(node);
  uint32_t* to = pool_->handles(node);
  for (uint32_t i = 0; i < count; ++i) owner.Prefetch(handles[i]);
  bits.ClearAll();
  meta.live = static_cast<uint16_t>(count);
  meta.used = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = i * slots / count;
    to[slot] = handles[i];
    bits.Set(slot);
    meta.used = static_cast<uint16_t>(slot + 1);
    owner.SetPlace(handles[i], QueuePlace::Of(node, slot));
  }
}

template <typename Owner>
void RankedQueue::Spread(Owner& owner, uint32_t node, uint32_t slots) {
  uint32_t handles[kSlotsMax];
  const uint32_t count = Gather(node, handles);
  Arrange(owner, node, handles, count, slots);
}

// Moves the upper half of a full node to a new one after it, and leaves gaps in both.
template <typename Owner>
void RankedQueue::Split(Owner& owner, uint32_t node) {
  uint32_t handles[kSlotsMax];
  const uint32_t count = Gather(node, handles);
  const uint32_t lower = count / 2;
  const uint32_t upper_node = pool_->AllocateNode(pool_->NextHeight(), owner.KeyOf(handles[lower]));
  pool_->GrowBlock(upper_node, kSlotsMax);
  Arrange(owner, node, handles, lower, kSlotsMax);
  LinkAfter(node, upper_node);
  Arrange(owner, upper_node, handles + lower, count - lower, kSlotsMax);
}

// Takes the elements of the next node into this one, and drops it.
template <typename Owner>
void RankedQueue::MergeNext(Owner& owner, uint32_t node) {
  const uint32_t next = pool_->next(node, 0);
  uint32_t handles[kSlotsMax];
  uint32_t kept = 0;
  const uint32_t live = LiveIn(node) + LiveIn(next);
  if (pool_->meta(node).used + LiveIn(next) > pool_->capacity(node)) {
    pool_->GrowBlock(node, live);
    kept = Gather(node, handles);
  }
  const uint32_t count = kept + Gather(next, handles + kept);
  if (kept != 0) {
    Arrange(owner, node, handles, count, count);
  } else {
    RankedQueuePool::Meta& meta = pool_->meta(node);
    SlotBitmap& bits = pool_->bits(node);
    uint32_t* to = pool_->handles(node);
    for (uint32_t i = 0; i < count; ++i) owner.Prefetch(handles[i]);
    for (uint32_t i = 0; i < count; ++i) {
      to[meta.used] = handles[i];
      bits.Set(meta.used);
      owner.SetPlace(handles[i], QueuePlace::Of(node, meta.used));
      ++meta.used;
    }
    meta.live = static_cast<uint16_t>(live);
  }
  DropNode(next);
}

template <typename Owner>
void RankedQueue::check_invariants(const Owner& owner) const {
  CheckNodes();
  if (head_ == 0) return;
  QueueKey last;
  bool any = false;
  for (uint32_t node = pool_->next(head_, 0); node != 0; node = pool_->next(node, 0)) {
    const QueueKey lower_bound = pool_->key(node);
    if (any) CHECK(last < lower_bound);
    const SlotBitmap& bits = pool_->bits(node);
    for (uint32_t slot = bits.NextSet(0); slot != kSlotsMax; slot = bits.NextSet(slot + 1)) {
      const QueueKey key = owner.KeyOf(pool_->handles(node)[slot]);
      CHECK_EQ(key.major, lower_bound.major);
      CHECK(lower_bound <= key);
      CHECK(!any || last < key);
      CHECK(key <= bound_);
      last = key;
      any = true;
    }
  }
}

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_ELEMENTS_H_
