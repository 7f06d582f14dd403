#ifndef ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_POOL_H_
#define ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_POOL_H_

// Node storage for ranked queues (ranked_queue.h), shared by all queues of an engine.
//
// A node's parts stand in separate arrays, so that what is read together lies together: a climb to
// the front of the line reads eight bytes a node, out of a few hundred KiB that a cache holds even
// with ten million in line. The handles themselves stand in blocks of 16, 64 or 256, so that a
// short line is cheap.
//
// Segments are allocated one at a time and never moved; only the climbs, which are read in chains,
// stand in one array that grows. Limit: kNodesMax nodes.
// Threads: none; one owner. Queues must not be used after their pool is gone.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/base/check.h"
#include "server/base/prefetch.h"
#include "server/engine/growing_array.h"
#include "server/engine/slab.h"
#include "server/engine/slot_bitmap.h"

namespace anteroom {

// Keys order a queue, smallest first: by major (the lane), then by minor (the arrival).
struct QueueKey {
  uint64_t major = 0;
  uint64_t minor = 0;
  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

// Where an element stands: 24 bits of node, 8 bits of slot. The caller's entry keeps it.
struct QueuePlace {
  uint32_t value = 0;

  static QueuePlace Of(uint32_t node, uint32_t slot) { return {node << 8 | slot}; }
  uint32_t node() const { return value >> 8; }
  uint32_t slot() const { return value & 255; }
  friend bool operator==(QueuePlace, QueuePlace) = default;
};

// No element stands here: node numbers begin at 1.
inline constexpr QueuePlace kNoPlace{};

// Invariant: a node is given out or on the free list; the links and the block of a node are its own
// until it is freed.
class RankedQueuePool {
 public:
  static constexpr uint32_t kNodesMax = (1u << 24) - 1;
  // Levels of the skip list: with one node in four on each next level, 4^12 nodes.
  static constexpr uint32_t kHeightMax = 12;
  static constexpr uint32_t kSlotsMax = SlotBitmap::kSlots;

  // Towards the front from the node's top level: the nearest node before it that is at least as
  // high, and how many elements stand from that node's start to this one's.
  struct Climb {
    uint32_t back;
    uint32_t span;
  };

  // One level of a node. The span belongs to the link that leads into this node: elements from the
  // start of the node before it on this level to this node's start. (On the top level Climb has
  // it.)
  struct Link {
    uint32_t next;
    uint32_t span;
  };

  struct Meta {
    uint32_t links;  // the first of `height` consecutive links
    uint32_t block;
    uint16_t live;
    uint16_t used;  // all slots from here on are free
    uint8_t height;
    uint8_t block_class;
  };

  // `nodes_max` is for tests.
  explicit RankedQueuePool(uint32_t nodes_max = kNodesMax) : nodes_max_(nodes_max) {}
  RankedQueuePool(const RankedQueuePool&) = delete;
  RankedQueuePool& operator=(const RankedQueuePool&) = delete;

  // Whether `nodes` more can be had. Every Insert takes at most three.
  bool HasRoom(uint64_t nodes) const { return nodes_ + nodes <= nodes_max_; }

  // The rank, from 0, of the element at `place` in its queue: O(log n), no key is looked at.
  uint64_t RankOf(QueuePlace place) const {
    uint64_t rank = bits(place.node()).CountBelow(place.slot());
    for (Climb step = climb(place.node()); step.back != 0; step = climb(step.back)) {
      rank += step.span;
    }
    return rank;
  }

  void PrefetchPlace(QueuePlace place) const {
    PrefetchLine(&bits(place.node()));
    PrefetchLine(&climb(place.node()));
  }

  // Nodes in use, those that head a queue included.
  uint32_t nodes() const { return nodes_; }
  size_t bytes() const;
  // Of the nodes in use, with four links to every three of them, which is what heights come to.
  size_t used_bytes() const;
  void check_invariants() const;

  // What follows is for RankedQueue.

  // A node without elements, of the given height, all its links zero; never 0.
  uint32_t AllocateNode(uint32_t height, QueueKey key);
  void FreeNode(uint32_t node);

  // Gives the node another height; its links are zero afterwards.
  void SetHeight(uint32_t node, uint32_t height);

  // A height, each next one a quarter as likely: a hash of a counter, so the same on every machine.
  uint32_t NextHeight();

  Climb& climb(uint32_t node) { return climbs_[node]; }
  const Climb& climb(uint32_t node) const { return climbs_[node]; }
  Meta& meta(uint32_t node) { return segment(node).meta[node % kSegmentNodes]; }
  const Meta& meta(uint32_t node) const { return segment(node).meta[node % kSegmentNodes]; }
  QueueKey& key(uint32_t node) { return segment(node).key[node % kSegmentNodes]; }
  const QueueKey& key(uint32_t node) const { return segment(node).key[node % kSegmentNodes]; }
  SlotBitmap& bits(uint32_t node) { return segment(node).bits[node % kSegmentNodes]; }
  const SlotBitmap& bits(uint32_t node) const { return segment(node).bits[node % kSegmentNodes]; }

  Link& link(uint32_t node, uint32_t level) {
    const uint32_t at = meta(node).links + level;
    return link_segments_[at / kSegmentLinks][at % kSegmentLinks];
  }
  const Link& link(uint32_t node, uint32_t level) const {
    const uint32_t at = meta(node).links + level;
    return link_segments_[at / kSegmentLinks][at % kSegmentLinks];
  }
  uint32_t next(uint32_t node, uint32_t level) const { return link(node, level).next; }

  uint32_t& SpanInto(uint32_t node, uint32_t level) {
    return level + 1 == meta(node).height ? climb(node).span : link(node, level).span;
  }

  // The handles of a node, capacity(node) of them.
  uint32_t* handles(uint32_t node) { return BlockOf(meta(node)); }
  const uint32_t* handles(uint32_t node) const {
    return const_cast<RankedQueuePool*>(this)->BlockOf(meta(node));
  }
  uint32_t capacity(uint32_t node) const { return ClassSlots(meta(node).block_class); }

  // Gives the node a block for at least `slots` (<= kSlotsMax) handles; what is in it stays where
  // it is. References to handles are void.
  void GrowBlock(uint32_t node, uint32_t slots);

 private:
  static constexpr uint32_t kSegmentNodes = 1024;
  static constexpr uint32_t kSegmentLinks = 4096;
  static constexpr uint8_t kNoBlock = 0;

  struct Segment {
    Meta meta[kSegmentNodes];
    QueueKey key[kSegmentNodes];
    SlotBitmap bits[kSegmentNodes];
  };
  template <uint32_t kSlots>
  struct Block {
    uint32_t handles[kSlots];
  };

  Segment& segment(uint32_t node) { return *segments_[node / kSegmentNodes]; }
  const Segment& segment(uint32_t node) const { return *segments_[node / kSegmentNodes]; }

  // Classes 1, 2, 3 hold 16, 64, 256 handles; class 0 none.
  static uint32_t ClassSlots(uint8_t block_class) {
    return block_class == kNoBlock ? 0 : 4u << 2 * block_class;
  }
  uint32_t* BlockOf(const Meta& meta) {
    switch (meta.block_class) {
      case 1:
        return blocks16_[meta.block].handles;
      case 2:
        return blocks64_[meta.block].handles;
      default:
        return blocks256_[meta.block].handles;
    }
  }
  uint32_t AllocateBlock(uint8_t block_class);
  void FreeBlock(const Meta& meta);
  uint32_t AllocateLinks(uint32_t height);
  void FreeLinks(uint32_t links, uint32_t height);

  const uint32_t nodes_max_;
  GrowingArray<Climb> climbs_;
  std::vector<std::unique_ptr<Segment>> segments_;
  uint32_t nodes_ever_ = 0;
  uint32_t nodes_ = 0;
  uint32_t free_node_ = 0;

  std::vector<std::unique_ptr<Link[]>> link_segments_;
  uint32_t links_end_ = 1;  // links before this one have been given out at some time
  uint32_t free_links_[kHeightMax + 1] = {};

  Slab<Block<16>, 4096> blocks16_;
  Slab<Block<64>, 4096> blocks64_;
  Slab<Block<256>, 4096> blocks256_;

  uint64_t heights_drawn_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_POOL_H_
