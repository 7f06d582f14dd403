// Those who are not there any more: memories of ended visitors, and blocks of those kept out.
#ifndef ANTEROOM_SERVER_ENGINE_PAST_H_
#define ANTEROOM_SERVER_ENGINE_PAST_H_

#include <cstdint>
#include <string_view>

#include "server/base/prefetch.h"
#include "server/engine/entries.h"
#include "server/engine/id_index.h"
#include "server/engine/room.h"
#include "server/engine/roster.h"
#include "server/engine/slab.h"

namespace anteroom {

// Entries of one kind, found by (room, id), each also in a list of its room.
// Invariant: the index leads to one entry of every (room, id) that has any.
template <typename Entry>
class PastEntries {
 public:
  explicit PastEntries(uint64_t index_seed) : index_({&entries_}, index_seed) {}
  PastEntries(const PastEntries&) = delete;
  PastEntries& operator=(const PastEntries&) = delete;
  ~PastEntries() {
    for (uint32_t handle = 1; handle <= entries_.capacity(); ++handle) {
      if (entries_[handle].room != 0) entries_[handle].id.Clear();
    }
  }

  uint32_t Find(uint32_t room, std::string_view id) const {
    if (index_.size() == 0) return kNoHandle;
    return index_.Find(index_.HashOf(room, id), room, id);
  }

  // A new entry at the end of `list`, not yet in the index.
  uint32_t Append(uint32_t room, std::string_view id, EntryList* list) {
    const uint32_t handle = entries_.Allocate();
    Entry& entry = entries_[handle];
    entry.id.Set(id);
    id_bytes_ += entry.id.heap_bytes();
    entry.room = room;
    entry.previous = list->last;
    (list->last != 0 ? entries_[list->last].next : list->first) = handle;
    list->last = handle;
    ++list->count;
    return handle;
  }

  // Makes the index lead to `to` instead of `from`; either may be kNoHandle. Both have one key.
  void Lead(uint32_t from, uint32_t to) {
    const Entry& entry = entries_[to != kNoHandle ? to : from];
    const uint64_t hash = index_.HashOf(entry.room, entry.id.view());
    if (from == kNoHandle) {
      index_.Insert(hash, to);
    } else if (to == kNoHandle) {
      CHECK(index_.Erase(hash, from));
    } else {
      CHECK(index_.Replace(hash, from, to));
    }
  }

  // Frees an entry that the index does not lead to.
  void Free(uint32_t handle, EntryList* list) {
    Entry& entry = entries_[handle];
    (entry.previous != 0 ? entries_[entry.previous].next : list->first) = entry.next;
    (entry.next != 0 ? entries_[entry.next].previous : list->last) = entry.previous;
    --list->count;
    id_bytes_ -= entry.id.heap_bytes();
    entry.id.Clear();
    entries_.Free(handle);
  }

  Entry& operator[](uint32_t handle) { return entries_[handle]; }
  const Entry& operator[](uint32_t handle) const { return entries_[handle]; }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return entries_.bytes() + index_.bytes(); }
  // Of what is there now, long ids included.
  size_t used_bytes() const { return entries_.used_bytes() + index_.used_bytes() + id_bytes_; }

  void check_invariants() const {
    entries_.check_invariants();
    index_.check_invariants();
    CHECK_LE(index_.size(), entries_.size());
    size_t id_bytes = 0;
    for (uint32_t handle = 1; handle <= entries_.capacity(); ++handle) {
      if (entries_[handle].room != 0) id_bytes += entries_[handle].id.heap_bytes();
    }
    CHECK_EQ(id_bytes, id_bytes_);
  }

 private:
  Slab<Entry> entries_;
  IdIndex<EntryKeys<Entry>> index_;
  size_t id_bytes_ = 0;
};

using Blocks = PastEntries<Block>;

// Memories, found by the number of their admission too.
class Memories : public PastEntries<Memory> {
 public:
  explicit Memories(uint64_t index_seed)
      : PastEntries<Memory>(index_seed), by_admission_({this}, index_seed) {}

  // The memory of an admission that ended, or kNoHandle.
  uint32_t FindAdmission(uint32_t room, uint64_t admission) const {
    if (by_admission_.size() == 0) return kNoHandle;
    const std::string_view key = KeyOf(admission);
    return by_admission_.Find(by_admission_.HashOf(room, key), room, key);
  }
  // Once its room and admission are set, and that is not 0.
  void AddAdmission(uint32_t handle) { by_admission_.Insert(HashOfAdmission(handle), handle); }
  void Free(uint32_t handle, EntryList* list) {
    if ((*this)[handle].admission != 0) {
      CHECK(by_admission_.Erase(HashOfAdmission(handle), handle));
    }
    PastEntries<Memory>::Free(handle, list);
  }

  size_t bytes() const { return PastEntries<Memory>::bytes() + by_admission_.bytes(); }
  size_t used_bytes() const {
    return PastEntries<Memory>::used_bytes() + by_admission_.used_bytes();
  }

  void check_invariants() const {
    PastEntries<Memory>::check_invariants();
    by_admission_.check_invariants();
    CHECK_LE(by_admission_.size(), size());
  }

 private:
  static std::string_view KeyOf(const uint64_t& admission) {
    return {reinterpret_cast<const char*>(&admission), sizeof admission};
  }
  struct AdmissionKeys {
    const Memories* memories;
    IndexKey operator()(uint32_t handle) const {
      const Memory& memory = (*memories)[handle];
      return {memory.room, KeyOf(memory.admission)};
    }
    void Prefetch(uint32_t handle) const { PrefetchLine(&(*memories)[handle].admission); }
  };
  uint64_t HashOfAdmission(uint32_t handle) const {
    const Memory& memory = (*this)[handle];
    return by_admission_.HashOf(memory.room, KeyOf(memory.admission));
  }

  IdIndex<AdmissionKeys> by_admission_;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_PAST_H_
