// What a watch of a room is told: its events, its counts and its settings.

#include <utility>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "server/net/watches.h"

namespace anteroom::net {

using protocol::FrameKind;
using protocol::Operation;
using protocol::RoomEvent;
using protocol::RoomPush;

namespace {

// From one push of a room's counts to the next.
constexpr int64_t kRoomPushMs = 1000;

static_assert(limits::kRoomEventsGatheredMax <= protocol::kRoomEventsMax);

}  // namespace

void Watches::RoomChanged(uint32_t room) {
  for (uint32_t handle = table_.FirstWatch(room); handle != 0;
       handle = table_.watch(handle).of_room.next) {
    net::Watch& watch = table_.watch(handle);
    if (watch.whole_room) {
      Queue(watch.items.first);
    } else {
      watch.task_item = watch.items.first;
      if (!watch.queued) tasks_.push_back({TaskKind::kRetell, handle, watch.serial});
      watch.queued = true;
    }
  }
}

void Watches::CountsChanged(uint32_t room) {
  for (uint32_t handle = table_.FirstRoomItem(room); handle != 0;
       handle = table_.item(handle).of_target.next) {
    const WatchItem& item = table_.item(handle);
    if (item.dirty || TimingWheel::Contains(table_, handle)) continue;
    const int64_t next_ms = static_cast<int64_t>(item.told_at_ms) + kRoomPushMs;
    if (next_ms <= loop_ms_) {
      Queue(handle);
    } else {
      table_.File(handle, next_ms);
    }
  }
}

void Watches::Gather(const Effects& effects, size_t index) {
  gathered_[effects.visitors[index].room].push_back(desk_->DescribeEvent(effects, index));
  if (++gathered_count_ == limits::kRoomEventsGatheredMax) PushEvents();
}

void Watches::PushEvents() {
  if (gathered_count_ == 0) return;
  for (auto& [room, events] : gathered_) PushEventsOf(room, std::move(events));
  gathered_.clear();
  gathered_count_ = 0;
}

void Watches::PushEventsOf(uint32_t room, std::vector<RoomEvent> events) {
  RoomPush push;
  push.events = std::move(events);
  const size_t count = push.events.size();
  uint32_t passed_over = 0;
  for (uint32_t handle = table_.FirstRoomItem(room); handle != 0;
       handle = table_.item(handle).of_target.next) {
    WatchItem& item = table_.item(handle);
    const Subscriber* subscriber = table_.watcher_of(handle).subscriber;
    // The present state, which is yet to be told, has these in it.
    if (!item.told || subscriber == nullptr) continue;
    const bool within_budget = count <= event_budget_;
    if (!within_budget && passed_over == 0) passed_over = handle;
    if (within_budget && subscriber->has_room()) {
      event_budget_ -= count;
      SendRoomPush(handle, &push);
    } else {
      item.missed_events += count;
    }
  }
  // So that it is not the same ones again and again.
  if (passed_over != 0) table_.BeginRoomWith(passed_over);
}

void Watches::PushRoom(uint32_t handle, const Room& room) {
  PushEvents();  // they are in the counts that follow
  WatchItem& item = table_.item(handle);
  auto answer = desk_->LookAtRoom(room.name);
  if (auto* reply = std::get_if<protocol::RoomReply>(&answer)) {
    RoomPush push;
    push.room = std::move(*reply);
    SendRoomPush(handle, &push);
  }
  item.told = true;
  item.told_at_ms = static_cast<uint64_t>(loop_ms_);
  table_.File(handle, TimingWheel::kNever);
}

void Watches::SendRoomPush(uint32_t handle, RoomPush* push) {
  WatchItem& item = table_.item(handle);
  const net::Watch& watch = table_.watch(item.watch);
  push->missed.reset();
  if (item.missed_events > 0) push->missed = std::exchange(item.missed_events, 0);
  protocol::AppendFrame(static_cast<uint8_t>(Operation::kWatchRoom), FrameKind::kPush,
                        watch.request_id, *push,
                        table_.watcher(watch.watcher).subscriber->Marked(marks_.last_sequence()));
}

}  // namespace anteroom::net
