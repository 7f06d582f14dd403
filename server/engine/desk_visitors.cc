// What visitors and the applications that serve them ask.

#include <utility>

#include "protocol/duration.h"
#include "server/base/limits.h"
#include "server/engine/desk.h"

namespace anteroom {

using protocol::ErrorCode;
using protocol::Mode;
using protocol::Outcome;
using protocol::Reason;
using protocol::Refusal;
using protocol::Refuse;
using protocol::VisitorReply;

namespace {

Refusal BadToken() {
  return Refuse(ErrorCode::kBadToken, "this is no token of this visitor in this room");
}

std::optional<Refusal> CheckBatch(size_t items) {
  if (items <= protocol::kBatchItemsMax) return std::nullopt;
  return Refuse(ErrorCode::kTooLarge, std::to_string(items) + " items in a batch, it takes " +
                                          std::to_string(protocol::kBatchItemsMax));
}

// In a room that is not there no token is good.
Refusal NoTokenOf(const Refusal& refusal) {
  return refusal.error == ErrorCode::kNotFound ? BadToken() : refusal;
}

}  // namespace

std::optional<Refusal> Desk::CheckNewcomer(const Room& room, std::string_view visitor,
                                           bool by_operator) const {
  if (room.policy.mode == Mode::kClosed) {
    return Refuse(ErrorCode::kClosed, "the room \"" + room.name + "\" is closed: no new places");
  }
  if (room.policy.sold_out() && !by_operator) {
    return Refuse(ErrorCode::kSoldOut, "the room \"" + room.name + "\" is sold out");
  }
  if (const auto until_ms = engine_.BlockedUntil(room.number, visitor, now_ms_)) {
    Refusal refusal =
        Refuse(ErrorCode::kBlocked, "kept out of the room \"" + room.name + "\" for another " +
                                        protocol::FormatDurationMs(*until_ms - now_ms_));
    refusal.retry_after_ms = static_cast<uint64_t>(*until_ms - now_ms_);
    return refusal;
  }
  if (engine_.roster().size() >= limits_.visitors || !engine_.HasPlaceForNewcomer()) {
    Refusal refusal = Refuse(ErrorCode::kUnavailable, "the daemon holds as many people as it may");
    refusal.reason = Reason::kTooManyVisitors;
    return refusal;
  }
  if (auto refusal = CheckMemory()) return refusal;
  if (by_operator || room.line.size() < room.policy.max_waiting) return std::nullopt;
  if (engine_.WouldAdmitNow(room, now_ms_)) return std::nullopt;
  Refusal refusal = Refuse(ErrorCode::kLineFull,
                           "the line of the room \"" + room.name +
                               "\" is full: " + std::to_string(room.line.size()) + " waiting");
  if (room.policy.admits() && room.speed != nullptr) {
    if (const auto estimate = room.speed->Estimate(now_ms_, 0)) {
      refusal.retry_after_ms = estimate->eta_ms;
    }
  }
  return refusal;
}

Answer<VisitorReply> Desk::Handle(const protocol::JoinRequest& request, bool enter) {
  Seen seen = See(request.room, request.visitor);
  if (seen.room == nullptr) return Refused(nullptr, *std::move(seen.refusal));
  const uint32_t room = seen.room->number;
  if (seen.visitor != kNoHandle) {
    const Visitor& entry = engine_.visitor(seen.visitor);
    if (enter && entry.admitted()) {
      if (auto refusal = CheckLogSpace(false)) return Refused(seen.room, *std::move(refusal));
      Record(command::Claim{room, request.visitor});
    } else if (entry.waiting()) {
      Hear(*seen.room, seen.visitor);
    }
    return Described(*seen.room, seen.visitor);
  }
  if (auto refusal = CheckLogSpace(true)) return Refused(seen.room, *std::move(refusal));
  if (auto refusal = CheckNewcomer(*seen.room, request.visitor, false)) {
    return Refused(seen.room, *std::move(refusal));
  }
  const uint8_t lane = request.lane.value_or(protocol::kLaneDefault);
  if (enter) {
    Record(command::Enter{room, request.visitor, lane});
  } else {
    Record(command::Join{room, request.visitor, lane});
  }
  seen.visitor = engine_.FindVisitor(room, request.visitor);
  return Described(*seen.room, seen.visitor);
}

Answer<VisitorReply> Desk::Handle(const protocol::StatusOperation& status) {
  const Seen seen = See(status.message.room, status.message.visitor);
  if (seen.room == nullptr) return Refused(nullptr, *seen.refusal);
  if (seen.visitor != kNoHandle) {
    if (engine_.visitor(seen.visitor).waiting()) Hear(*seen.room, seen.visitor);
    return Described(*seen.room, seen.visitor);
  }
  Answer<VisitorReply> answer = Present(seen, status.message.visitor);
  if (auto* refusal = std::get_if<Refusal>(&answer)) return Refused(seen.room, std::move(*refusal));
  return answer;
}

Answer<VisitorReply> Desk::Handle(const protocol::LeaveOperation& leave) {
  const auto& [room_name, visitor] = leave.message;
  Seen seen = See(room_name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, *std::move(seen.refusal));
  if (seen.visitor != kNoHandle) {
    if (engine_.visitor(seen.visitor).active()) {
      return Refused(seen.room, Refuse(ErrorCode::kConflict,
                                       "in session: an active visitor finishes, with the token"));
    }
    if (auto refusal = CheckLogSpace(false)) return Refused(seen.room, *std::move(refusal));
    Record(command::Leave{seen.room->number, visitor});
    seen.visitor = kNoHandle;
  }
  Answer<VisitorReply> answer = Present(seen, visitor);
  if (auto* refusal = std::get_if<Refusal>(&answer)) return Refused(seen.room, std::move(*refusal));
  return answer;
}

Answer<VisitorReply> Desk::Handle(const protocol::VerifyOperation& verify) {
  const auto& [room_name, visitor, token] = verify.message;
  Seen seen = See(room_name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, NoTokenOf(*seen.refusal));
  const Shown shown = Resolve(seen, visitor, token);
  if (shown.current) return Described(*seen.room, seen.visitor);
  return Refused(seen.room, shown.memory != kNoHandle ? EndedRefusal(shown.memory) : BadToken());
}

Answer<VisitorReply> Desk::Handle(const protocol::ClaimOperation& claim) {
  const auto& [room_name, visitor, token] = claim.message;
  Seen seen = See(room_name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, NoTokenOf(*seen.refusal));
  const Shown shown = Resolve(seen, visitor, token);
  if (!shown.current) {
    return Refused(seen.room, shown.memory != kNoHandle ? EndedRefusal(shown.memory) : BadToken());
  }
  if (engine_.visitor(seen.visitor).admitted()) {
    if (auto refusal = CheckLogSpace(false)) return Refused(seen.room, *std::move(refusal));
    Record(command::Claim{seen.room->number, visitor});
  } else {
    Hear(*seen.room, seen.visitor);
  }
  return Described(*seen.room, seen.visitor);
}

Answer<VisitorReply> Desk::Handle(const protocol::TouchOperation& touch) {
  const auto& [room_name, visitor, token] = touch.message;
  Seen seen = See(room_name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, NoTokenOf(*seen.refusal));
  const Shown shown = Resolve(seen, visitor, token);
  if (!shown.current) {
    return Refused(seen.room, shown.memory != kNoHandle ? EndedRefusal(shown.memory) : BadToken());
  }
  if (engine_.visitor(seen.visitor).admitted()) {
    return Refused(seen.room,
                   Refuse(ErrorCode::kConflict, "admitted, not in session yet: claim first"));
  }
  Hear(*seen.room, seen.visitor);
  return Described(*seen.room, seen.visitor);
}

uint32_t Desk::LastAdmission(uint32_t room, std::string_view id) const {
  uint32_t memory = engine_.FindMemory(room, id, now_ms_);
  for (size_t left = limits::kMemoriesComparedMax; memory != kNoHandle && left > 0; --left) {
    if (engine_.memory(memory).admission != 0) return memory;
    memory = engine_.OlderMemory(memory, now_ms_);
  }
  return kNoHandle;
}

Answer<VisitorReply> Desk::Handle(const protocol::FinishOperation& finish) {
  const auto& [room_name, visitor, token, said_outcome, units] = finish.message;
  const Outcome outcome = said_outcome.value_or(Outcome::kCancelled);
  Seen seen = See(room_name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, *std::move(seen.refusal));

  if (units &&
      (outcome != Outcome::kCompleted || *units < 1 || *units > protocol::kFinishUnitsMax)) {
    return Refused(seen.room, Refuse(ErrorCode::kInvalid,
                                     "units, 1 to " + std::to_string(protocol::kFinishUnitsMax) +
                                         ", are of a session that completed"));
  }

  // Which admission is meant: the one of the token, else the one held, else the last that ended.
  Shown shown;
  if (token) {
    shown = Resolve(seen, visitor, *token);
    if (!shown.current && shown.memory == kNoHandle) return Refused(seen.room, BadToken());
  } else if (seen.visitor != kNoHandle) {
    shown.current = !engine_.visitor(seen.visitor).waiting();
    if (!shown.current) shown.memory = LastAdmission(seen.room->number, visitor);
    if (!shown.current && shown.memory == kNoHandle) {
      return Refused(seen.room,
                     Refuse(ErrorCode::kConflict, "waiting, not let in yet: nothing to finish"));
    }
  } else {
    shown.memory = engine_.FindMemory(seen.room->number, visitor, now_ms_);
    if (shown.memory == kNoHandle) {
      return Refused(seen.room,
                     Refuse(ErrorCode::kNotFound,
                            "nobody with this id is in the room \"" + seen.room->name + "\""));
    }
  }

  uint64_t admission;
  if (shown.current) {
    admission = engine_.SessionOf(engine_.visitor(seen.visitor)).admission;
  } else {
    const Memory& ended = engine_.memory(shown.memory);
    const bool ran_out = ended.reason == Reason::kExpired || ended.reason == Reason::kNoShow;
    if (outcome != Outcome::kCompleted || !ran_out) return DescribeEnded(shown.memory);
    admission = ended.admission;
  }
  if (auto refusal = CheckLogSpace(false)) return Refused(seen.room, *std::move(refusal));
  const uint32_t room = seen.room->number;
  Record(command::Finish{room, visitor, admission, outcome, token ? std::nullopt : by_, units});
  const uint32_t memory = engine_.FindAdmission(room, admission, now_ms_);
  CHECK_NE(memory, kNoHandle);
  return DescribeEnded(memory);
}

Answer<protocol::VisitorResults> Desk::Handle(const protocol::JoinManyOperation& joins) {
  if (auto refusal = CheckBatch(joins.message.items.size())) return Refused(nullptr, *refusal);
  protocol::VisitorResults results;
  results.items.reserve(joins.message.items.size());
  for (const protocol::JoinRequest& item : joins.message.items) {
    AddResult(Handle(item, false), &results);
  }
  return results;
}

Answer<protocol::VisitorResults> Desk::Handle(const protocol::StatusManyOperation& statuses) {
  if (auto refusal = CheckBatch(statuses.message.items.size())) return Refused(nullptr, *refusal);
  protocol::VisitorResults results;
  results.items.reserve(statuses.message.items.size());
  for (const protocol::VisitorRequest& item : statuses.message.items) {
    AddResult(Handle(protocol::StatusOperation{item}), &results);
  }
  return results;
}

void Desk::AddResult(Answer<VisitorReply> answer, protocol::VisitorResults* results) {
  protocol::VisitorResult& result = results->items.emplace_back();
  if (auto* reply = std::get_if<VisitorReply>(&answer)) {
    result.reply = std::move(*reply);
  } else {
    result.refusal = std::get<Refusal>(std::move(answer));
  }
}

}  // namespace anteroom
