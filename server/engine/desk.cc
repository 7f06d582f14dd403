#include "server/engine/desk.h"

#include <algorithm>

#include "protocol/text.h"
#include "server/base/limits.h"

namespace anteroom {

using protocol::ErrorCode;
using protocol::Refusal;
using protocol::Refuse;

namespace {

// A Tick does limits::kDuePerRecordMax deadlines; more than these wait for the next turn.
constexpr int kTicksPerTurn = 4;
// While a deadline is pending the log says the time at least this often, so that a crash cannot
// give anybody more than this.
constexpr int64_t kTickMs = 1000;
// Soft deadlines are looked at in blocks of 64 visitors.
constexpr size_t kSoftBlocksPerTurn = limits::kSoftDuePerTurn / 64;

}  // namespace

Desk::Desk(Engine* engine, RecordSink* sink, const TokenMaker* tokens, DeskObserver* observer)
    : engine_(*engine),
      sink_(*sink),
      tokens_(*tokens),
      observer_(observer),
      heard_(engine->soft_deadlines()) {}

template <typename OneCommand>
void Desk::Record(const OneCommand& one) {
  EncodeRecord(now_ms_, one, &record_);
  sink_.Append(record_);
  effects_.Clear();
  engine_.Apply(now_ms_, one, &effects_);
  TakeIn(effects_);
}

// Every command that the desk makes.
template void Desk::Record(const command::RoomCreate&);
template void Desk::Record(const command::RoomSet&);
template void Desk::Record(const command::RoomDelete&);
template void Desk::Record(const command::RoomReset&);
template void Desk::Record(const command::Join&);
template void Desk::Record(const command::Enter&);
template void Desk::Record(const command::Leave&);
template void Desk::Record(const command::Claim&);
template void Desk::Record(const command::Finish&);
template void Desk::Record(const command::Admit&);
template void Desk::Record(const command::AdmitVisitor&);
template void Desk::Record(const command::Revoke&);
template void Desk::Record(const command::UseTokenKey&);

void Desk::TakeIn(const Effects& effects) {
  for (const VisitorEffect& effect : effects.visitors) {
    RoomMeters& meters = meters_[effect.room];
    if (effect.state == protocol::State::kWaiting &&
        engine_.visitor(effect.visitor).requeues == 0) {
      meters.joins.Count(now_ms_);
      all_.joins.Count(now_ms_);
    } else if (effect.state == protocol::State::kAdmitted) {
      meters.admissions.Count(now_ms_);
      all_.admissions.Count(now_ms_);
    }
    // One record can move somebody on more than once: what counts is where they stand now.
    const Room* room = engine_.RoomAt(effect.room);
    if (room == nullptr || !engine_.visitor(effect.visitor).live()) continue;
    // Also of somebody admitted, who has none: the old one must not meet a later state.
    heard_.Clear(effect.visitor);
    Hear(*room, effect.visitor);
  }
  for (const RoomEffect& effect : effects.rooms) {
    if (effect.gone) meters_.erase(effect.room);
  }
  if (observer_ != nullptr) observer_->OnEffects(effects);
}

void Desk::Hear(const Room& room, uint32_t visitor) {
  const Visitor& entry = engine_.visitor(visitor);
  if (entry.waiting()) {
    if (room.policy.waiting_ttl_ms != Policy::kNoDuration) {
      heard_.Hear(visitor, now_ms_, room.policy.waiting_ttl_ms);
    } else {
      heard_.Clear(visitor);
    }
  } else if (entry.active() && engine_.SessionOf(entry).sliding()) {
    heard_.Hear(visitor, now_ms_, room.policy.session_ttl_ms);
  }
}

void Desk::HearFrom(uint32_t room_number, std::string_view id) {
  const Room* room = engine_.RoomAt(room_number);
  if (room == nullptr) return;
  const uint32_t visitor = engine_.FindVisitor(room_number, id);
  if (visitor != kNoHandle && engine_.visitor(visitor).waiting()) Hear(*room, visitor);
}

void Desk::StartSoftDeadlines(int64_t now_ms) {
  now_ms_ = now_ms;
  for (uint32_t visitor = 1; visitor <= engine_.roster().capacity(); ++visitor) {
    if (!engine_.visitor(visitor).live()) continue;
    const Room* room = engine_.RoomAt(engine_.visitor(visitor).room);
    if (room != nullptr) Hear(*room, visitor);
  }
}

void Desk::Sweep() {
  if (sweep_next_ == 0) return;
  const uint32_t end = engine_.roster().capacity() + 1;
  const auto stop = static_cast<uint32_t>(
      std::min<uint64_t>(end, uint64_t{sweep_next_} + limits::kSoftSweepPerTurn));
  for (uint32_t visitor = sweep_next_; visitor < stop; ++visitor) {
    if (!engine_.visitor(visitor).waiting()) continue;
    if (heard_.DeadlineOf(visitor, now_ms_) != kNever) continue;
    const Room* room = engine_.RoomAt(engine_.visitor(visitor).room);
    if (room != nullptr) Hear(*room, visitor);
  }
  sweep_next_ = stop == end ? 0 : stop;
}

void Desk::BeginTurn(int64_t now_ms) {
  CHECK_GE(now_ms, engine_.now_ms());
  now_ms_ = now_ms;
  if (log_space_ == LogSpace::kNone) return;
  if (heard_.NextDue() <= now_ms_) {
    over_.clear();
    heard_.PopDue(now_ms_, kSoftBlocksPerTurn, &over_);
    // Those due together go in order of arrival; the entry of a handle that is free says 0.
    const auto arrival_of = [&](uint32_t visitor) {
      return engine_.visitor(visitor).arrival.Get();
    };
    std::sort(over_.begin(), over_.end(), [&](const Heard::Over& a, const Heard::Over& b) {
      if (a.deadline_ms != b.deadline_ms) return a.deadline_ms < b.deadline_ms;
      return arrival_of(a.visitor) < arrival_of(b.visitor);
    });
    for (const Heard::Over& one : over_) ExpireSoft(one.visitor);
  }
  for (int tick = 0; tick < kTicksPerTurn && engine_.NextDue() <= now_ms_; ++tick) {
    Record(command::Tick{});
  }
  if (engine_.has_deadlines() && now_ms_ - engine_.now_ms() >= kTickMs) Record(command::Tick{});
  Sweep();
}

void Desk::ExpireSoft(uint32_t visitor) {
  const Visitor& entry = engine_.visitor(visitor);
  if (!entry.live()) return;
  const Room* room = engine_.RoomAt(entry.room);
  if (room == nullptr) return;
  if (entry.waiting()) {
    // Whoever is connected is being heard from all the time.
    if (observer_ != nullptr && observer_->IsWatched(entry.room, visitor)) {
      Hear(*room, visitor);
      return;
    }
  } else if (!entry.active() || !engine_.SessionOf(entry).sliding()) {
    return;  // a deadline of a state that is past
  }
  const std::string id(entry.id.view());
  Record(command::Expire{entry.room, id});
}

int64_t Desk::NextDue() const {
  if (sweep_next_ != 0) return now_ms_;
  return std::min(engine_.NextDue(), heard_.NextDue());
}

Desk::Seen Desk::See(std::string_view room_name, std::string_view id) {
  Seen seen;
  seen.room = engine_.FindRoom(room_name);
  if (seen.room == nullptr) {
    std::string wrong = protocol::CheckRoomName(room_name);
    seen.refusal = wrong.empty() ? Refuse(ErrorCode::kNotFound,
                                          "there is no room \"" + std::string(room_name) + "\"")
                                 : Refuse(ErrorCode::kInvalid, std::move(wrong));
    return seen;
  }
  if (id.empty() || id.size() > protocol::kVisitorIdBytesMax) {
    seen.room = nullptr;
    seen.refusal = Refuse(ErrorCode::kInvalid, protocol::CheckVisitorId(id));
    return seen;
  }
  seen.visitor = FindPrefetched(seen.room->number, id);
  if (seen.visitor == kNoHandle || log_space_ == LogSpace::kNone) return seen;

  // More may be due than the turn has done; whoever is asked about is settled first.
  const Visitor& entry = engine_.visitor(seen.visitor);
  const bool sliding = entry.active() && engine_.SessionOf(entry).sliding();
  if (entry.waiting() || sliding) {
    if (heard_.DeadlineOf(seen.visitor, now_ms_) > now_ms_) return seen;
    ExpireSoft(seen.visitor);
  } else {
    if (engine_.SessionOf(entry).deadline_ms > now_ms_) return seen;
    Record(command::Settle{seen.room->number, id});
  }
  seen.room = engine_.FindRoom(room_name);
  seen.visitor = engine_.FindVisitor(seen.room->number, id);
  return seen;
}

Desk::Shown Desk::Resolve(const Seen& seen, std::string_view id, std::string_view token) const {
  Shown shown;
  if (seen.visitor != kNoHandle && engine_.visitor(seen.visitor).inside()) {
    const uint64_t admission = engine_.SessionOf(engine_.visitor(seen.visitor)).admission;
    shown.current = SameToken(TokenOf(admission, seen.room->name, id), token);
    if (shown.current) return shown;
  }
  uint32_t memory = engine_.FindMemory(seen.room->number, id, now_ms_);
  for (size_t left = limits::kMemoriesComparedMax; memory != kNoHandle && left > 0;
       --left, memory = engine_.OlderMemory(memory, now_ms_)) {
    const uint64_t admission = engine_.memory(memory).admission;
    if (admission != 0 && SameToken(TokenOf(admission, seen.room->name, id), token)) {
      shown.memory = memory;
      return shown;
    }
  }
  return shown;
}

std::optional<Refusal> Desk::CheckLogSpace(bool newcomer) const {
  if (log_space_ == LogSpace::kPlenty || (log_space_ == LogSpace::kShort && !newcomer)) {
    return std::nullopt;
  }
  Refusal refusal = Refuse(
      ErrorCode::kUnavailable,
      log_space_ == LogSpace::kShort
          ? "the disk is full: no newcomers until there is room, everybody already here goes on"
          : "the log takes no change at the moment, and time stands still until it does");
  refusal.reason = log_space_reason_;
  refusal.retry_after_ms = kTickMs;
  return refusal;
}

std::optional<Refusal> Desk::CheckMemory() const {
  if (!memory_full()) return std::nullopt;
  Refusal refusal = Refuse(
      ErrorCode::kUnavailable,
      "the daemon holds as much as it may: nobody and nothing new until there is less, everybody "
      "already here goes on");
  refusal.reason = protocol::Reason::kMemoryFull;
  refusal.retry_after_ms = kTickMs;
  return refusal;
}

Refusal Desk::Refused(const Room* room, Refusal refusal) {
  const auto error = static_cast<size_t>(refusal.error);
  ++all_.refused[error];
  if (room != nullptr) ++meters_[room->number].refused[error];
  return refusal;
}

}  // namespace anteroom
