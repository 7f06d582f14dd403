#ifndef ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_H_
#define ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_H_

// A line of people, in order of a key: who is first, who is n-th, how many are before a given one.
//
//   RankedQueuePool pool;
//   RankedQueue line(&pool);
//   line.Insert(owner, handle, {lane, arrival});       // owner now knows the place
//   uint64_t ahead = line.Rank(owner.PlaceOf(handle));
//   uint32_t first = line.PopFirst(owner);
//
// A skip list (W. Pugh, "Skip lists: a probabilistic alternative to balanced trees", CACM 1990)
// with spans (W. Pugh, "A skip list cookbook", 1990), and unrolled: a node holds a run of up to 256
// handles with a bitmap of the live ones. A removal clears a bit; a rank is a count of bits and a
// climb to the front that adds spans, without looking at any key; all elements of a node have one
// `major`, so the end of a lane is the end of a node.
//
// Heights: a node appended to a lane gets the height that keeps every fourth node of a level on the
// next level, so that a line of arrivals is a perfect skip list, and a climb takes half the steps
// that random heights would. A node made elsewhere draws its height. When a node goes whose
// neighbour is lower, the neighbour takes over its height, so that no pattern of removals leaves a
// long stretch of low nodes.
//
// Costs, n elements: Rank, At, Remove, PopFirst, and Insert at the end of a lane O(log n); Insert
// at the end of the queue O(1), but for one in 256; Insert elsewhere also moves some tens of
// elements, at most 256. At most 256 elements are moved by any call. Memory: 4.3 bytes an element
// when appended. Two neighbours of one lane that hold 192 together are made one.
//
// Owner is whoever keeps the entries that handles name:
//   QueueKey KeyOf(uint32_t handle) const;              // the key of an element of the queue
//   void SetPlace(uint32_t handle, QueuePlace place);   // where it stands from now on
//   void Prefetch(uint32_t handle) const;               // it will be asked for soon
// SetPlace is called for an element inserted and for every element that has to move; not for one
// removed. Keys are unique within a queue.
//
// Destroying a queue frees nothing: empty it first.
// Threads: none; one owner.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "server/base/check.h"
#include "server/engine/ranked_queue_pool.h"

namespace anteroom {

// Invariant: the nodes on level 0 hold the elements in ascending order; a node is not empty, its
// key is at most its first element's and above all elements before it; a span is the number of
// elements from the start of the node before on that level to the start of this one.
class RankedQueue {
 public:
  explicit RankedQueue(RankedQueuePool* pool) : pool_(pool) {}
  RankedQueue(const RankedQueue&) = delete;
  RankedQueue& operator=(const RankedQueue&) = delete;

  // `handle` is not 0 and not in the queue. The place is also told to the owner.
  template <typename Owner>
  QueuePlace Insert(Owner& owner, uint32_t handle, QueueKey key);

  // An element must stand at `place`.
  template <typename Owner>
  void Remove(Owner& owner, QueuePlace place);

  // Takes out the first element; kNoHandle if there is none.
  template <typename Owner>
  uint32_t PopFirst(Owner& owner) {
    const QueuePlace first = FirstPlace();
    if (first == kNoPlace) return kNoHandle;
    const uint32_t handle = HandleAt(first);
    Remove(owner, first);
    return handle;
  }

  // The first element; kNoHandle if there is none.
  uint32_t First() const {
    const QueuePlace first = FirstPlace();
    return first == kNoPlace ? kNoHandle : HandleAt(first);
  }

  // How many elements stand before the one at `place`.
  uint64_t Rank(QueuePlace place) const { return pool_->RankOf(place); }

  // The element with `rank` before it, and its place; kNoHandle and kNoPlace when rank >= size().
  uint32_t At(uint64_t rank, QueuePlace* place = nullptr) const;

  // The element at `place`, where one must stand.
  uint32_t HandleAt(QueuePlace place) const { return pool_->handles(place.node())[place.slot()]; }

  // Iteration in order; kNoPlace at the end. Inserts and removals void places but those that the
  // owner was told.
  QueuePlace FirstPlace() const { return head_ == 0 ? kNoPlace : StartOf(pool_->next(head_, 0)); }
  QueuePlace Next(QueuePlace place) const;

  void PrefetchPlace(QueuePlace place) const { pool_->PrefetchPlace(place); }

  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Asks the owner for every key.
  template <typename Owner>
  void check_invariants(const Owner& owner) const;

 private:
  static constexpr uint32_t kSlotsMax = RankedQueuePool::kSlotsMax;
  // Neighbours that hold this many together become one. Below the whole, so that a node just made
  // has room, and it takes many removals before its neighbour can join.
  static constexpr uint32_t kMergeLiveMax = kSlotsMax * 3 / 4;
  // Nodes of one height in a row, before the next one appended is higher.
  static constexpr uint32_t kRun = 3;
  // An insert in a node's middle that would shift more elements than this spreads all of them out.
  static constexpr uint32_t kShiftMax = 32;

  QueuePlace StartOf(uint32_t node) const {
    return node == 0 ? kNoPlace : QueuePlace::Of(node, pool_->bits(node).NextSet(0));
  }
  uint32_t LiveIn(uint32_t node) const { return pool_->meta(node).live; }
  uint32_t LastHandle(uint32_t node) const {
    return pool_->handles(node)[pool_->bits(node).PreviousSet(pool_->meta(node).used)];
  }

  // Elements (ranked_queue_elements.h).
  template <typename Owner>
  QueuePlace Put(Owner& owner, uint32_t node, uint32_t slot, uint32_t handle);
  template <typename Owner>
  QueuePlace Append(Owner& owner, uint32_t node, uint32_t handle, QueueKey key);
  template <typename Owner>
  QueuePlace InsertWithin(Owner& owner, uint32_t node, uint32_t handle, QueueKey key);
  template <typename Owner>
  uint32_t FirstAbove(Owner& owner, uint32_t node, QueueKey key) const;
  template <typename Owner>
  uint32_t OpenSlot(Owner& owner, uint32_t node, uint32_t slot);
  template <typename Owner>
  void Arrange(Owner& owner, uint32_t node, const uint32_t* handles, uint32_t count,
               uint32_t slots);
  template <typename Owner>
  void Spread(Owner& owner, uint32_t node, uint32_t slots);
  template <typename Owner>
  void Split(Owner& owner, uint32_t node);
  template <typename Owner>
  void MergeNext(Owner& owner, uint32_t node);
  uint32_t Gather(uint32_t node, uint32_t* handles) const;

  // Nodes (ranked_queue.cc).
  void Open();
  uint32_t HeightAfter(uint32_t node) const;
  uint32_t AddNodeAfter(uint32_t node, QueueKey key, uint32_t height);
  void LinkAfter(uint32_t node, uint32_t added);
  uint32_t Unlink(uint32_t node);
  void DropNode(uint32_t node);
  void AddToSpans(uint32_t node, int delta);
  uint32_t LastNodeNotAbove(QueueKey key) const;
  bool CanMergeNext(uint32_t node) const;
  void CheckNodes() const;

  RankedQueuePool* const pool_;
  uint32_t head_ = 0;  // a node of full height without elements; 0 while the queue is empty
  uint32_t tail_ = 0;  // the last node
  uint32_t hint_ = 0;  // the node of the last insert that was not at the end, or 0
  uint32_t levels_ = 0;
  uint64_t size_ = 0;
  QueueKey bound_;  // at least every element's key, while there are any
};

static_assert(sizeof(RankedQueue) <= 64);

}  // namespace anteroom

#include "server/engine/ranked_queue_elements.h"  // IWYU pragma: export

#endif  // ANTEROOM_SERVER_ENGINE_RANKED_QUEUE_H_
