// Who watches whom: the structure behind watches.h, without a word about what is pushed when.
//
// Four kinds of entries, each in a slab, linked by handle:
//
//   Watcher   a connection that watches anything
//   Watch     one request of it: a room, and what is watched there
//   Item      one visitor of a watch, or the room of a watch of a room
//   Target    a visitor whom any item is about; found by (room, id)
//
// An item stands in the list of its watch, in that of its target (or of its room), in the wheel
// when its next push is known, and in its watcher's list of items to be pushed.
//
// Threads: none; one owner.
#ifndef ANTEROOM_SERVER_NET_WATCH_TABLE_H_
#define ANTEROOM_SERVER_NET_WATCH_TABLE_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/engine/id_index.h"
#include "server/engine/roster.h"
#include "server/engine/slab.h"
#include "server/engine/timing_wheel.h"
#include "server/engine/visitor_id.h"

namespace anteroom::net {

class Subscriber;

// A doubly linked list of items; where its links stand in the item is the user's to know.
struct ItemList {
  uint32_t first = 0;
  uint32_t last = 0;
};
struct ItemLink {
  uint32_t next = 0;
  uint32_t previous = 0;
};

struct WatchItem {
  ItemLink of_target;
  uint32_t watch;   // never 0 while the item lives
  uint32_t target;  // 0: the room itself
  ItemLink of_watch;
  ItemLink of_dirty;
  WheelLink wheel;
  int64_t due_ms;
  bool dirty;
  bool told;  // something has been pushed about it; what follows says what
  uint8_t told_state;
  uint8_t told_mode;
  uint8_t told_reason;
  uint8_t zero[3];
  union {
    uint64_t told_ahead;
    uint64_t missed_events;  // of a room: to be said with the next push
  };
  uint64_t told_at_ms;
};

struct WatchTarget {
  ItemList items;
  PackedId id;
  uint32_t room;
};

struct Watch {
  ItemLink of_room;
  ItemLink of_watcher;
  uint32_t watcher;  // never 0 while the watch lives
  uint32_t room;     // number; 0: forgotten
  uint32_t request_id;
  uint32_t serial;  // tells it from others that had its handle
  bool whole_room;
  bool queued;  // a task about it waits
  uint8_t zero[2];
  ItemList items;
  uint32_t item_count;
  uint32_t task_item;  // how far the task is
};

struct Watcher {
  bool queued;   // has dirty items, and a turn to come
  bool blocked;  // has dirty items, and no room for them
  uint8_t zero[2];
  uint32_t item_count;
  Subscriber* subscriber;  // nullptr: gone, its watches are being freed
  ItemList watches;
  ItemList dirty;
};

// Invariant: every link goes both ways, and counts are what the lists hold.
class WatchTable {
 public:
  explicit WatchTable(uint64_t index_seed) : index_({&targets_}, index_seed) {}
  ~WatchTable();
  WatchTable(const WatchTable&) = delete;
  WatchTable& operator=(const WatchTable&) = delete;

  uint32_t AddWatcher(Subscriber* subscriber);
  void FreeWatcher(uint32_t watcher);

  // 0 when the watcher has no watch of this id.
  uint32_t FindWatch(uint32_t watcher, uint32_t request_id) const;
  uint32_t AddWatch(uint32_t watcher, uint32_t room, uint32_t request_id, bool whole_room);
  // Takes it out of its room and makes its id free again; its items stay until they are freed.
  void ForgetWatch(uint32_t watch);
  // It has no items any more.
  void FreeWatch(uint32_t watch);

  // An empty id: the room itself.
  uint32_t AddItem(uint32_t watch, std::string_view visitor);
  void FreeItem(uint32_t item);

  // The first item about this visitor; 0 when nobody watches.
  uint32_t FirstItem(uint32_t room, std::string_view visitor) const;
  // The first watch in this room; 0 when there is none.
  uint32_t FirstWatch(uint32_t room) const;
  // The first item about this room itself.
  uint32_t FirstRoomItem(uint32_t room) const;

  // Makes an item about a room the first one there; those before it come last.
  void BeginRoomWith(uint32_t item);

  void MarkDirty(uint32_t item);
  void ClearDirty(uint32_t item);
  // In the wheel at this time, wherever it stood before; kNever takes it out.
  void File(uint32_t item, int64_t due_ms);
  size_t PopDue(int64_t now_ms, size_t max, std::vector<uint32_t>* items) {
    return wheel_.PopDue(*this, now_ms, max, items);
  }
  int64_t NextDue() const { return wheel_.NextDue(*const_cast<WatchTable*>(this)); }

  WatchItem& item(uint32_t handle) { return items_[handle]; }
  const WatchItem& item(uint32_t handle) const { return items_[handle]; }
  Watch& watch(uint32_t handle) { return watches_[handle]; }
  const Watch& watch(uint32_t handle) const { return watches_[handle]; }
  Watcher& watcher(uint32_t handle) { return watchers_[handle]; }
  const Watcher& watcher(uint32_t handle) const { return watchers_[handle]; }
  std::string_view visitor_of(uint32_t item) const {
    return targets_[items_[item].target].id.view();
  }
  Watcher& watcher_of(uint32_t item) { return watchers_[watches_[items_[item].watch].watcher]; }
  bool live(uint32_t item) const { return items_[item].watch != 0; }

  size_t item_count() const { return items_.size(); }
  size_t room_item_count() const { return room_item_count_; }
  // What all that is there now takes, long ids included.
  size_t used_bytes() const {
    return items_.used_bytes() + targets_.used_bytes() + watches_.used_bytes() +
           watchers_.used_bytes() + index_.used_bytes() + id_bytes_ +
           2 * (by_id_.size() * sizeof(*by_id_.begin()) + rooms_.size() * sizeof(*rooms_.begin()));
  }
  uint32_t watch_capacity() const { return watches_.capacity(); }

  // How the wheel sees the items.
  WheelLink& LinkOf(uint32_t item) { return items_[item].wheel; }
  int64_t DeadlineOf(uint32_t item) const { return items_[item].due_ms; }
  uint64_t SequenceOf(uint32_t item) const { return item; }

  void check_invariants() const;

 private:
  // What a room has.
  struct RoomEntry {
    ItemList watches;
    ItemList items;  // about the room itself
  };

  Slab<WatchItem, 4096> items_;
  Slab<WatchTarget> targets_;
  Slab<Watch, 1024> watches_;
  Slab<Watcher, 1024> watchers_;
  IdIndex<EntryKeys<WatchTarget>> index_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> by_id_;
  absl::flat_hash_map<uint32_t, RoomEntry> rooms_;
  TimingWheel wheel_;
  size_t room_item_count_ = 0;
  size_t id_bytes_ = 0;  // of targets' long ids
  uint32_t next_serial_ = 1;
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_WATCH_TABLE_H_
