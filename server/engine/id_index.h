#ifndef ANTEROOM_SERVER_ENGINE_ID_INDEX_H_
#define ANTEROOM_SERVER_ENGINE_ID_INDEX_H_

// The index from (room number, visitor id) to the handle of an entry. It copies no id: the keys
// live in the caller's entries and are asked for through KeyOf.
//
//   IdIndex<VisitorKeys> index(VisitorKeys(&visitors), seed);
//   const uint64_t hash = index.HashOf(room, id);
//   if (index.Find(hash, room, id) == kNoHandle) index.Insert(hash, handle);
//
// Linear hashing (W. Litwin, "Linear hashing: a new tool for file and table addressing", VLDB
// 1980): the table grows by splitting one bucket at a time, and shrinks by merging one, so no call
// is long. A bucket is one cache line of twelve handles with a one-byte tag each, and a link to
// overflow lines of the same form. A find that misses reads one line as a rule; a find that hits
// reads the entry too, since eight bits of the hash are compared before the key is.
//
// The load is kept by memory: a bucket is split when there are more than 7.2 entries per line,
// overflow lines included, which is 8.9 bytes an entry. Splitting has to hash the keys of a bucket
// again; the lines and keys it will read are prefetched during the inserts before.
//
// The seed should be secret where ids come from strangers. Nothing that a caller can see depends on
// it, but for time.
// Threads: none; one owner.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "server/base/check.h"
#include "server/base/prefetch.h"
#include "server/engine/slab.h"

namespace anteroom {

// What KeyOf tells of an entry.
struct IndexKey {
  uint32_t room;
  std::string_view id;
};

// XXH3 of the id, the room mixed into the seed.
uint64_t IndexHash(uint64_t seed, uint32_t room, std::string_view id);

// One cache line of a bucket. Invariant: used slots come first, a used slot's tag is not 0, an
// unused slot is all zero.
struct alignas(64) IndexLine {
  static constexpr uint32_t kSlots = 12;

  uint32_t handles[kSlots];
  uint8_t tags[kSlots];
  uint32_t overflow;  // handle of the next line of this bucket, or 0

  // Bit i is set where tags[i] == tag. Tag 0 finds the free slots.
  uint32_t Match(uint8_t tag) const {
#ifdef __SSE2__
    // The sixteen bytes are the twelve tags and the link.
    const __m128i line = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
    const __m128i same = _mm_cmpeq_epi8(line, _mm_set1_epi8(static_cast<char>(tag)));
    return static_cast<uint32_t>(_mm_movemask_epi8(same)) & ((1u << kSlots) - 1);
#else
    uint32_t mask = 0;
    for (uint32_t i = 0; i < kSlots; ++i) mask |= uint32_t{tags[i] == tag} << i;
    return mask;
#endif
  }

  uint32_t used() const {
    return static_cast<uint32_t>(std::countr_zero(Match(0) | 1u << kSlots));
  }
};
static_assert(sizeof(IndexLine) == 64);

// The buckets: a segmented array of lines that grows and shrinks at its end, and the addressing.
// Invariant: lines [0, size()) are in use, and mask is the least 2^k - 1 that covers them.
class IndexBuckets {
 public:
  IndexBuckets();
  IndexBuckets(const IndexBuckets&) = delete;
  IndexBuckets& operator=(const IndexBuckets&) = delete;
  ~IndexBuckets();

  size_t size() const { return size_; }
  size_t bytes() const;

  size_t BucketOf(uint64_t hash) const {
    const size_t bucket = hash & mask_;
    return bucket < size_ ? bucket : hash & (mask_ >> 1);
  }
  // The bucket that the next AddLast() takes over a half of.
  size_t NextToSplit() const { return size_ - std::bit_floor(size_); }

  IndexLine& operator[](size_t bucket) {
    return segments_[bucket / kSegmentLines][bucket % kSegmentLines];
  }
  const IndexLine& operator[](size_t bucket) const {
    return segments_[bucket / kSegmentLines][bucket % kSegmentLines];
  }

  // Adds an empty line at the end. May move the lines of a small table: references to them are
  // void.
  void AddLast();
  void DropLast();

  void check_invariants() const;

 private:
  static constexpr size_t kSegmentLines = 16384;

  std::vector<IndexLine*> segments_;
  // Lines allocated in the first segment: it alone starts small, and is copied as it grows.
  size_t first_segment_lines_;
  size_t size_ = 1;
  size_t mask_ = 0;
};

// KeyOf is a cheap, copyable functor:
//   IndexKey operator()(uint32_t handle) const;   // the key of a live entry
//   void Prefetch(uint32_t handle) const;         // asks for the memory that holds the key
// While a handle is in the index, its key must not change.
//
// Invariant: every entry stands in the chain of the bucket its hash addresses, with its tag; all
// lines of a chain but the last are full; size() counts the entries.
template <typename KeyOf>
class IdIndex {
 public:
  IdIndex(KeyOf key_of, uint64_t seed) : key_of_(std::move(key_of)), seed_(seed) {}

  uint64_t HashOf(uint32_t room, std::string_view id) const { return IndexHash(seed_, room, id); }

  // The handle with this key, or kNoHandle. `hash` is HashOf(room, id) here and everywhere below.
  uint32_t Find(uint64_t hash, uint32_t room, std::string_view id) const {
    const uint8_t tag = TagOf(hash);
    for (const IndexLine* line = &buckets_[buckets_.BucketOf(hash)];;) {
      for (uint32_t mask = line->Match(tag); mask != 0; mask &= mask - 1) {
        const uint32_t handle = line->handles[std::countr_zero(mask)];
        const IndexKey key = key_of_(handle);
        if (key.room == room && key.id == id) return handle;
      }
      if (line->overflow == kNoHandle) return kNoHandle;
      line = &overflow_[line->overflow];
    }
  }

  // No entry with the same key may be in the index.
  void Insert(uint64_t hash, uint32_t handle) {
    DCHECK(handle != kNoHandle);
    Append(&buckets_[buckets_.BucketOf(hash)], handle, TagOf(hash));
    ++size_;
    if (TooFull()) StepTowardsSplit();
  }

  // Whether `handle` was there.
  bool Erase(uint64_t hash, uint32_t handle) {
    IndexLine* first = &buckets_[buckets_.BucketOf(hash)];
    IndexLine* line;
    uint32_t slot;
    if (!Locate(first, TagOf(hash), handle, &line, &slot)) return false;
    TakeOut(first, line, slot);
    --size_;
    if (size_ < buckets_.size() * kEntriesPerBucketMin && buckets_.size() > 1) Merge();
    return true;
  }

  // Puts `new_handle`, which has the same key, where `old_handle` is. Whether it was there.
  bool Replace(uint64_t hash, uint32_t old_handle, uint32_t new_handle) {
    DCHECK(new_handle != kNoHandle);
    IndexLine* line;
    uint32_t slot;
    if (!Locate(&buckets_[buckets_.BucketOf(hash)], TagOf(hash), old_handle, &line, &slot)) {
      return false;
    }
    line->handles[slot] = new_handle;
    return true;
  }

  void PrefetchBucket(uint64_t hash) const { PrefetchLine(&buckets_[buckets_.BucketOf(hash)]); }

  // First handle in the bucket's first line whose tag matches, or kNoHandle: to prefetch its entry.
  uint32_t PeekCandidate(uint64_t hash) const {
    const IndexLine& line = buckets_[buckets_.BucketOf(hash)];
    const uint32_t mask = line.Match(TagOf(hash));
    return mask == 0 ? kNoHandle : line.handles[std::countr_zero(mask)];
  }

  size_t size() const { return size_; }
  size_t bytes() const { return buckets_.bytes() + overflow_.bytes(); }
  size_t used_bytes() const { return buckets_.bytes() + overflow_.used_bytes(); }

  // Hashes every key.
  void check_invariants() const {
    buckets_.check_invariants();
    overflow_.check_invariants();
    size_t entries = 0;
    size_t overflow_lines = 0;
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      const IndexLine* line = &buckets_[bucket];
      for (bool last = false; !last;) {
        const uint32_t used = line->used();
        last = line->overflow == kNoHandle;
        CHECK(last || used == IndexLine::kSlots);
        if (line != &buckets_[bucket]) CHECK_GT(used, 0u);
        for (uint32_t slot = 0; slot < IndexLine::kSlots; ++slot) {
          if (slot >= used) {
            CHECK_EQ(line->tags[slot], 0);
            CHECK_EQ(line->handles[slot], kNoHandle);
            continue;
          }
          const IndexKey key = key_of_(line->handles[slot]);
          const uint64_t hash = HashOf(key.room, key.id);
          CHECK_EQ(buckets_.BucketOf(hash), bucket);
          CHECK_EQ(line->tags[slot], TagOf(hash));
        }
        entries += used;
        if (!last) {
          line = &overflow_[line->overflow];
          ++overflow_lines;
        }
      }
    }
    CHECK_EQ(entries, size_);
    CHECK_EQ(overflow_lines, overflow_.size());
  }

 private:
  // Entries per line, over all lines, above which a bucket is split, and entries per bucket below
  // which two are merged: far enough apart that no run of inserts and erases does both.
  static constexpr size_t kEntriesPerFiveLinesMax = 36;
  static constexpr size_t kEntriesPerBucketMin = 3;

  static constexpr uint32_t kPrefetchSteps = 3;
  static constexpr uint32_t kKeysPerStep = IndexLine::kSlots / kPrefetchSteps;

  // Buckets go by the hash's low bits, so tags take the high ones.
  static uint8_t TagOf(uint64_t hash) {
    const uint8_t tag = static_cast<uint8_t>(hash >> 56);
    return tag == 0 ? 1 : tag;
  }

  bool TooFull() const {
    return size_ * 5 > (buckets_.size() + overflow_.size()) * kEntriesPerFiveLinesMax;
  }

  void Append(IndexLine* line, uint32_t handle, uint8_t tag) {
    while (line->overflow != kNoHandle) line = &overflow_[line->overflow];
    uint32_t slot = line->used();
    if (slot == IndexLine::kSlots) {
      line->overflow = overflow_.Allocate();
      line = &overflow_[line->overflow];
      slot = 0;
    }
    line->handles[slot] = handle;
    line->tags[slot] = tag;
  }

  bool Locate(IndexLine* first, uint8_t tag, uint32_t handle, IndexLine** line, uint32_t* slot) {
    for (*line = first;; *line = &overflow_[(*line)->overflow]) {
      for (uint32_t mask = (*line)->Match(tag); mask != 0; mask &= mask - 1) {
        *slot = static_cast<uint32_t>(std::countr_zero(mask));
        if ((*line)->handles[*slot] == handle) return true;
      }
      if ((*line)->overflow == kNoHandle) return false;
    }
  }

  // Fills the hole with the chain's last entry, so that the chain stays dense.
  void TakeOut(IndexLine* first, IndexLine* line, uint32_t slot) {
    IndexLine* before_last = nullptr;
    IndexLine* last = first;
    while (last->overflow != kNoHandle) {
      before_last = last;
      last = &overflow_[last->overflow];
    }
    const uint32_t last_slot = last->used() - 1;
    line->handles[slot] = last->handles[last_slot];
    line->tags[slot] = last->tags[last_slot];
    last->handles[last_slot] = kNoHandle;
    last->tags[last_slot] = 0;
    if (last_slot == 0 && before_last != nullptr) {
      overflow_.Free(before_last->overflow);
      before_last->overflow = kNoHandle;
    }
  }

  // A split comes in five steps, one an insert: ask for the bucket's line, ask for the keys of its
  // entries, a few at a time so that nobody waits for a free line buffer, split. What the others
  // ask for is there when the last one needs it; nothing is wrong when it is not, or when other
  // calls changed the bucket in between. A split is due at most every seventh insert.
  void StepTowardsSplit() {
    if (split_step_ == 0) {
      PrefetchLine(&buckets_[buckets_.NextToSplit()]);
    } else if (split_step_ <= kPrefetchSteps) {
      const IndexLine& line = buckets_[buckets_.NextToSplit()];
      const uint32_t first = (split_step_ - 1) * kKeysPerStep;
      for (uint32_t slot = first; slot < first + kKeysPerStep; ++slot) {
        if (line.handles[slot] != kNoHandle) key_of_.Prefetch(line.handles[slot]);
      }
      if (split_step_ == 1 && line.overflow != kNoHandle) overflow_.Prefetch(line.overflow);
    } else {
      Split();
      split_step_ = 0;
      return;
    }
    ++split_step_;
  }

  void PrefetchKeys(const IndexLine& line) const {
    for (const uint32_t handle : line.handles) {
      if (handle != kNoHandle) key_of_.Prefetch(handle);
    }
    if (line.overflow != kNoHandle) overflow_.Prefetch(line.overflow);
  }

  // Entries that stay are written back over their own chain, behind the reading of it; the others
  // go to the new bucket.
  void Split() {
    const size_t from = buckets_.NextToSplit();
    const size_t to = buckets_.size();
    buckets_.AddLast();
    IndexLine* write_line = &buckets_[from];
    uint32_t write_slot = 0;
    for (IndexLine* line = write_line;;) {
      const uint32_t used = line->used();
      const uint32_t next = line->overflow;
      for (uint32_t slot = 0; slot < used; ++slot) {
        const uint32_t handle = line->handles[slot];
        const uint8_t tag = line->tags[slot];
        const IndexKey key = key_of_(handle);
        line->handles[slot] = kNoHandle;
        line->tags[slot] = 0;
        if (buckets_.BucketOf(HashOf(key.room, key.id)) == to) {
          Append(&buckets_[to], handle, tag);
          continue;
        }
        if (write_slot == IndexLine::kSlots) {
          write_line = &overflow_[write_line->overflow];
          write_slot = 0;
        }
        write_line->handles[write_slot] = handle;
        write_line->tags[write_slot++] = tag;
      }
      if (next == kNoHandle) break;
      line = &overflow_[next];
      PrefetchKeys(*line);
    }
    FreeChain(std::exchange(write_line->overflow, kNoHandle));
  }

  // Puts the last bucket's entries back where they were split from.
  void Merge() {
    const size_t from = buckets_.size() - 1;
    IndexLine line = buckets_[from];
    buckets_.DropLast();
    split_step_ = 0;
    IndexLine* into = &buckets_[buckets_.NextToSplit()];
    const uint32_t chain = line.overflow;
    for (;;) {
      const uint32_t used = line.used();
      for (uint32_t slot = 0; slot < used; ++slot) {
        Append(into, line.handles[slot], line.tags[slot]);
      }
      if (line.overflow == kNoHandle) break;
      line = overflow_[line.overflow];
    }
    FreeChain(chain);
  }

  void FreeChain(uint32_t overflow) {
    while (overflow != kNoHandle) {
      const uint32_t next = overflow_[overflow].overflow;
      overflow_.Free(overflow);
      overflow = next;
    }
  }

  KeyOf key_of_;
  uint64_t seed_;
  IndexBuckets buckets_;
  Slab<IndexLine> overflow_;
  size_t size_ = 0;
  uint8_t split_step_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ID_INDEX_H_
