#include "server/net/watches.h"

#include <algorithm>
#include <utility>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "server/base/check.h"

namespace anteroom::net {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Reason;
using protocol::Refusal;
using protocol::Refuse;
using protocol::State;
using protocol::VisitorReply;

namespace {

// How often a connection without room is looked at again.
constexpr int64_t kUnblockMs = 20;
// Pushes to one connection before the next one has its turn.
constexpr size_t kPushesAtOnce = 64;

uint8_t OperationOf(const Watch& watch) {
  return static_cast<uint8_t>(watch.whole_room ? Operation::kWatchRoom : Operation::kWatch);
}

Refusal RoomGone() {
  return Refuse(ErrorCode::kNotFound, "the room was reset or deleted");
}

}  // namespace

int64_t PositionPushMs(uint64_t ahead) {
  return static_cast<int64_t>(std::clamp<uint64_t>(ahead * 10, 1000, 30'000));
}

Watches::Watches(const Engine* engine, const MarkSource* marks, uint64_t index_seed,
                 const Limits& limits)
    : engine_(*engine), marks_(*marks), limits_(limits), table_(index_seed) {}

// ---- requests ----

std::optional<Refusal> Watches::CheckNew(Subscriber* subscriber, uint32_t request_id,
                                         size_t count) {
  if (subscriber->watcher == 0) subscriber->watcher = table_.AddWatcher(subscriber);
  if (table_.FindWatch(subscriber->watcher, request_id) != 0) {
    return Refuse(ErrorCode::kConflict,
                  "there is a live watch of the id " + std::to_string(request_id));
  }
  const bool by_one =
      table_.watcher(subscriber->watcher).item_count + count > limits_.connection_watches;
  if (!by_one && table_.item_count() + count <= limits_.watches) return std::nullopt;
  Refusal refusal = Refuse(
      ErrorCode::kUnavailable,
      by_one ? "a connection watches " + std::to_string(limits_.connection_watches) +
                   " visitors at most"
             : "the daemon watches as many visitors as it may: " + std::to_string(limits_.watches));
  refusal.reason = Reason::kTooManyWatches;
  return refusal;
}

std::optional<Refusal> Watches::Watch(Subscriber* subscriber, uint32_t request_id,
                                      const protocol::WatchRequest& request) {
  const size_t count = request.visitors.size();
  if (count < 1) return Refuse(ErrorCode::kInvalid, "a watch is of 1 to 1000 visitors");
  if (count > protocol::kWatchVisitorsMax) {
    return Refuse(ErrorCode::kTooLarge, std::to_string(count) +
                                            " visitors at once, it takes 1 to " +
                                            std::to_string(protocol::kWatchVisitorsMax));
  }
  for (const std::string_view visitor : request.visitors) {
    std::string wrong = protocol::CheckVisitorId(visitor);
    if (!wrong.empty()) return Refuse(ErrorCode::kInvalid, std::move(wrong));
  }
  auto room = desk_->LookAtRoom(request.room);
  if (auto* refusal = std::get_if<Refusal>(&room)) return std::move(*refusal);
  if (auto refusal = CheckNew(subscriber, request_id, count)) return refusal;
  const uint32_t watch = table_.AddWatch(subscriber->watcher,
                                         engine_.FindRoom(request.room)->number, request_id, false);
  for (const std::string_view visitor : request.visitors) Queue(table_.AddItem(watch, visitor));
  return std::nullopt;
}

std::optional<Refusal> Watches::WatchRoom(Subscriber* subscriber, uint32_t request_id,
                                          const protocol::RoomRequest& request) {
  auto room = desk_->LookAtRoom(request.room);
  if (auto* refusal = std::get_if<Refusal>(&room)) return std::move(*refusal);
  if (auto refusal = CheckNew(subscriber, request_id, 1)) return refusal;
  const uint32_t watch = table_.AddWatch(subscriber->watcher,
                                         engine_.FindRoom(request.room)->number, request_id, true);
  Queue(table_.AddItem(watch, {}));
  return std::nullopt;
}

std::optional<Refusal> Watches::Unwatch(Subscriber* subscriber, uint32_t watch_id) {
  const uint32_t watch =
      subscriber->watcher == 0 ? 0 : table_.FindWatch(subscriber->watcher, watch_id);
  if (watch == 0) {
    return Refuse(ErrorCode::kNotFound, "there is no watch of the id " + std::to_string(watch_id));
  }
  table_.ForgetWatch(watch);
  tasks_.push_back({TaskKind::kDropWatch, watch, table_.watch(watch).serial});
  return std::nullopt;
}

void Watches::OnGone(Subscriber* subscriber) {
  if (subscriber->watcher == 0) return;
  const uint32_t watcher = std::exchange(subscriber->watcher, 0);
  table_.watcher(watcher).subscriber = nullptr;
  tasks_.push_back({TaskKind::kDropWatcher, watcher});
}

void Watches::EndAll(const Refusal& refusal) {
  for (uint32_t handle = 1; handle <= table_.watch_capacity(); ++handle) {
    const net::Watch& watch = table_.watch(handle);
    if (watch.watcher == 0 || watch.room == 0) continue;
    Subscriber* const subscriber = table_.watcher(watch.watcher).subscriber;
    if (subscriber == nullptr) continue;
    protocol::AppendFrame(OperationOf(watch), FrameKind::kEnd, watch.request_id, refusal,
                          subscriber->Marked(marks_.last_sequence()));
    table_.ForgetWatch(handle);
    tasks_.push_back({TaskKind::kDropWatch, handle, watch.serial});
  }
}

// ---- what the desk tells ----

void Watches::OnEffects(const Effects& effects) {
  if (table_.item_count() == 0) return;
  for (size_t i = 0; i < effects.visitors.size(); ++i) {
    const VisitorEffect& effect = effects.visitors[i];
    if (table_.room_item_count() > 0 && table_.FirstRoomItem(effect.room) != 0) {
      CountsChanged(effect.room);
      Gather(effects, i);
    }
    const bool ended = effect.state == State::kEnded && effect.memory != kNoHandle;
    // Of a room that the same record took away its task tells.
    if (!ended &&
        (!engine_.visitor(effect.visitor).live() || engine_.RoomAt(effect.room) == nullptr)) {
      continue;
    }
    const std::string_view id =
        ended ? engine_.memory(effect.memory).id.view() : engine_.visitor(effect.visitor).id.view();
    for (uint32_t item = table_.FirstItem(effect.room, id); item != 0;) {
      const uint32_t next = table_.item(item).of_target.next;
      const Subscriber* subscriber = table_.watcher_of(item).subscriber;
      if (subscriber != nullptr && table_.watch(table_.item(item).watch).room != 0) {
        // Each change of state is told, also of one that does not last until the turn's end. Who
        // has no room is told later, what is then known; so is who has yet to be told anything.
        if (!subscriber->has_room() || !(ended || table_.item(item).told)) {
          Queue(item);
        } else if (ended) {
          PushVisitor(item, desk_->DescribeEnded(effect.memory));
        } else {
          PushVisitor(item, desk_->DescribePresent(effect.visitor));
        }
      }
      item = next;
    }
  }
  for (const RoomEffect& effect : effects.rooms) {
    if (table_.FirstWatch(effect.room) == 0) continue;
    if (effect.gone) {
      tasks_.push_back({TaskKind::kRoomGone, effect.room});
    } else {
      RoomChanged(effect.room);
    }
  }
}

bool Watches::IsWatched(uint32_t room, uint32_t visitor) const {
  if (table_.item_count() == 0) return false;
  const std::string_view id = engine_.visitor(visitor).id.view();
  for (uint32_t item = table_.FirstItem(room, id); item != 0;
       item = table_.item(item).of_target.next) {
    const net::Watch& watch = table_.watch(table_.item(item).watch);
    if (watch.room != 0 && table_.watcher(watch.watcher).subscriber != nullptr) return true;
  }
  return false;
}

void Watches::Queue(uint32_t item) {
  table_.MarkDirty(item);
  const uint32_t handle = table_.watch(table_.item(item).watch).watcher;
  Watcher& watcher = table_.watcher(handle);
  if (watcher.queued || watcher.blocked || watcher.subscriber == nullptr) return;
  watcher.queued = true;
  queue_.push_back(handle);
}

// ---- a turn ----

void Watches::BeginTurn(int64_t loop_ms) {
  loop_ms_ = loop_ms;
  push_budget_ = limits::kPushesPerTurn;
  event_budget_ = limits::kRoomEventsToldPerTurn;
  if (!blocked_.empty() && loop_ms_ >= unblock_ms_) {
    unblock_ms_ = loop_ms_ + kUnblockMs;
    std::erase_if(blocked_, [this](uint32_t handle) {
      Watcher& watcher = table_.watcher(handle);
      if (watcher.subscriber != nullptr && !watcher.subscriber->has_room()) return false;
      watcher.blocked = false;
      watcher.queued = true;
      queue_.push_back(handle);
      return true;
    });
  }
  size_t steps = limits::kWatchStepsPerTurn;
  while (!tasks_.empty() && steps > 0) {
    const Task task = tasks_.front();
    if (!Run(task, &steps)) break;
    tasks_.pop_front();
  }
  due_.clear();
  if (queue_.size() < limits::kPushesPerTurn) {
    table_.PopDue(loop_ms_, limits::kPushesPerTurn, &due_);
  }
  for (const uint32_t item : due_) Queue(item);
}

void Watches::Push() {
  while (push_budget_ > 0 && !queue_.empty()) {
    const uint32_t handle = queue_.front();
    queue_.pop_front();
    Watcher& watcher = table_.watcher(handle);
    size_t left = std::min(push_budget_, kPushesAtOnce);
    for (; left > 0 && watcher.dirty.first != 0 && watcher.subscriber != nullptr &&
           watcher.subscriber->has_room();
         --left, --push_budget_) {
      PushItem(watcher.dirty.first);
    }
    if (watcher.dirty.first == 0 || watcher.subscriber == nullptr) {
      watcher.queued = false;
    } else if (watcher.subscriber->has_room()) {
      queue_.push_back(handle);
    } else {
      watcher.queued = false;
      watcher.blocked = true;
      blocked_.push_back(handle);
    }
  }
  // At the end, since a look at somebody can find that their time is over.
  PushEvents();
}

int64_t Watches::NextDueMs() const {
  int64_t due_ms = table_.NextDue();
  if (!blocked_.empty()) due_ms = std::min(due_ms, unblock_ms_);
  return due_ms;
}

void Watches::PushItem(uint32_t item) {
  table_.ClearDirty(item);
  const net::Watch& watch = table_.watch(table_.item(item).watch);
  if (watch.room == 0) return;
  const Room* room = engine_.RoomAt(watch.room);
  if (room == nullptr || room->dropped) return;  // its task comes to it
  if (watch.whole_room) {
    PushRoom(item, *room);
    return;
  }
  // Looking can find that somebody's time is over, and the end is then pushed from within.
  const std::string id(table_.visitor_of(item));
  auto answer = desk_->Look(room->name, id);
  if (!table_.live(item)) return;
  if (auto* refusal = std::get_if<Refusal>(&answer)) {
    PushLast(item, std::move(*refusal));
  } else {
    PushVisitor(item, std::get<VisitorReply>(std::move(answer)));
  }
}

void Watches::PushVisitor(uint32_t handle, VisitorReply reply) {
  WatchItem& item = table_.item(handle);
  const auto state = static_cast<uint8_t>(reply.state);
  const auto mode = static_cast<uint8_t>(reply.mode.value_or(protocol::Mode{}));
  const auto reason = static_cast<uint8_t>(reply.reason.value_or(Reason{}));
  const uint64_t ahead = reply.ahead.value_or(0);
  const uint64_t at_ms = reply.at_ms.value_or(0);
  const bool news = !item.told || item.told_state != state || item.told_mode != mode ||
                    item.told_reason != reason || item.told_ahead != ahead ||
                    item.told_at_ms != at_ms;
  const bool waiting = reply.state == State::kWaiting;
  const bool ended = reply.state == State::kEnded;
  table_.File(handle, waiting ? loop_ms_ + PositionPushMs(ahead) : TimingWheel::kNever);
  if (news) {
    item.told = true;
    item.told_state = state;
    item.told_mode = mode;
    item.told_reason = reason;
    item.told_ahead = ahead;
    item.told_at_ms = at_ms;
    push_.reply = std::move(reply);
    push_.refusal.reset();
    SendPush(handle);
  }
  if (ended) Remove(handle);
}

void Watches::PushLast(uint32_t item, Refusal refusal) {
  push_.refusal = std::move(refusal);
  push_.reply.reset();
  SendPush(item);
  Remove(item);
}

void Watches::SendPush(uint32_t item) {
  const net::Watch& watch = table_.watch(table_.item(item).watch);
  push_.visitor = table_.visitor_of(item);
  protocol::AppendFrame(OperationOf(watch), FrameKind::kPush, watch.request_id, push_,
                        table_.watcher(watch.watcher).subscriber->Marked(marks_.last_sequence()));
}

void Watches::Remove(uint32_t item) {
  const uint32_t watch = table_.item(item).watch;
  table_.FreeItem(item);
  if (table_.watch(watch).item_count > 0) return;
  End(watch, Refuse(ErrorCode::kNotFound, "nobody is left whom this watch follows"));
}

void Watches::End(uint32_t handle, const Refusal& refusal) {
  const net::Watch& watch = table_.watch(handle);
  if (Subscriber* const subscriber = table_.watcher(watch.watcher).subscriber) {
    protocol::AppendFrame(OperationOf(watch), FrameKind::kEnd, watch.request_id, refusal,
                          subscriber->Marked(marks_.last_sequence()));
  }
  table_.FreeWatch(handle);
}

// ---- what takes more than a turn ----

bool Watches::Run(const Task& task, size_t* steps) {
  switch (task.kind) {
    case TaskKind::kDropWatcher: {
      // It may stand in the queue or among the blocked still, and those are by handle.
      Watcher& watcher = table_.watcher(task.handle);
      while (watcher.watches.first != 0) {
        const uint32_t watch = watcher.watches.first;
        if (!FreeItems(watch, steps)) return false;
        table_.FreeWatch(watch);
      }
      if (watcher.queued) std::erase(queue_, task.handle);
      if (watcher.blocked) std::erase(blocked_, task.handle);
      table_.FreeWatcher(task.handle);
      return true;
    }
    case TaskKind::kDropWatch:
      if (table_.watch(task.handle).watcher == 0 ||
          table_.watch(task.handle).serial != task.serial) {
        return true;
      }
      if (!FreeItems(task.handle, steps)) return false;
      table_.FreeWatch(task.handle);
      return true;
    case TaskKind::kRoomGone:
      return EndRoom(task.handle, steps);
    case TaskKind::kRetell: {
      net::Watch& watch = table_.watch(task.handle);
      if (watch.watcher == 0 || watch.serial != task.serial) return true;
      while (watch.task_item != 0 && watch.room != 0) {
        if (*steps == 0) return false;
        --*steps;
        Queue(watch.task_item);
        watch.task_item = table_.item(watch.task_item).of_watch.next;
      }
      watch.queued = false;
      return true;
    }
  }
  return true;
}

bool Watches::FreeItems(uint32_t watch, size_t* steps) {
  while (table_.watch(watch).item_count > 0) {
    if (*steps == 0) return false;
    --*steps;
    const uint32_t item = table_.watch(watch).items.first;
    if (table_.item(item).target != 0) {
      desk_->HearFrom(table_.watch(watch).room, table_.visitor_of(item));
    }
    table_.FreeItem(item);
  }
  if (*steps > 0) --*steps;
  return true;
}

bool Watches::EndRoom(uint32_t room, size_t* steps) {
  while (const uint32_t handle = table_.FirstWatch(room)) {
    net::Watch& watch = table_.watch(handle);
    const Subscriber* subscriber = table_.watcher(watch.watcher).subscriber;
    while (watch.item_count > 0) {
      if (*steps == 0) return false;
      --*steps;
      if (subscriber != nullptr && !watch.whole_room && subscriber->has_room()) {
        push_.refusal = RoomGone();
        push_.reply.reset();
        SendPush(watch.items.first);
      }
      table_.FreeItem(watch.items.first);
    }
    End(handle, RoomGone());
  }
  return true;
}

void Watches::check_invariants() const {
  table_.check_invariants();
  for (const uint32_t handle : queue_) CHECK(table_.watcher(handle).queued);
  for (const uint32_t handle : blocked_) CHECK(table_.watcher(handle).blocked);
  size_t gathered = 0;
  for (const auto& one : gathered_) gathered += one.second.size();
  CHECK_EQ(gathered, gathered_count_);
  CHECK_LT(gathered, limits::kRoomEventsGatheredMax);
}

}  // namespace anteroom::net
