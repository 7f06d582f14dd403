#include "client/testing/internal/watch_book.h"

#include <algorithm>

#include "client/testing/internal/limits.h"
#include "protocol/frame.h"
#include "server/base/check.h"

namespace anteroom::testing {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Refusal;
using protocol::Refuse;
using protocol::VisitorReply;

namespace {

Refusal RoomGone() {
  return Refuse(ErrorCode::kNotFound, "the room was reset or deleted");
}

}  // namespace

// ---- requests ----

std::optional<Refusal> WatchBook::CheckNew(WatchKey key, size_t count) const {
  if (watches_.contains(key)) {
    return Refuse(ErrorCode::kConflict,
                  "there is a live watch of the id " + std::to_string(key.second));
  }
  if (items_.size() + count <= kWatchedMax) return std::nullopt;
  Refusal refusal = Refuse(ErrorCode::kUnavailable, "the test daemon watches as many as it may: " +
                                                        std::to_string(kWatchedMax));
  refusal.reason = protocol::Reason::kTooManyWatches;
  return refusal;
}

void WatchBook::Add(WatchKey key, Operation operation, std::string_view room,
                    const std::vector<std::string_view>& visitors) {
  const uint32_t number = engine_.FindRoom(room)->number;
  OneWatch& watch = watches_[key];
  watch.operation = operation;
  for (const std::string_view visitor : visitors) {
    watch.items.push_back(items_.emplace(Target(number, visitor), Item{key, false, std::nullopt}));
  }
  begun_.insert(key);
}

std::optional<Refusal> WatchBook::Watch(uint64_t connection, uint32_t request_id,
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
  const WatchKey key(connection, request_id);
  if (auto refusal = CheckNew(key, count)) return refusal;
  Add(key, Operation::kWatch, request.room, request.visitors);
  return std::nullopt;
}

std::optional<Refusal> WatchBook::WatchRoom(uint64_t connection, uint32_t request_id,
                                            const protocol::RoomRequest& request) {
  auto room = desk_->LookAtRoom(request.room);
  if (auto* refusal = std::get_if<Refusal>(&room)) return std::move(*refusal);
  const WatchKey key(connection, request_id);
  if (auto refusal = CheckNew(key, 1)) return refusal;
  Add(key, Operation::kWatchRoom, request.room, {std::string_view()});
  return std::nullopt;
}

std::optional<Refusal> WatchBook::Unwatch(uint64_t connection, uint32_t watch_id) {
  const auto watch = watches_.find({connection, watch_id});
  if (watch == watches_.end()) {
    return Refuse(ErrorCode::kNotFound, "there is no watch of the id " + std::to_string(watch_id));
  }
  EraseWatch(watch);
  return std::nullopt;
}

void WatchBook::OnGone(uint64_t connection) {
  for (auto watch = watches_.lower_bound({connection, 0});
       watch != watches_.end() && watch->first.first == connection;) {
    EraseWatch(watch++);
  }
}

void WatchBook::EraseWatch(std::map<WatchKey, OneWatch>::iterator watch) {
  for (const Items::iterator item : watch->second.items) items_.erase(item);
  begun_.erase(watch->first);
  with_over_.erase(watch->first);
  watches_.erase(watch);
}

// ---- the desk tells ----

void WatchBook::OnEffects(const Effects& effects) {
  if (items_.empty()) return;
  for (size_t i = 0; i < effects.visitors.size(); ++i) {
    const VisitorEffect& effect = effects.visitors[i];
    changed_rooms_.insert(effect.room);
    if (items_.contains(Target(effect.room, {}))) {
      auto& events = events_[effect.room];
      events.push_back(desk_->DescribeEvent(effects, i));
      if (events.size() == protocol::kRoomEventsMax) PushEvents(effect.room);
    }
    const bool ended = effect.state == protocol::State::kEnded && effect.memory != kNoHandle;
    if (!ended && !engine_.visitor(effect.visitor).live()) continue;
    const std::string_view id =
        ended ? engine_.memory(effect.memory).id.view() : engine_.visitor(effect.visitor).id.view();
    Target target(effect.room, id);
    const auto [first, last] = items_.equal_range(target);
    if (first == last) continue;
    if (!ended) {
      changed_.insert(std::move(target));
      continue;
    }
    for (auto item = first; item != last; ++item) Tell(item, desk_->DescribeEnded(effect.memory));
  }
  for (const RoomEffect& effect : effects.rooms) {
    (effect.gone ? gone_rooms_ : changed_rooms_).insert(effect.room);
  }
}

bool WatchBook::IsWatched(uint32_t room, uint32_t visitor) const {
  return items_.contains(Target(room, engine_.visitor(visitor).id.view()));
}

// ---- pushes ----

void WatchBook::PushStates() {
  // A look can find that somebody's time is over, and then more has changed.
  while (!changed_.empty()) {
    const std::set<Target> changed = std::exchange(changed_, {});
    for (const Target& target : changed) {
      const auto [first, last] = items_.equal_range(target);
      for (auto item = first; item != last; ++item) Push(item);
    }
  }
  while (!events_.empty()) PushEvents(events_.begin()->first);
  EndRooms();
  RemoveOver();
}

void WatchBook::PushAll() {
  // In the order of their requests.
  for (const WatchKey& key : std::exchange(begun_, {})) {
    for (const Items::iterator item : watches_.at(key).items) {
      Push(item);
    }
  }
  PushStates();
  while (!changed_rooms_.empty()) {
    for (const uint32_t room : std::exchange(changed_rooms_, {})) {
      for (auto item = items_.lower_bound(Target(room, {}));
           item != items_.end() && item->first.first == room; ++item) {
        Push(item);
      }
    }
    PushStates();
  }
}

void WatchBook::Push(Items::iterator item) {
  const Room* room = engine_.RoomAt(item->first.first);
  if (room == nullptr || room->dropped || item->second.over) return;
  if (item->first.second.empty()) {
    PushRoom(item, *room);
  } else {
    PushVisitor(item, *room);
  }
}

void WatchBook::PushVisitor(Items::iterator item, const Room& room) {
  auto answer = desk_->Look(room.name, item->first.second);
  if (auto* refusal = std::get_if<Refusal>(&answer)) {
    TellLast(item, std::move(*refusal));
  } else {
    Tell(item, std::get<VisitorReply>(std::move(answer)));
  }
}

void WatchBook::PushRoom(Items::iterator item, const Room& room) {
  PushEvents(room.number);
  auto answer = desk_->LookAtRoom(room.name);
  auto* reply = std::get_if<protocol::RoomReply>(&answer);
  if (reply == nullptr) return;
  protocol::RoomPush push;
  push.room = std::move(*reply);
  SendRoomPush(item, push);
  item->second.told = Told{};
}

void WatchBook::PushEvents(uint32_t room) {
  auto events = events_.extract(room);
  if (events.empty()) return;
  protocol::RoomPush push;
  push.events = std::move(events.mapped());
  const auto [first, last] = items_.equal_range(Target(room, {}));
  for (auto item = first; item != last; ++item) {
    // The room as it is, which is yet to be told, has them in it.
    if (item->second.told) SendRoomPush(item, push);
  }
}

void WatchBook::SendRoomPush(Items::iterator item, const protocol::RoomPush& push) {
  std::string* const output = outputs_.OutputOf(item->second.watch.first);
  if (output == nullptr) return;
  protocol::AppendFrame(static_cast<uint8_t>(Operation::kWatchRoom), FrameKind::kPush,
                        item->second.watch.second, push, output);
}

void WatchBook::Tell(Items::iterator item, VisitorReply reply) {
  if (item->second.over) return;
  const Told told{reply.state, reply.mode, reply.reason, reply.ahead, reply.at_ms};
  item->second.over = reply.state == protocol::State::kEnded;
  if (item->second.over) with_over_.insert(item->second.watch);
  if (item->second.told == told) return;
  item->second.told = told;
  protocol::VisitorPush push;
  push.reply = std::move(reply);
  Send(item, push);
}

void WatchBook::TellLast(Items::iterator item, Refusal refusal) {
  if (item->second.over) return;
  item->second.over = true;
  with_over_.insert(item->second.watch);
  protocol::VisitorPush push;
  push.refusal = std::move(refusal);
  Send(item, push);
}

void WatchBook::Send(Items::iterator item, const protocol::VisitorPush& push) {
  std::string* const output = outputs_.OutputOf(item->second.watch.first);
  if (output == nullptr) return;
  protocol::VisitorPush named = push;
  named.visitor = item->first.second;
  protocol::AppendFrame(static_cast<uint8_t>(Operation::kWatch), FrameKind::kPush,
                        item->second.watch.second, named, output);
}

// ---- ends ----

void WatchBook::End(WatchKey key, const Refusal& refusal) {
  const auto watch = watches_.find(key);
  if (std::string* const output = outputs_.OutputOf(key.first)) {
    protocol::AppendFrame(static_cast<uint8_t>(watch->second.operation), FrameKind::kEnd,
                          key.second, refusal, output);
  }
  EraseWatch(watch);
}

void WatchBook::EndRooms() {
  for (const uint32_t room : std::exchange(gone_rooms_, {})) {
    std::set<WatchKey> ended;
    for (auto item = items_.lower_bound(Target(room, {}));
         item != items_.end() && item->first.first == room; ++item) {
      ended.insert(item->second.watch);
      if (!item->first.second.empty()) TellLast(item, RoomGone());
    }
    for (const WatchKey& key : ended) End(key, RoomGone());
  }
}

void WatchBook::RemoveOver() {
  for (const WatchKey& key : std::exchange(with_over_, {})) {
    std::erase_if(watches_.at(key).items, [this](Items::iterator item) {
      const bool over = item->second.over;
      if (over) items_.erase(item);
      return over;
    });
    if (watches_.at(key).items.empty()) {
      End(key, Refuse(ErrorCode::kNotFound, "nobody is left whom this watch follows"));
    }
  }
}

void WatchBook::check_invariants() const {
  size_t items = 0;
  for (const auto& [key, watch] : watches_) {
    CHECK(!watch.items.empty());
    items += watch.items.size();
    for (const Items::iterator item : watch.items) {
      CHECK(item->second.watch == key);
      CHECK(!item->second.over);
    }
  }
  CHECK_EQ(items, items_.size());
  CHECK(with_over_.empty());
  CHECK(events_.empty());
}

}  // namespace anteroom::testing
