// What the operator of a sale asks: rooms, admissions by hand, and who is there.

#include <algorithm>
#include <utility>

#include "protocol/duration.h"
#include "server/base/limits.h"
#include "server/engine/desk.h"

namespace anteroom {

using protocol::ErrorCode;
using protocol::Mode;
using protocol::Reason;
using protocol::Refusal;
using protocol::Refuse;
using protocol::RoomReply;
using protocol::VisitorReply;

namespace {

Refusal NoRoom(std::string_view name) {
  std::string wrong = protocol::CheckRoomName(name);
  if (!wrong.empty()) return Refuse(ErrorCode::kInvalid, std::move(wrong));
  return Refuse(ErrorCode::kNotFound, "there is no room \"" + std::string(name) + "\"");
}

Refusal WrongCount(size_t count, std::string_view of, size_t max) {
  return Refuse(count == 0 ? ErrorCode::kInvalid : ErrorCode::kTooLarge,
                std::to_string(count) + " " + std::string(of) + " at once, it takes 1 to " +
                    std::to_string(max));
}

// What is wrong with a change of the stock that there is, or an empty string.
std::string CheckStock(const Policy& policy, const protocol::RoomSettings& said) {
  if (!said.stock || !said.stock->relative()) return {};
  if (policy.stock == Policy::kNoLimit) {
    return "the room has no stock that could change: say how many units there are";
  }
  const uint64_t units = said.stock->units;
  if (said.stock->change == protocol::Stock::kTake && units > policy.stock) {
    return "only " + std::to_string(policy.stock) + " units are left to take from";
  }
  if (said.stock->change == protocol::Stock::kAdd &&
      units > protocol::kStockUnitsMax - policy.stock) {
    return "more units than a stock may hold, " + std::to_string(protocol::kStockUnitsMax);
  }
  return {};
}

}  // namespace

// ---- rooms ----

Answer<RoomReply> Desk::Handle(const protocol::RoomCreateOperation& create) {
  const auto& [name, said] = create.message;
  std::string wrong = protocol::CheckRoomName(name);
  if (wrong.empty()) wrong = protocol::CheckSettings(said);
  if (wrong.empty() && !said.rate && !said.capacity && !said.stock) {
    wrong =
        "a room protects something: say at least one of rate=, capacity= and stock=, if only as "
        "none";
  }
  if (wrong.empty() && said.stock && said.stock->relative()) {
    wrong = "a new room has no stock yet that could change: say how many units there are";
  }
  if (!wrong.empty()) return Refused(nullptr, Refuse(ErrorCode::kInvalid, std::move(wrong)));
  if (engine_.FindRoom(name) != nullptr) {
    return Refused(nullptr, Refuse(ErrorCode::kConflict, "there is a room \"" + std::string(name) +
                                                             "\" already; room set changes it"));
  }
  if (engine_.room_count() >= limits_.rooms || !engine_.CanCreateRoom()) {
    Refusal refusal = Refuse(ErrorCode::kUnavailable, "the daemon holds as many rooms as it may");
    refusal.reason = Reason::kTooManyRooms;
    return Refused(nullptr, std::move(refusal));
  }
  if (auto refusal = CheckMemory()) return Refused(nullptr, *std::move(refusal));
  if (auto refusal = CheckLogSpace(true)) return Refused(nullptr, *std::move(refusal));
  protocol::RoomSettings settings = protocol::DefaultSettings();
  protocol::Overlay(said, &settings);
  Record(command::RoomCreate{name, settings, by_});
  return LookAtRoom(name);
}

Answer<RoomReply> Desk::Handle(const protocol::RoomSetOperation& set) {
  const auto& [name, said, if_revision] = set.message;
  const Room* room = engine_.FindRoom(name);
  if (room == nullptr) return Refused(nullptr, NoRoom(name));
  std::string wrong = protocol::CheckSettings(said);
  if (!wrong.empty()) return Refused(room, Refuse(ErrorCode::kInvalid, std::move(wrong)));
  if (if_revision && *if_revision != room->revision) {
    return Refused(room, Refuse(ErrorCode::kConflict, "the room is at revision " +
                                                          std::to_string(room->revision) +
                                                          ", not " + std::to_string(*if_revision)));
  }
  wrong = CheckStock(room->policy, said);
  if (!wrong.empty()) return Refused(room, Refuse(ErrorCode::kInvalid, std::move(wrong)));
  const Policy changed = Changed(room->policy, said);
  if (changed == room->policy) return DescribeRoom(*room);
  if (auto refusal = CheckLogSpace(false)) return Refused(room, *std::move(refusal));
  // Those who had no deadline while waiting_ttl was none get one now.
  if (room->policy.waiting_ttl_ms == Policy::kNoDuration &&
      changed.waiting_ttl_ms != Policy::kNoDuration) {
    sweep_next_ = 1;
  }
  Record(command::RoomSet{room->number, said, by_});
  return LookAtRoom(name);
}

Answer<RoomReply> Desk::Handle(const protocol::RoomShowOperation& show) {
  const Room* room = engine_.FindRoom(show.message.room);
  if (room == nullptr) return Refused(nullptr, NoRoom(show.message.room));
  return DescribeRoom(*room);
}

Answer<protocol::RoomListReply> Desk::Handle(const protocol::RoomListOperation& list) {
  const auto& [after, count] = list.message;
  if (count < 1 || count > protocol::kPageItemsMax) {
    return Refused(nullptr, WrongCount(count, "rooms", protocol::kPageItemsMax));
  }
  protocol::RoomListReply reply;
  std::string_view name = engine_.room_names().After(after);
  for (; !name.empty() && reply.rooms.size() < count; name = engine_.room_names().After(name)) {
    reply.rooms.push_back(DescribeRoom(*engine_.FindRoom(name)));
  }
  reply.more = !name.empty();
  return reply;
}

Answer<protocol::Empty> Desk::Handle(const protocol::RoomDeleteOperation& del) {
  const auto& [name, force] = del.message;
  const Room* room = engine_.FindRoom(name);
  if (room == nullptr) return Refused(nullptr, NoRoom(name));
  if (const uint64_t people = room->line.size() + room->occupied(); people > 0 && !force) {
    return Refused(room, Refuse(ErrorCode::kConflict, std::to_string(people) +
                                                          " people are in the room; force deletes "
                                                          "it with them"));
  }
  if (auto refusal = CheckLogSpace(false)) return Refused(room, *std::move(refusal));
  Record(command::RoomDelete{room->number, by_});
  return protocol::Empty{};
}

Answer<RoomReply> Desk::Handle(const protocol::RoomResetOperation& reset) {
  const Room* room = engine_.FindRoom(reset.message.room);
  if (room == nullptr) return Refused(nullptr, NoRoom(reset.message.room));
  if (auto refusal = CheckLogSpace(false)) return Refused(room, *std::move(refusal));
  Record(command::RoomReset{room->number, by_});
  return LookAtRoom(reset.message.room);
}

// ---- admissions by hand ----

Answer<protocol::AdmitReply> Desk::Handle(const protocol::AdmitOperation& admit) {
  const auto& [name, count, key] = admit.message;
  const Room* room = engine_.FindRoom(name);
  if (room == nullptr) return Refused(nullptr, NoRoom(name));
  if (count < 1 || count > protocol::kAdmitCountMax) {
    return Refused(room, WrongCount(count, "admissions", protocol::kAdmitCountMax));
  }
  if (key && (key->empty() || key->size() > protocol::kAdmitKeyBytesMax)) {
    return Refused(room, Refuse(ErrorCode::kInvalid,
                                "a key is 1 to 64 bytes, not " + std::to_string(key->size())));
  }
  protocol::AdmitReply reply;
  const AdmitKey* known = key ? engine_.FindAdmitKey(*room, *key, now_ms_) : nullptr;
  if (known != nullptr) {
    if (known->asked != count) {
      return Refused(room, Refuse(ErrorCode::kInvalid, "this key was used to admit " +
                                                           std::to_string(known->asked) + ", not " +
                                                           std::to_string(count)));
    }
    reply.count = known->count;
    if (known->count > 0) reply.first_admission = known->first_admission;
  } else {
    if (room->policy.mode == Mode::kClosed) {
      return Refused(room, Refuse(ErrorCode::kClosed, "the room is closed: nobody is admitted"));
    }
    if (auto refusal = CheckLogSpace(false)) return Refused(room, *std::move(refusal));
    Record(command::Admit{room->number, count, key, by_});
    reply.count = engine_.last_admit().count;
    if (reply.count > 0) reply.first_admission = engine_.last_admit().first_admission;
  }
  if (reply.count == 0) return reply;
  const uint64_t end = *reply.first_admission + reply.count;
  QueuePlace place;
  uint32_t session =
      room->inside.At(engine_.RankOfAdmission(*room, *reply.first_admission), &place);
  reply.admitted.reserve(reply.count);
  for (uint64_t admission = *reply.first_admission; admission < end; ++admission) {
    std::string_view id;
    if (session != kNoHandle && engine_.roster().sessions()[session].admission == admission) {
      id = engine_.visitor(engine_.roster().sessions()[session].visitor).id.view();
      place = room->inside.Next(place);
      session = place == kNoPlace ? kNoHandle : room->inside.HandleAt(place);
    } else if (const uint32_t memory = engine_.FindAdmission(room->number, admission, now_ms_);
               memory != kNoHandle) {
      id = engine_.memory(memory).id.view();
    } else {
      continue;  // ended, and forgotten before the key
    }
    reply.admitted.push_back({std::string(id), admission, TokenOf(admission, room->name, id)});
  }
  return reply;
}

Answer<VisitorReply> Desk::Handle(const protocol::AdmitVisitorOperation& admit) {
  const auto& [name, visitor, over] = admit.message;
  Seen seen = See(name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, *std::move(seen.refusal));
  if (seen.visitor != kNoHandle && engine_.visitor(seen.visitor).inside()) {
    return Described(*seen.room, seen.visitor);
  }
  if (seen.room->policy.mode == Mode::kClosed) {
    return Refused(seen.room, Refuse(ErrorCode::kClosed, "the room is closed: nobody is admitted"));
  }
  if (seen.visitor == kNoHandle) {
    if (auto refusal = CheckNewcomer(*seen.room, visitor, true)) {
      return Refused(seen.room, *std::move(refusal));
    }
  }
  if (!over && !seen.room->has_free_slot()) {
    return Refused(seen.room,
                   Refuse(ErrorCode::kNoSlot, "all " + std::to_string(seen.room->policy.slots()) +
                                                  " slots are occupied; over admits beyond them"));
  }
  if (auto refusal = CheckLogSpace(seen.visitor == kNoHandle)) {
    return Refused(seen.room, *std::move(refusal));
  }
  const uint32_t room = seen.room->number;
  Record(command::AdmitVisitor{room, visitor, over, by_});
  return Described(*seen.room, engine_.FindVisitor(room, visitor));
}

Answer<VisitorReply> Desk::Handle(const protocol::RevokeOperation& revoke) {
  const auto& [name, visitor, block_ms] = revoke.message;
  Seen seen = See(name, visitor);
  if (seen.room == nullptr) return Refused(nullptr, *std::move(seen.refusal));
  if (block_ms && (*block_ms < 1 || *block_ms > protocol::kDurationMsMax)) {
    return Refused(seen.room, Refuse(ErrorCode::kInvalid, "a block lasts from 1ms to 365d"));
  }
  if (seen.visitor == kNoHandle && !block_ms) {
    Answer<VisitorReply> answer = Present(seen, visitor);
    if (auto* refusal = std::get_if<Refusal>(&answer)) return Refused(seen.room, *refusal);
    return answer;
  }
  if (block_ms && seen.room->blocks.count >= limits::kBlocksPerRoomMax &&
      !engine_.BlockedUntil(seen.room->number, visitor, now_ms_)) {
    return Refused(seen.room,
                   Refuse(ErrorCode::kUnavailable, "the room keeps out as many people as it may"));
  }
  // Who is here makes room.
  if (seen.visitor == kNoHandle && !engine_.BlockedUntil(seen.room->number, visitor, now_ms_)) {
    if (auto refusal = CheckMemory()) return Refused(seen.room, *std::move(refusal));
  }
  if (auto refusal = CheckLogSpace(false)) return Refused(seen.room, *std::move(refusal));
  Record(command::Revoke{seen.room->number, visitor, block_ms, by_});
  const uint32_t memory = engine_.FindMemory(seen.room->number, visitor, now_ms_);
  if (memory != kNoHandle) return DescribeEnded(memory);
  VisitorReply reply;  // kept out without ever having been here
  reply.state = protocol::State::kEnded;
  reply.reason = Reason::kRevoked;
  return reply;
}

// ---- keys of tokens ----

std::optional<Refusal> Desk::CheckUseTokenKey() const {
  if (!engine_.CanUseTokenKey()) {
    return Refuse(ErrorCode::kConflict, "tokens were made with " +
                                            std::to_string(limits::kTokenKeysMax) +
                                            " keys already, as many as the daemon may hold");
  }
  return CheckLogSpace(false);
}

Answer<protocol::TokenKeyReply> Desk::UseTokenKey(uint32_t key_id) {
  if (auto refusal = CheckUseTokenKey()) return Refused(nullptr, *std::move(refusal));
  Record(command::UseTokenKey{key_id, by_});
  return protocol::TokenKeyReply{key_id, engine_.next_admission()};
}

// ---- who is there ----

Answer<protocol::PageReply> Desk::Handle(const protocol::PeekOperation& peek) {
  const auto& [name, from, count] = peek.message;
  const Room* room = engine_.FindRoom(name);
  if (room == nullptr) return Refused(nullptr, NoRoom(name));
  if (count < 1 || count > protocol::kPageItemsMax) {
    return Refused(room, WrongCount(count, "people", protocol::kPageItemsMax));
  }
  protocol::PageReply reply;
  QueuePlace place;
  uint64_t ahead = from;
  uint32_t visitor = room->line.At(from, &place);
  while (visitor != kNoHandle && reply.items.size() < count) {
    const Visitor& entry = engine_.visitor(visitor);
    protocol::VisitorEntry& item = reply.items.emplace_back();
    item.visitor = entry.id.view();
    item.lane = entry.lane;
    DescribeWaiting(*room, entry, ahead++, &item.reply);
    place = room->line.Next(place);
    visitor = place == kNoPlace ? kNoHandle : room->line.HandleAt(place);
  }
  if (visitor != kNoHandle) reply.next = ahead;
  return reply;
}

Answer<protocol::PageReply> Desk::Handle(const protocol::InsideOperation& inside) {
  const auto& [name, from, count] = inside.message;
  const Room* room = engine_.FindRoom(name);
  if (room == nullptr) return Refused(nullptr, NoRoom(name));
  if (count < 1 || count > protocol::kPageItemsMax) {
    return Refused(room, WrongCount(count, "people", protocol::kPageItemsMax));
  }
  protocol::PageReply reply;
  QueuePlace place;
  uint32_t session = room->inside.At(engine_.RankOfAdmission(*room, from), &place);
  while (session != kNoHandle && reply.items.size() < count) {
    const uint32_t visitor = engine_.roster().sessions()[session].visitor;
    protocol::VisitorEntry& item = reply.items.emplace_back();
    item.visitor = engine_.visitor(visitor).id.view();
    item.lane = engine_.visitor(visitor).lane;
    Describe(*room, visitor, &item.reply);
    item.reply.token.reset();  // a list of everybody is no place for proofs
    place = room->inside.Next(place);
    session = place == kNoPlace ? kNoHandle : room->inside.HandleAt(place);
  }
  if (session != kNoHandle) reply.next = engine_.roster().sessions()[session].admission;
  return reply;
}

Answer<protocol::StatsReply> Desk::Handle(const protocol::StatsOperation& stats) {
  protocol::StatsReply reply;
  reply.rooms = engine_.room_names().size();
  if (stats.message.room) {
    const Room* room = engine_.FindRoom(*stats.message.room);
    if (room == nullptr) return Refused(nullptr, NoRoom(*stats.message.room));
    reply.room = room->name;
    reply.counts = CountsOf(*room);
    RoomMeters& meters = meters_[room->number];
    reply.joins_per_s_milli = meters.joins.PerSecondMilli(now_ms_);
    reply.admissions_per_s_milli = meters.admissions.PerSecondMilli(now_ms_);
    return reply;
  }
  const Overall& overall = engine_.overall();
  reply.counts = CountsFrom(overall.totals);
  reply.counts.waiting = overall.waiting;
  reply.counts.admitted = overall.admitted;
  reply.counts.active = overall.active;
  reply.counts.occupied = overall.admitted + overall.active;
  AddRefused(all_, &reply.counts);
  reply.joins_per_s_milli = all_.joins.PerSecondMilli(now_ms_);
  reply.admissions_per_s_milli = all_.admissions.PerSecondMilli(now_ms_);
  return reply;
}

}  // namespace anteroom
