#include "client/watch_set.h"

#include <algorithm>
#include <utility>

#include "client/check.h"
#include "client/failure.h"
#include "client/request_frame.h"

namespace anteroom::client {

namespace {

using protocol::FrameKind;
using protocol::Operation;

// When a daemon that is starting or stopping is asked again, unless it says.
constexpr int64_t kRetryMs = 500;

// Instead of a watch: its last event has been told, the daemon's end is still to come.
constexpr uint64_t kEnding = 0;

}  // namespace

PendingWatch PendingWatch::Visitors(std::string_view room,
                                    std::span<const std::string_view> visitors,
                                    OnVisitorEvent on_event) {
  PendingWatch watch;
  watch.room = room;
  watch.visitors.assign(visitors.begin(), visitors.end());
  watch.on_visitor = std::move(on_event);
  return watch;
}

PendingWatch PendingWatch::Room(std::string_view room, OnRoomEvent on_event) {
  PendingWatch watch;
  watch.room = room;
  watch.on_room = std::move(on_event);
  return watch;
}

void PendingWatch::End(const absl::Status& why) const {
  if (on_visitor) {
    VisitorEvent event;
    event.refusal = RefusalOf(why);
    event.last = true;
    event.status = why;
    on_visitor(event);
  } else {
    RoomEvent event;
    event.refusal = RefusalOf(why);
    event.last = true;
    event.status = why;
    on_room(event);
  }
}

absl::Status PendingWatch::Encode(std::string* frame) const {
  if (on_room) return EncodeRequest(Operation::kWatchRoom, protocol::RoomRequest{room}, frame);
  protocol::WatchRequest request{room, {visitors.begin(), visitors.end()}};
  return EncodeRequest(Operation::kWatch, request, frame);
}

WatchSet::WatchSet(const std::shared_ptr<LoopRef>& ref, Wire* wire, bool resumes)
    : wire_(wire), resumes_(resumes), retry_timer_(ref, [this] { SendUnsent(); }) {}

void WatchSet::Add(WatchHandle handle, PendingWatch watch) {
  auto added = std::make_shared<PendingWatch>(std::move(watch));
  CLIENT_CHECK(watches_.emplace(handle.id, added).second);
  if (wire_->up()) Send(handle.id, *added);
}

void WatchSet::Remove(WatchHandle handle) {
  const auto found = watches_.find(handle.id);
  if (found == watches_.end()) return;
  const std::shared_ptr<PendingWatch> watch = found->second;
  const uint32_t request_id = watch->request_id;
  watches_.erase(found);
  if (request_id == 0) return;
  by_request_id_.erase(request_id);
  SendUnwatch(request_id);
}

// The id stays taken until the daemon has answered: until then pushes may come under it.
void WatchSet::SendUnwatch(uint32_t request_id) {
  std::string frame;
  CLIENT_CHECK(
      EncodeRequest(Operation::kUnwatch, protocol::UnwatchRequest{request_id}, &frame).ok());
  auto done = [wire = wire_, request_id](const absl::StatusOr<protocol::Empty>& answer) {
    const std::optional<Failure> failure = FailureOf(answer.status());
    // Without an answer the id is free only when the connection is gone, and then it is already.
    if (answer.ok() || failure->cause == FailureCause::kRefused) wire->ReleaseId(request_id);
  };
  wire_->SendOwnCall(
      Operation::kUnwatch, frame,
      std::make_unique<TypedCall<Operation::kUnwatch, decltype(done)>>(std::move(done)));
}

void WatchSet::Send(uint64_t id, PendingWatch& watch) {
  std::string frame;
  CLIENT_CHECK(watch.Encode(&frame).ok());
  watch.request_id = wire_->ReserveId();
  watch.begun = false;
  by_request_id_[watch.request_id] = id;
  wire_->SendFrame(watch.request_id, frame);
}

void WatchSet::SendUnsent() {
  if (!wire_->up()) return;
  for (auto& [id, watch] : watches_) {
    if (watch->request_id == 0) Send(id, *watch);
  }
}

void WatchSet::OnUp() {
  SendUnsent();
}

void WatchSet::OnLost() {
  by_request_id_.clear();
  for (auto& [id, watch] : watches_) watch->request_id = 0;
}

void WatchSet::OnFrame(const protocol::FrameHeader& header, std::string_view payload) {
  const auto found = by_request_id_.find(header.request_id);
  if (found == by_request_id_.end()) return;  // ended by Unwatch, which the daemon has yet to see
  const uint64_t id = found->second;
  if (id == kEnding) {
    if (header.kind != FrameKind::kEnd) return;
    by_request_id_.erase(found);
    return wire_->ReleaseId(header.request_id);
  }
  const std::shared_ptr<PendingWatch> watch = watches_.at(id);
  if (header.operation != static_cast<uint8_t>(watch->operation())) {
    return wire_->BreakLink("the daemon answered a watch with something else");
  }
  switch (header.kind) {
    case FrameKind::kReply:
      return;
    case FrameKind::kPush:
      return OnPush(id, watch, payload);
    case FrameKind::kRefusal:
    case FrameKind::kEnd:
      return OnEnd(id, watch, payload);
    case FrameKind::kRequest:
      return wire_->BreakLink("the daemon sent a request");
  }
}

void WatchSet::OnPush(uint64_t id, const std::shared_ptr<PendingWatch>& watch,
                      std::string_view payload) {
  if (watch->on_visitor) return OnVisitorPush(id, watch, payload);
  OnRoomPush(watch, payload);
}

void WatchSet::OnRoomPush(const std::shared_ptr<PendingWatch>& watch, std::string_view payload) {
  protocol::RoomPush push;
  if (!protocol::Decode(payload, &push)) {
    return wire_->BreakLink("the daemon's push cannot be read");
  }
  RoomEvent event;
  event.begins = !std::exchange(watch->begun, true);
  event.missed = push.missed.value_or(0);
  event.events = std::move(push.events);
  event.reply = std::move(push.room);
  watch->on_room(event);
}

void WatchSet::OnVisitorPush(uint64_t id, const std::shared_ptr<PendingWatch>& watch,
                             std::string_view payload) {
  protocol::VisitorPush push;
  if (!protocol::Decode(payload, &push) || push.reply.has_value() == push.refusal.has_value()) {
    return wire_->BreakLink("the daemon's push cannot be read");
  }
  VisitorEvent event;
  event.visitor = std::move(push.visitor);
  event.reply = std::move(push.reply);
  event.refusal = std::move(push.refusal);
  if (event.refusal.has_value()) event.status = RefusedStatus(*event.refusal);
  if (event.refusal.has_value() || event.reply->state == protocol::State::kEnded) {
    std::erase(watch->visitors, event.visitor);
    event.last = watch->visitors.empty();
  }
  if (event.last) {
    // The daemon's own end follows, and frees the id.
    by_request_id_[watch->request_id] = kEnding;
    watches_.erase(id);
  }
  watch->on_visitor(event);
}

void WatchSet::OnEnd(uint64_t id, const std::shared_ptr<PendingWatch>& watch,
                     std::string_view payload) {
  protocol::Refusal refusal;
  if (!protocol::Decode(payload, &refusal)) {
    return wire_->BreakLink("the daemon's refusal cannot be read");
  }
  by_request_id_.erase(watch->request_id);
  wire_->ReleaseId(watch->request_id);
  watch->request_id = 0;
  const absl::Status why = RefusedStatus(refusal);
  if (resumes_ && IsUnreachable(why)) {
    // A restart of the daemon, which whoever watches need not hear of.
    const auto retry_ms = std::min<uint64_t>(refusal.retry_after_ms.value_or(kRetryMs), 10'000);
    return retry_timer_.Start(static_cast<int64_t>(retry_ms));
  }
  watches_.erase(id);
  watch->End(why);
}

void WatchSet::EndAll(const absl::Status& why) {
  OnLost();
  std::map<uint64_t, std::shared_ptr<PendingWatch>> ended;
  ended.swap(watches_);
  for (auto& [id, watch] : ended) watch->End(why);
}

void WatchSet::check_invariants() const {
  size_t sent = 0;
  for (const auto& [id, watch] : watches_) {
    CLIENT_CHECK(static_cast<bool>(watch->on_visitor) != static_cast<bool>(watch->on_room));
    if (watch->request_id == 0) continue;
    ++sent;
    CLIENT_CHECK(wire_->up());
    const auto found = by_request_id_.find(watch->request_id);
    CLIENT_CHECK(found != by_request_id_.end() && found->second == id);
  }
  for (const auto& [request_id, id] : by_request_id_) sent += id == kEnding;
  CLIENT_CHECK(sent == by_request_id_.size());
}

}  // namespace anteroom::client
