#include "server/engine/ranked_queue_pool.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace anteroom {

uint32_t RankedQueuePool::AllocateNode(uint32_t height, QueueKey key) {
  uint32_t node = free_node_;
  if (node != 0) {
    free_node_ = climb(node).back;
  } else {
    CHECK_LT(nodes_ever_, nodes_max_);
    node = ++nodes_ever_;
    climbs_.Grow(node + 1);
    if (node / kSegmentNodes >= segments_.size()) {
      segments_.push_back(std::make_unique<Segment>());
    }
  }
  ++nodes_;
  climb(node) = {};
  meta(node) = {.links = AllocateLinks(height),
                .block = 0,
                .live = 0,
                .used = 0,
                .height = static_cast<uint8_t>(height),
                .block_class = kNoBlock};
  this->key(node) = key;
  bits(node).ClearAll();
  return node;
}

void RankedQueuePool::FreeNode(uint32_t node) {
  const Meta& freed = meta(node);
  FreeBlock(freed);
  FreeLinks(freed.links, freed.height);
  climb(node) = {.back = free_node_, .span = 0};
  free_node_ = node;
  --nodes_;
}

void RankedQueuePool::SetHeight(uint32_t node, uint32_t height) {
  Meta& changed = meta(node);
  FreeLinks(changed.links, changed.height);
  changed.links = AllocateLinks(height);
  changed.height = static_cast<uint8_t>(height);
  climb(node) = {};
}

uint32_t RankedQueuePool::NextHeight() {
  // The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
  uint64_t hash = ++heights_drawn_ * 0x9E3779B97F4A7C15;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EB;
  hash ^= hash >> 31;
  return std::min(1 + static_cast<uint32_t>(std::countr_zero(hash)) / 2, kHeightMax);
}

void RankedQueuePool::GrowBlock(uint32_t node, uint32_t slots) {
  CHECK_LE(slots, kSlotsMax);
  uint8_t block_class = 1;
  while (ClassSlots(block_class) < slots) ++block_class;
  Meta& grown = meta(node);
  if (block_class <= grown.block_class) return;
  const Meta before = grown;
  grown.block = AllocateBlock(block_class);
  grown.block_class = block_class;
  if (before.block_class == kNoBlock) return;
  std::memcpy(BlockOf(grown), BlockOf(before), before.used * sizeof(uint32_t));
  FreeBlock(before);
}

uint32_t RankedQueuePool::AllocateBlock(uint8_t block_class) {
  switch (block_class) {
    case 1:
      return blocks16_.Allocate();
    case 2:
      return blocks64_.Allocate();
    default:
      return blocks256_.Allocate();
  }
}

void RankedQueuePool::FreeBlock(const Meta& meta) {
  switch (meta.block_class) {
    case kNoBlock:
      return;
    case 1:
      return blocks16_.Free(meta.block);
    case 2:
      return blocks64_.Free(meta.block);
    default:
      return blocks256_.Free(meta.block);
  }
}

uint32_t RankedQueuePool::AllocateLinks(uint32_t height) {
  uint32_t links = free_links_[height];
  if (links != 0) {
    free_links_[height] = link_segments_[links / kSegmentLinks][links % kSegmentLinks].next;
  } else {
    // A node's links stand in one segment; what is left at a segment's end is given up.
    if (links_end_ % kSegmentLinks + height > kSegmentLinks) {
      links_end_ += kSegmentLinks - links_end_ % kSegmentLinks;
    }
    if (links_end_ / kSegmentLinks >= link_segments_.size()) {
      link_segments_.push_back(std::unique_ptr<Link[]>(new Link[kSegmentLinks]));
    }
    links = links_end_;
    links_end_ += height;
  }
  Link* first = &link_segments_[links / kSegmentLinks][links % kSegmentLinks];
  std::fill(first, first + height, Link{});
  return links;
}

void RankedQueuePool::FreeLinks(uint32_t links, uint32_t height) {
  link_segments_[links / kSegmentLinks][links % kSegmentLinks].next = free_links_[height];
  free_links_[height] = links;
}

size_t RankedQueuePool::bytes() const {
  return size_t{nodes_ever_} * (sizeof(Segment) / kSegmentNodes + sizeof(Climb)) +
         size_t{links_end_} * sizeof(Link) + blocks16_.bytes() + blocks64_.bytes() +
         blocks256_.bytes() + segments_.capacity() * sizeof(segments_[0]) +
         link_segments_.capacity() * sizeof(link_segments_[0]);
}

size_t RankedQueuePool::used_bytes() const {
  return size_t{nodes_} * (sizeof(Segment) / kSegmentNodes + sizeof(Climb)) +
         size_t{nodes_} * 4 / 3 * sizeof(Link) + blocks16_.used_bytes() + blocks64_.used_bytes() +
         blocks256_.used_bytes();
}

void RankedQueuePool::check_invariants() const {
  blocks16_.check_invariants();
  blocks64_.check_invariants();
  blocks256_.check_invariants();
  uint32_t freed = 0;
  for (uint32_t node = free_node_; node != 0; node = climb(node).back) {
    CHECK_LE(node, nodes_ever_);
    CHECK_LE(++freed, nodes_ever_);
  }
  CHECK_EQ(freed + nodes_, nodes_ever_);
}

}  // namespace anteroom
