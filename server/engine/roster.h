// Everybody who is waiting or inside, in all rooms: the slab of visitors with its index by
// (room, id), and the slab of their sessions.
//
// What one request does asks for one visitor several times over, so the key asked for last is kept
// with its answer.
#ifndef ANTEROOM_SERVER_ENGINE_ROSTER_H_
#define ANTEROOM_SERVER_ENGINE_ROSTER_H_

#include <cstdint>
#include <cstring>
#include <string_view>

#include "server/base/prefetch.h"
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
  void Prefetch(uint32_t handle) const {
    const Entry& entry = (*entries)[handle];
    PrefetchLine(&entry);
    PrefetchLine(&entry.room);
  }
};

// The one field of an entry that the engine does not own (heard.h).
class SoftDeadlines {
 public:
  explicit SoftDeadlines(Slab<Visitor>* visitors) : visitors_(visitors) {}
  // `visitor` is at most capacity(). 0 in an entry that is free.
  uint32_t& operator[](uint32_t visitor) const { return (*visitors_)[visitor].soft_deadline; }
  uint32_t capacity() const { return visitors_->capacity(); }

 private:
  Slab<Visitor>* visitors_;
};

// Invariant: every live visitor is in the index, and nobody else; the recent key's handle is what
// the index would say.
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
  // The handle of a visitor, or kNoHandle. `id` is at most 255 bytes.
  uint32_t Find(uint32_t room, std::string_view id) const {
    if (!recent_.Is(room, id)) {
      recent_.Set(HashOf(room, id), room, id);
      recent_.handle = index_.Find(recent_.hash, room, id);
    }
    return recent_.handle;
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
    id_bytes_ += visitor.id.heap_bytes();
    visitor.room = room;
    if (!recent_.Is(room, id)) recent_.Set(HashOf(room, id), room, id);
    index_.Insert(recent_.hash, handle);
    return recent_.handle = handle;
  }
  void Remove(uint32_t handle) {
    Visitor& visitor = visitors_[handle];
    CHECK(index_.Erase(index_.HashOf(visitor.room, visitor.id.view()), handle));
    if (recent_.handle == handle) recent_.handle = kNoHandle;
    id_bytes_ -= visitor.id.heap_bytes();
    visitor.id.Clear();
    visitors_.Free(handle);
  }

  Visitor& operator[](uint32_t handle) { return visitors_[handle]; }
  const Visitor& operator[](uint32_t handle) const { return visitors_[handle]; }
  // Handles run from 1 to this; not all are live.
  uint32_t capacity() const { return visitors_.capacity(); }
  size_t size() const { return visitors_.size(); }

  SoftDeadlines soft_deadlines() { return SoftDeadlines(&visitors_); }

  Slab<Session>& sessions() { return sessions_; }
  const Slab<Session>& sessions() const { return sessions_; }

  size_t bytes() const { return visitors_.bytes() + index_.bytes() + sessions_.bytes(); }
  // Of who is there now, long ids included.
  size_t used_bytes() const {
    return visitors_.used_bytes() + index_.used_bytes() + sessions_.used_bytes() + id_bytes_;
  }

  void check_invariants() const {
    visitors_.check_invariants();
    sessions_.check_invariants();
    index_.check_invariants();
    CHECK_EQ(index_.size(), visitors_.size());
    size_t id_bytes = 0;
    for (uint32_t visitor = 1; visitor <= visitors_.capacity(); ++visitor) {
      if (visitors_[visitor].live()) id_bytes += visitors_[visitor].id.heap_bytes();
    }
    CHECK_EQ(id_bytes, id_bytes_);
    if (recent_.room != 0) {
      const std::string_view id(recent_.id, recent_.length);
      CHECK_EQ(recent_.handle, index_.Find(index_.HashOf(recent_.room, id), recent_.room, id));
    }
  }

 private:
  struct Recent {
    uint64_t hash = 0;
    uint32_t room = 0;  // 0: none yet
    uint32_t handle = kNoHandle;
    uint8_t length = 0;
    char id[kVisitorIdBytesMax];

    bool Is(uint32_t of_room, std::string_view of_id) const {
      return room == of_room && std::string_view(id, length) == of_id;
    }
    void Set(uint64_t of_hash, uint32_t of_room, std::string_view of_id) {
      CHECK_LE(of_id.size(), kVisitorIdBytesMax);
      hash = of_hash;
      room = of_room;
      length = static_cast<uint8_t>(of_id.size());
      std::memcpy(id, of_id.data(), of_id.size());
    }
  };

  Slab<Visitor> visitors_;
  Slab<Session> sessions_;
  IdIndex<EntryKeys<Visitor>> index_;
  size_t id_bytes_ = 0;
  mutable Recent recent_;
};

// How the two queues of a room see the roster.
struct LineOwner {
  Roster& roster;
  QueueKey KeyOf(uint32_t visitor) const {
    const Visitor& entry = roster[visitor];
    return {entry.lane, entry.arrival.Get()};
  }
  void SetPlace(uint32_t visitor, QueuePlace place) { roster[visitor].place = place.value; }
  void Prefetch(uint32_t visitor) const { PrefetchLine(&roster[visitor]); }
};

struct InsideOwner {
  Roster& roster;
  QueueKey KeyOf(uint32_t session) const { return {0, roster.sessions()[session].admission}; }
  void SetPlace(uint32_t session, QueuePlace place) { roster.sessions()[session].place = place; }
  void Prefetch(uint32_t session) const { PrefetchLine(&roster.sessions()[session]); }
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ROSTER_H_
