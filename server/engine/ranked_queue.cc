#include "server/engine/ranked_queue.h"

#include <algorithm>

namespace anteroom {

uint32_t RankedQueue::At(uint64_t rank, QueuePlace* place) const {
  if (rank >= size_) {
    if (place != nullptr) *place = kNoPlace;
    return kNoHandle;
  }
  uint32_t node = head_;
  for (uint32_t level = levels_; level-- > 0;) {
    for (uint32_t next; (next = pool_->next(node, level)) != 0; node = next) {
      const uint32_t span = pool_->SpanInto(next, level);
      if (rank < span) break;
      rank -= span;
    }
  }
  const uint32_t slot = pool_->bits(node).Select(static_cast<uint32_t>(rank));
  if (place != nullptr) *place = QueuePlace::Of(node, slot);
  return pool_->handles(node)[slot];
}

QueuePlace RankedQueue::Next(QueuePlace place) const {
  const uint32_t slot = pool_->bits(place.node()).NextSet(place.slot() + 1);
  if (slot != kSlotsMax) return QueuePlace::Of(place.node(), slot);
  return StartOf(pool_->next(place.node(), 0));
}

void RankedQueue::Open() {
  head_ = tail_ = pool_->AllocateNode(RankedQueuePool::kHeightMax, QueueKey{});
}

// The height of a node that is appended behind `node`: one above the levels that have a full run.
uint32_t RankedQueue::HeightAfter(uint32_t node) const {
  for (uint32_t height = 1; height < RankedQueuePool::kHeightMax; ++height) {
    uint32_t run = 0;
    for (; node != head_ && pool_->meta(node).height == height; node = pool_->climb(node).back) {
      ++run;
    }
    if (run < kRun) return height;
  }
  return RankedQueuePool::kHeightMax;
}

// A new node without elements after `node`, with the least block.
uint32_t RankedQueue::AddNodeAfter(uint32_t node, QueueKey key, uint32_t height) {
  const uint32_t added = pool_->AllocateNode(height, key);
  pool_->GrowBlock(added, 1);
  LinkAfter(node, added);
  return added;
}

// Links `added` in right behind the elements of `node`; spans are counted as if it were empty.
void RankedQueue::LinkAfter(uint32_t node, uint32_t added) {
  const uint32_t height = pool_->meta(added).height;
  uint32_t before = node;
  uint32_t offset = LiveIn(node);
  for (uint32_t level = 0; level < height; ++level) {
    while (pool_->meta(before).height <= level) {
      const RankedQueuePool::Climb step = pool_->climb(before);
      offset += step.span;
      before = step.back;
    }
    RankedQueuePool::Link& from = pool_->link(before, level);
    const uint32_t next = from.next;
    from.next = added;
    pool_->link(added, level).next = next;
    pool_->SpanInto(added, level) = offset;
    if (next == 0) continue;
    pool_->SpanInto(next, level) -= offset;
    if (level + 1 == pool_->meta(next).height) pool_->climb(next).back = added;
  }
  pool_->climb(added).back = before;
  levels_ = std::max(levels_, height);
  if (tail_ == node) tail_ = added;
}

// Takes a node out of all its levels, and returns the node before it. Spans are left as if its
// elements, if it has any, stood in the node before.
uint32_t RankedQueue::Unlink(uint32_t node) {
  uint32_t before = pool_->climb(node).back;
  for (uint32_t level = pool_->meta(node).height; level-- > 0;) {
    while (pool_->next(before, level) != node) before = pool_->next(before, level);
    const uint32_t next = pool_->next(node, level);
    pool_->link(before, level).next = next;
    if (next == 0) continue;
    pool_->SpanInto(next, level) += pool_->SpanInto(node, level);
    if (level + 1 == pool_->meta(next).height) pool_->climb(next).back = before;
  }
  if (tail_ == node) tail_ = before;
  return before;
}

// Frees a node, whose elements have gone.
void RankedQueue::DropNode(uint32_t node) {
  const uint32_t height = pool_->meta(node).height;
  const uint32_t next = pool_->next(node, 0);
  const uint32_t before = Unlink(node);
  if (hint_ == node) hint_ = 0;
  pool_->FreeNode(node);
  if (size_ == 0) {
    pool_->FreeNode(head_);
    head_ = tail_ = hint_ = levels_ = 0;
  } else if (before != head_ && next != 0 && pool_->meta(next).height < height) {
    // The head has every height: what follows it needs none.
    Unlink(next);
    pool_->SetHeight(next, height);
    LinkAfter(before, next);
  }
}

// Counts elements that came to `node` or left it in all spans that pass over it.
void RankedQueue::AddToSpans(uint32_t node, int delta) {
  if (node == tail_) return;
  uint32_t before = node;
  for (uint32_t level = 0; level < levels_; ++level) {
    while (pool_->meta(before).height <= level) before = pool_->climb(before).back;
    const uint32_t next = pool_->next(before, level);
    if (next != 0) pool_->SpanInto(next, level) += static_cast<uint32_t>(delta);
  }
}

// The last node whose key is at most `key`, or the head.
uint32_t RankedQueue::LastNodeNotAbove(QueueKey key) const {
  uint32_t node = head_;
  for (uint32_t level = levels_; level-- > 0;) {
    for (uint32_t next; (next = pool_->next(node, level)) != 0; node = next) {
      if (key < pool_->key(next)) break;
    }
  }
  return node;
}

bool RankedQueue::CanMergeNext(uint32_t node) const {
  const uint32_t next = pool_->next(node, 0);
  return next != 0 && LiveIn(node) + LiveIn(next) <= kMergeLiveMax &&
         pool_->key(node).major == pool_->key(next).major;
}

uint32_t RankedQueue::Gather(uint32_t node, uint32_t* handles) const {
  const SlotBitmap& bits = pool_->bits(node);
  const uint32_t* from = pool_->handles(node);
  uint32_t count = 0;
  for (uint32_t slot = bits.NextSet(0); slot != kSlotsMax; slot = bits.NextSet(slot + 1)) {
    handles[count++] = from[slot];
  }
  return count;
}

void RankedQueue::CheckNodes() const {
  if (head_ == 0) {
    CHECK_EQ(size_, 0u);
    CHECK_EQ(tail_, 0u);
    CHECK_EQ(hint_, 0u);
    return;
  }
  CHECK_GT(size_, 0u);
  CHECK_EQ(LiveIn(head_), 0u);
  CHECK_EQ(pool_->climb(head_).back, 0u);
  CHECK_EQ(pool_->climb(head_).span, 0u);

  // Where the node before on each level starts.
  uint32_t before[RankedQueuePool::kHeightMax];
  uint64_t start[RankedQueuePool::kHeightMax] = {};
  std::fill(std::begin(before), std::end(before), head_);
  uint64_t rank = 0;
  uint32_t last = head_;
  bool hint_seen = hint_ == 0;
  for (uint32_t node = pool_->next(head_, 0); node != 0; node = pool_->next(node, 0)) {
    const RankedQueuePool::Meta& meta = pool_->meta(node);
    CHECK_GT(meta.live, 0);
    CHECK_EQ(pool_->bits(node).Count(), meta.live);
    CHECK_LE(meta.used, pool_->capacity(node));
    CHECK_LT(pool_->bits(node).PreviousSet(kSlotsMax), meta.used);
    CHECK_GE(meta.height, 1);
    CHECK_LE(meta.height, levels_);
    for (uint32_t level = 0; level < meta.height; ++level) {
      CHECK_EQ(pool_->next(before[level], level), node);
      CHECK_EQ(pool_->SpanInto(node, level), rank - start[level]);
      if (level + 1 == meta.height) CHECK_EQ(pool_->climb(node).back, before[level]);
      before[level] = node;
      start[level] = rank;
    }
    if (node == hint_) hint_seen = true;
    rank += meta.live;
    last = node;
  }
  for (uint32_t level = 0; level < levels_; ++level)
    CHECK_EQ(pool_->next(before[level], level), 0u);
  CHECK_EQ(rank, size_);
  CHECK_EQ(last, tail_);
  CHECK(hint_seen);
}

}  // namespace anteroom
