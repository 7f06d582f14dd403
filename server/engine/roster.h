// Everybody who is waiting or inside, in all rooms: the slab of visitors with its index by
// (room, id), and the slab of their sessions.
#ifndef ANTEROOM_SERVER_ENGINE_ROSTER_H_
#define ANTEROOM_SERVER_ENGINE_ROSTER_H_

#include <cstdint>
#include <string_view>

#include "server/engine/entries.h"
#include "server/engine/id_index.h"
#include "server/engine/slab.h"

namespace anteroom {

// How the index sees a slab of entries that have an `id` and a `room`.
template <typename Entry>
struct EntryKeys {
  const Slab<Entry>* entries;
  IndexKey operator()(uint32_t handle) const {
    const Entry& entry = (*entries)[handle];
    return {entry.room, entry.id.view()};
  }
  void Prefetch(uint32_t handle) const { entries->Prefetch(handle); }
};

// Invariant: every live visitor is in the index, and nobody else.
class Roster {
 public:
  explicit Roster(uint64_t index_seed) : index_({&visitors_}, index_seed) {}
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;
  ~Roster() {
    for (uint32_t visitor = 1; visitor <= visitors_.capacity(); ++visitor) {
      if (visitors_[visitor].live()) visitors_[visitor].id.Clear();
    }
  }

  uint64_t HashOf(uint32_t room, std::string_view id) const { return index_.HashOf(room, id); }
  uint32_t Find(uint64_t hash, uint32_t room, std::string_view id) const {
    return index_.Find(hash, room, id);
  }
  uint32_t Find(uint32_t room, std::string_view id) const {
    return Find(HashOf(room, id), room, id);
  }

  // The three steps of a prefetched Find; each asks for the memory that the next one reads.
  void PrefetchBucket(uint64_t hash) const { index_.PrefetchBucket(hash); }
  uint32_t PrefetchCandidate(uint64_t hash) const {
    const uint32_t visitor = index_.PeekCandidate(hash);
    if (visitor != kNoHandle) visitors_.Prefetch(visitor);
    return visitor;
  }

  // Adds a visitor who is not there; state and the rest are the caller's to set at once.
  uint32_t Add(uint32_t room, std::string_view id) {
    const uint32_t handle = visitors_.Allocate();
    Visitor& visitor = visitors_[handle];
    visitor.id.Set(id);
    visitor.room = room;
    index_.Insert(index_.HashOf(room, id), handle);
    return handle;
  }
  void Remove(uint32_t handle) {
    Visitor& visitor = visitors_[handle];
    CHECK(index_.Erase(index_.HashOf(visitor.room, visitor.id.view()), handle));
    visitor.id.Clear();
    visitors_.Free(handle);
  }

  Visitor& operator[](uint32_t handle) { return visitors_[handle]; }
  const Visitor& operator[](uint32_t handle) const { return visitors_[handle]; }
  // Handles run from 1 to this; not all are live.
  uint32_t capacity() const { return visitors_.capacity(); }
  size_t size() const { return visitors_.size(); }

  Slab<Session>& sessions() { return sessions_; }
  const Slab<Session>& sessions() const { return sessions_; }

  size_t bytes() const { return visitors_.bytes() + index_.bytes() + sessions_.bytes(); }

  void check_invariants() const {
    visitors_.check_invariants();
    sessions_.check_invariants();
    index_.check_invariants();
    CHECK_EQ(index_.size(), visitors_.size());
  }

 private:
  Slab<Visitor> visitors_;
  Slab<Session> sessions_;
  IdIndex<EntryKeys<Visitor>> index_;
};

// How the two queues of a room see the roster.
struct LineOwner {
  Roster& roster;
  QueueKey KeyOf(uint32_t visitor) const {
    const Visitor& entry = roster[visitor];
    return {entry.lane, entry.arrival.Get()};
  }
  void SetPlace(uint32_t visitor, QueuePlace place) { roster[visitor].place = place.value; }
  void Prefetch(uint32_t visitor) const { __builtin_prefetch(&roster[visitor]); }
};

struct InsideOwner {
  Roster& roster;
  QueueKey KeyOf(uint32_t session) const { return {0, roster.sessions()[session].admission}; }
  void SetPlace(uint32_t session, QueuePlace place) { roster.sessions()[session].place = place; }
  void Prefetch(uint32_t session) const { __builtin_prefetch(&roster.sessions()[session]); }
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ROSTER_H_
