// From the engine's state to replies.

#include <algorithm>

#include "server/engine/desk.h"

namespace anteroom {

using protocol::ErrorCode;
using protocol::Mode;
using protocol::Reason;
using protocol::Refusal;
using protocol::Refuse;
using protocol::State;
using protocol::VisitorReply;

namespace {

constexpr uint64_t kPollMsMin = 1000;
constexpr uint64_t kPollMsMax = 30'000;
constexpr uint64_t kPollPausedMs = 5000;

// How soon to ask again: a tenth of the wait where it is known, else growing with the distance;
// never so late that a room that asks for signs of life would miss one.
uint32_t PollAfterMs(const Policy& policy, uint64_t ahead, const std::optional<uint64_t>& eta_ms) {
  uint64_t poll_ms = eta_ms ? *eta_ms / 10 : kPollMsMin + std::min(ahead, kPollMsMax) * 10;
  if (!policy.admits()) poll_ms = std::max(poll_ms, kPollPausedMs);
  if (policy.mode == Mode::kClosed || policy.sold_out()) poll_ms = kPollMsMax;
  poll_ms = std::clamp(poll_ms, kPollMsMin, kPollMsMax);
  if (policy.waiting_ttl_ms != Policy::kNoDuration) {
    poll_ms = std::min(poll_ms, static_cast<uint64_t>(policy.waiting_ttl_ms + 2) / 3);
  }
  return static_cast<uint32_t>(poll_ms);
}

}  // namespace

void Desk::DescribeWaiting(const Room& room, const Visitor& entry, uint64_t ahead,
                           VisitorReply* reply) const {
  reply->state = State::kWaiting;
  reply->ahead = ahead;
  reply->position = ahead + 1;
  reply->waiting = room.line.size();
  if (room.policy.admits() && !room.policy.sold_out() && room.speed != nullptr) {
    if (const auto estimate = room.speed->Estimate(now_ms_, ahead)) {
      reply->eta_ms = estimate->eta_ms;
      reply->eta_low_ms = estimate->low_ms;
      reply->eta_high_ms = estimate->high_ms;
    }
  }
  reply->poll_after_ms = PollAfterMs(room.policy, ahead, reply->eta_ms);
  if (room.policy.mode == Mode::kPaused) reply->reason = Reason::kPaused;
  if (room.policy.sold_out()) reply->reason = Reason::kSoldOut;
  if (room.policy.mode == Mode::kClosed) reply->reason = Reason::kClosed;
  reply->mode = room.policy.mode;
  reply->arrival = entry.arrival.Get();
  reply->at_ms = entry.at_ms.Get();
}

void Desk::Describe(const Room& room, uint32_t visitor, VisitorReply* reply) const {
  const Visitor& entry = engine_.visitor(visitor);
  if (entry.waiting()) {
    DescribeWaiting(room, entry, engine_.AheadOf(entry), reply);
    return;
  }
  const Session& session = engine_.SessionOf(entry);
  reply->state = entry.admitted() ? State::kAdmitted : State::kActive;
  reply->token = TokenOf(session.admission, room.name, entry.id.view());
  const int64_t deadline_ms =
      session.sliding() ? heard_.DeadlineOf(visitor, now_ms_) : session.deadline_ms;
  if (deadline_ms != kNever) {
    reply->expires_in_ms = static_cast<uint64_t>(std::max<int64_t>(0, deadline_ms - now_ms_));
  }
  reply->mode = room.policy.mode;
  reply->arrival = entry.arrival.Get();
  reply->admission = session.admission;
  reply->at_ms = entry.at_ms.Get();
}

VisitorReply Desk::DescribePresent(uint32_t visitor) const {
  VisitorReply reply;
  Describe(*engine_.RoomAt(engine_.visitor(visitor).room), visitor, &reply);
  return reply;
}

VisitorReply Desk::DescribeEnded(uint32_t memory) const {
  const Memory& ended = engine_.memory(memory);
  VisitorReply reply;
  reply.state = State::kEnded;
  reply.reason = ended.reason;
  reply.arrival = ended.arrival;
  if (ended.admission != 0) reply.admission = ended.admission;
  reply.at_ms = static_cast<uint64_t>(ended.at_ms);
  if (ended.late != 0) reply.late = true;
  return reply;
}

protocol::RoomEvent Desk::DescribeEvent(const Effects& effects, size_t index) const {
  const VisitorEffect& effect = effects.visitors[index];
  protocol::RoomEvent event;
  event.state = effect.state;
  event.at_ms = static_cast<uint64_t>(engine_.now_ms());
  const bool waiting = effect.state == State::kWaiting;
  uint32_t memory = effect.memory;
  if (effect.state != State::kEnded) {
    const Visitor& entry = engine_.visitor(effect.visitor);
    if (entry.live()) {
      event.visitor = entry.id.view();
      if (!waiting) {
        // One record never lets somebody in and takes the admission back.
        if (entry.inside()) event.admission = engine_.SessionOf(entry).admission;
        return event;
      }
      event.arrival = entry.arrival.Get();
      event.lane = entry.lane;
      if (entry.requeues > 0) event.reason = Reason::kNoShow;
      return event;
    }
    // The same record ended them further on: what is remembered of that knows who it was.
    for (size_t later = index + 1; memory == kNoHandle; ++later) {
      CHECK_LT(later, effects.visitors.size());
      if (effects.visitors[later].visitor == effect.visitor)
        memory = effects.visitors[later].memory;
    }
  }
  const Memory& ended = engine_.memory(memory);
  event.visitor = ended.id.view();
  if (waiting) {
    // No command makes somebody join and end: this one was put back in line.
    event.arrival = ended.arrival;
    event.lane = ended.lane;
    event.reason = Reason::kNoShow;
    return event;
  }
  if (effect.state == State::kEnded) event.reason = ended.reason;
  if (ended.admission != 0) event.admission = ended.admission;
  return event;
}

Answer<VisitorReply> Desk::Present(const Seen& seen, std::string_view id) const {
  if (seen.visitor != kNoHandle) return Described(*seen.room, seen.visitor);
  const uint32_t memory = engine_.FindMemory(seen.room->number, id, now_ms_);
  if (memory != kNoHandle) return DescribeEnded(memory);
  return Refuse(ErrorCode::kNotFound,
                "nobody with this id is in the room \"" + seen.room->name + "\"");
}

Answer<VisitorReply> Desk::Look(std::string_view room, std::string_view visitor) {
  const Seen seen = See(room, visitor);
  if (seen.room == nullptr) return *seen.refusal;
  return Present(seen, visitor);
}

Refusal Desk::EndedRefusal(uint32_t memory) const {
  const Memory& ended = engine_.memory(memory);
  Refusal refusal = Refuse(ErrorCode::kExpired, "this admission has ended (" +
                                                    std::string(protocol::NameOf(ended.reason)) +
                                                    "); join again for a new place");
  refusal.reason = ended.reason;
  return refusal;
}

protocol::Counts Desk::CountsOf(const Room& room) const {
  protocol::Counts counts = CountsFrom(room.totals);
  counts.waiting = room.line.size();
  counts.admitted = room.admitted;
  counts.active = room.active;
  counts.occupied = room.occupied();
  if (room.policy.stock_said) {
    counts.sold_units_total = room.sold_units;
    counts.oversold_units_total = room.oversold_units;
  }
  if (const auto found = meters_.find(room.number); found != meters_.end()) {
    AddRefused(found->second, &counts);
  }
  return counts;
}

protocol::Counts Desk::CountsFrom(const Totals& totals) {
  protocol::Counts counts;
  counts.joined_total = totals.joined;
  counts.admitted_total = totals.admitted;
  counts.claimed_total = totals.claimed;
  counts.completed_total = totals.completed;
  counts.cancelled_total = totals.cancelled;
  counts.no_show_total = totals.no_show;
  counts.expired_total = totals.expired;
  counts.left_total = totals.left;
  counts.revoked_total = totals.revoked;
  return counts;
}

void Desk::AddRefused(const RoomMeters& meters, protocol::Counts* counts) {
  for (size_t error = 0; error < meters.refused.size(); ++error) {
    if (meters.refused[error] == 0) continue;
    counts->refused_total.push_back({static_cast<ErrorCode>(error), meters.refused[error]});
  }
}

protocol::RoomReply Desk::DescribeRoom(const Room& room) const {
  protocol::RoomReply reply;
  reply.room = room.name;
  reply.revision = room.revision;
  reply.settings = SettingsOf(room.policy);
  reply.counts = CountsOf(room);
  return reply;
}

Answer<protocol::RoomReply> Desk::LookAtRoom(std::string_view name) {
  if (const Room* room = engine_.FindRoom(name); room != nullptr) return DescribeRoom(*room);
  std::string wrong = protocol::CheckRoomName(name);
  if (!wrong.empty()) return Refuse(ErrorCode::kInvalid, std::move(wrong));
  return Refuse(ErrorCode::kNotFound, "there is no room \"" + std::string(name) + "\"");
}

}  // namespace anteroom
