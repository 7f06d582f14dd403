#include "server/net/watch_table.h"

#include "server/base/check.h"

namespace anteroom::net {
namespace {

// Lists whose links stand at `link` of the entries of `slab`.
template <typename Entries, typename Entry>
void Append(Entries& entries, ItemLink Entry::*link, ItemList* list, uint32_t handle) {
  entries[handle].*link = {0, list->last};
  (list->last != 0 ? (entries[list->last].*link).next : list->first) = handle;
  list->last = handle;
}

template <typename Entries, typename Entry>
void Unlink(Entries& entries, ItemLink Entry::*link, ItemList* list, uint32_t handle) {
  const ItemLink at = entries[handle].*link;
  (at.previous != 0 ? (entries[at.previous].*link).next : list->first) = at.next;
  (at.next != 0 ? (entries[at.next].*link).previous : list->last) = at.previous;
  entries[handle].*link = {};
}

template <typename Entries, typename Entry>
size_t CheckList(const Entries& entries, ItemLink Entry::*link, const ItemList& list) {
  size_t count = 0;
  uint32_t previous = 0;
  for (uint32_t handle = list.first; handle != 0; handle = (entries[handle].*link).next) {
    CHECK_EQ((entries[handle].*link).previous, previous);
    previous = handle;
    ++count;
  }
  CHECK_EQ(list.last, previous);
  return count;
}

}  // namespace

WatchTable::~WatchTable() {
  for (uint32_t target = 1; target <= targets_.capacity(); ++target) {
    if (targets_[target].room != 0) targets_[target].id.Clear();
  }
}

uint32_t WatchTable::AddWatcher(Subscriber* subscriber) {
  const uint32_t watcher = watchers_.Allocate();
  watchers_[watcher].subscriber = subscriber;
  return watcher;
}

void WatchTable::FreeWatcher(uint32_t watcher) {
  CHECK_EQ(watchers_[watcher].watches.first, 0u);
  CHECK_EQ(watchers_[watcher].item_count, 0u);
  watchers_.Free(watcher);
}

uint32_t WatchTable::FindWatch(uint32_t watcher, uint32_t request_id) const {
  const auto found = by_id_.find({watcher, request_id});
  return found == by_id_.end() ? 0 : found->second;
}

uint32_t WatchTable::AddWatch(uint32_t watcher, uint32_t room, uint32_t request_id,
                              bool whole_room) {
  const uint32_t handle = watches_.Allocate();
  Watch& watch = watches_[handle];
  watch.watcher = watcher;
  watch.room = room;
  watch.request_id = request_id;
  watch.serial = next_serial_++;
  watch.whole_room = whole_room;
  CHECK(by_id_.try_emplace({watcher, request_id}, handle).second);
  Append(watches_, &Watch::of_room, &rooms_[room].watches, handle);
  Append(watches_, &Watch::of_watcher, &watchers_[watcher].watches, handle);
  return handle;
}

void WatchTable::ForgetWatch(uint32_t handle) {
  Watch& watch = watches_[handle];
  if (watch.room == 0) return;
  const auto room = rooms_.find(watch.room);
  Unlink(watches_, &Watch::of_room, &room->second.watches, handle);
  if (watch.whole_room) {
    // A room's item is found through its room.
    for (uint32_t item = watch.items.first; item != 0; item = items_[item].of_watch.next) {
      Unlink(items_, &WatchItem::of_target, &room->second.items, item);
    }
  }
  if (room->second.watches.first == 0) rooms_.erase(room);
  by_id_.erase({watch.watcher, watch.request_id});
  watch.room = 0;
}

void WatchTable::FreeWatch(uint32_t handle) {
  CHECK_EQ(watches_[handle].item_count, 0u);
  ForgetWatch(handle);
  Unlink(watches_, &Watch::of_watcher, &watchers_[watches_[handle].watcher].watches, handle);
  watches_.Free(handle);
}

uint32_t WatchTable::AddItem(uint32_t watch_handle, std::string_view visitor) {
  Watch& watch = watches_[watch_handle];
  const uint32_t handle = items_.Allocate();
  items_[handle].watch = watch_handle;
  if (watch.whole_room) {
    Append(items_, &WatchItem::of_target, &rooms_[watch.room].items, handle);
    ++room_item_count_;
  } else {
    const uint64_t hash = index_.HashOf(watch.room, visitor);
    uint32_t target = index_.Find(hash, watch.room, visitor);
    if (target == kNoHandle) {
      target = targets_.Allocate();
      targets_[target].id.Set(visitor);
      id_bytes_ += targets_[target].id.heap_bytes();
      targets_[target].room = watch.room;
      index_.Insert(hash, target);
    }
    items_[handle].target = target;
    Append(items_, &WatchItem::of_target, &targets_[target].items, handle);
  }
  Append(items_, &WatchItem::of_watch, &watch.items, handle);
  ++watch.item_count;
  ++watchers_[watch.watcher].item_count;
  return handle;
}

void WatchTable::FreeItem(uint32_t handle) {
  WatchItem& item = items_[handle];
  Watch& watch = watches_[item.watch];
  ClearDirty(handle);
  File(handle, TimingWheel::kNever);
  if (watch.whole_room) {
    if (watch.room != 0) {
      Unlink(items_, &WatchItem::of_target, &rooms_.find(watch.room)->second.items, handle);
    }
    --room_item_count_;
  } else {
    WatchTarget& target = targets_[item.target];
    Unlink(items_, &WatchItem::of_target, &target.items, handle);
    if (target.items.first == 0) {
      CHECK(index_.Erase(index_.HashOf(target.room, target.id.view()), item.target));
      id_bytes_ -= target.id.heap_bytes();
      target.id.Clear();
      targets_.Free(item.target);
    }
  }
  if (watch.task_item == handle) watch.task_item = item.of_watch.next;
  Unlink(items_, &WatchItem::of_watch, &watch.items, handle);
  --watch.item_count;
  --watchers_[watch.watcher].item_count;
  items_.Free(handle);
}

uint32_t WatchTable::FirstItem(uint32_t room, std::string_view visitor) const {
  const uint32_t target = index_.Find(index_.HashOf(room, visitor), room, visitor);
  return target == kNoHandle ? 0 : targets_[target].items.first;
}

uint32_t WatchTable::FirstWatch(uint32_t room) const {
  const auto found = rooms_.find(room);
  return found == rooms_.end() ? 0 : found->second.watches.first;
}

uint32_t WatchTable::FirstRoomItem(uint32_t room) const {
  const auto found = rooms_.find(room);
  return found == rooms_.end() ? 0 : found->second.items.first;
}

void WatchTable::BeginRoomWith(uint32_t handle) {
  ItemList& list = rooms_.find(watches_[items_[handle].watch].room)->second.items;
  const uint32_t last = items_[handle].of_target.previous;
  if (last == 0) return;
  items_[list.last].of_target.next = list.first;
  items_[list.first].of_target.previous = list.last;
  items_[last].of_target.next = 0;
  items_[handle].of_target.previous = 0;
  list = {handle, last};
}

void WatchTable::MarkDirty(uint32_t handle) {
  if (items_[handle].dirty) return;
  items_[handle].dirty = true;
  Append(items_, &WatchItem::of_dirty, &watcher_of(handle).dirty, handle);
}

void WatchTable::ClearDirty(uint32_t handle) {
  if (!items_[handle].dirty) return;
  items_[handle].dirty = false;
  Unlink(items_, &WatchItem::of_dirty, &watcher_of(handle).dirty, handle);
}

void WatchTable::File(uint32_t handle, int64_t due_ms) {
  if (TimingWheel::Contains(*this, handle)) wheel_.Remove(*this, handle);
  items_[handle].due_ms = due_ms;
  if (due_ms != TimingWheel::kNever) wheel_.Add(*this, handle);
}

void WatchTable::check_invariants() const {
  items_.check_invariants();
  targets_.check_invariants();
  watches_.check_invariants();
  watchers_.check_invariants();
  index_.check_invariants();
  wheel_.check_invariants(*const_cast<WatchTable*>(this));
  CHECK_EQ(index_.size(), targets_.size());
  size_t items = 0;
  size_t room_items = 0;
  size_t filed = 0;
  for (uint32_t handle = 1; handle <= watches_.capacity(); ++handle) {
    const Watch& watch = watches_[handle];
    if (watch.watcher == 0) continue;
    CHECK_EQ(CheckList(items_, &WatchItem::of_watch, watch.items), watch.item_count);
    items += watch.item_count;
    if (watch.whole_room) room_items += watch.item_count;
    if (watch.room != 0) CHECK_EQ(FindWatch(watch.watcher, watch.request_id), handle);
  }
  for (uint32_t handle = 1; handle <= items_.capacity(); ++handle) {
    if (live(handle)) filed += TimingWheel::Contains(*const_cast<WatchTable*>(this), handle);
  }
  size_t id_bytes = 0;
  for (uint32_t handle = 1; handle <= targets_.capacity(); ++handle) {
    const WatchTarget& target = targets_[handle];
    if (target.room == 0) continue;
    id_bytes += target.id.heap_bytes();
    CHECK_GT(CheckList(items_, &WatchItem::of_target, target.items), 0u);
    CHECK_EQ(FirstItem(target.room, target.id.view()), target.items.first);
  }
  CHECK_EQ(id_bytes, id_bytes_);
  for (const auto& [room, entry] : rooms_) {
    CHECK_GT(CheckList(watches_, &Watch::of_room, entry.watches), 0u);
    CheckList(items_, &WatchItem::of_target, entry.items);
  }
  size_t watcher_items = 0;
  for (uint32_t handle = 1; handle <= watchers_.capacity(); ++handle) {
    watcher_items += watchers_[handle].item_count;
    CheckList(watches_, &Watch::of_watcher, watchers_[handle].watches);
    CheckList(items_, &WatchItem::of_dirty, watchers_[handle].dirty);
  }
  CHECK_EQ(items, items_.size());
  CHECK_EQ(watcher_items, items);
  CHECK_EQ(room_items, room_item_count_);
  CHECK_EQ(filed, wheel_.size());
}

}  // namespace anteroom::net
