// What a request comes to and what its answer tells; who was heard from.

#include <algorithm>

#include "server/base/check.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

using protocol::ErrorCode;
using protocol::Mode;
using protocol::Outcome;
using protocol::Reason;
using protocol::State;

namespace {

Verdict Refuse(ErrorCode error, std::optional<Reason> reason = std::nullopt) {
  Verdict verdict;
  verdict.refusal = error;
  verdict.reason = reason;
  return verdict;
}

Verdict Write() {
  Verdict verdict;
  verdict.writes = true;
  return verdict;
}

Verdict Repeat() {
  return {};
}

Verdict About(const Ended& ended) {
  Verdict verdict;
  verdict.ended = ended.sequence;
  return verdict;
}

Told Describe(const Ended& ended) {
  Told told;
  told.state = State::kEnded;
  told.reason = ended.reason;
  told.arrival = ended.arrival;
  if (ended.admission != 0) told.admission = ended.admission;
  told.at_ms = static_cast<uint64_t>(ended.at_ms);
  told.late = ended.late;
  return told;
}

}  // namespace

// ---- heard from ----

void Model::Hear(const ModelRoom& room, Person& person, int64_t now_ms) {
  if (person.waiting()) {
    person.silent_at_ms =
        room.settings.waiting_ttl->none() ? kNever : now_ms + room.settings.waiting_ttl->ms;
  } else if (person.present && person.state == State::kActive && person.sliding) {
    person.silent_at_ms = now_ms + room.settings.session_ttl->ms;
  }
}

void Model::Restart(int64_t now_ms) {
  sweep_ = false;
  for (auto& [number, room] : rooms_) {
    for (Person& person : room.people) {
      person.silent_at_ms = kNever;
      if (person.present && !room.dropped) Hear(room, person, now_ms);
    }
  }
}

void Model::HearWatched(uint32_t name, uint32_t visitor, int64_t now_ms) {
  const ModelRoom* found = RoomNamed(name);
  if (found == nullptr || !Names::IsWatched(visitor)) return;
  ModelRoom& room = rooms_.at(found->number);
  Person& person = room.people[visitor];
  if (person.waiting() && person.silent_at_ms <= now_ms) Hear(room, person, now_ms);
}

void Model::EndTurnStart(int64_t now_ms) {
  for (auto& [number, room] : rooms_) {
    if (room.dropped) continue;
    for (const uint32_t visitor : room.line) {
      Person& person = room.people[visitor];
      if (Names::IsWatched(visitor) && person.silent_at_ms <= now_ms) Hear(room, person, now_ms);
      if (sweep_ && person.silent_at_ms == kNever) Hear(room, person, now_ms);
    }
  }
  sweep_ = false;
}

void Model::Hear(const Ask& ask, int64_t now_ms) {
  const ModelRoom* found = RoomNamed(ask.room);
  if (found == nullptr) return;
  ModelRoom& room = rooms_.at(found->number);
  Person& person = room.people[ask.visitor];
  switch (ask.op) {
    case Op::kJoin:
    case Op::kEnter:
    case Op::kStatus:
      if (person.waiting()) Hear(room, person, now_ms);
      break;
    case Op::kClaim:
    case Op::kTouch:
      if (person.inside()) Hear(room, person, now_ms);
      break;
    default:
      break;
  }
}

// ---- decisions ----

bool Model::WouldAdmitNow(const ModelRoom& room, int64_t now_ms) const {
  if (!room.Admits() || !room.line.empty() || !room.HasSlot()) return false;
  if (!room.Rated()) return true;
  if (room.settings.rate->count == 0) return false;
  const uint64_t level =
      std::min(2 * room.bucket.depth,
               room.bucket.level + static_cast<uint64_t>(now_ms - room.bucket.filled_at_ms) *
                                       room.settings.rate->count);
  return level >= room.settings.rate->per_ms;
}

const Ended* Model::NewestEnded(const ModelRoom& room, uint32_t visitor, int64_t now_ms) {
  const std::vector<Ended>& ended = room.ended[visitor];
  const auto newest = std::find_if(ended.rbegin(), ended.rend(),
                                   [&](const Ended& one) { return one.forget_at_ms > now_ms; });
  return newest == ended.rend() ? nullptr : &*newest;
}

const Ended* Model::EndedWith(const ModelRoom& room, uint32_t visitor, uint64_t admission,
                              int64_t now_ms) {
  const std::vector<Ended>& ended = room.ended[visitor];
  const auto with = std::find_if(ended.begin(), ended.end(), [&](const Ended& one) {
    return one.forget_at_ms > now_ms && one.admission == admission;
  });
  return admission == 0 || with == ended.end() ? nullptr : &*with;
}

Verdict Model::DecideNewcomer(const ModelRoom& room, const Ask& ask, int64_t now_ms) const {
  if (*room.settings.mode == Mode::kClosed) return Refuse(ErrorCode::kClosed);
  if (room.SoldOut() && ask.op != Op::kAdmitVisitor) return Refuse(ErrorCode::kSoldOut);
  const auto blocked = room.blocked.find(ask.visitor);
  if (blocked != room.blocked.end() && blocked->second.until_ms > now_ms) {
    return Refuse(ErrorCode::kBlocked);
  }
  if (ask.op != Op::kAdmitVisitor && room.line.size() >= room.settings.max_waiting->value &&
      !WouldAdmitNow(room, now_ms)) {
    return Refuse(ErrorCode::kLineFull);
  }
  return Write();
}

uint64_t Model::ShownBy(const Ask& ask) const {
  const uint64_t admission = ask.admission.value_or(0);
  return TokenKeyOf(admission) == ask.token_key ? admission : 0;
}

Verdict Model::DecideToken(const ModelRoom& room, const Ask& ask, LogSpace space,
                           const Verdict& no_log, int64_t now_ms) const {
  const Person& person = room.people[ask.visitor];
  const uint64_t admission = ShownBy(ask);
  if (!person.inside() || person.admission != admission) {
    const Ended* ended = EndedWith(room, ask.visitor, admission, now_ms);
    return ended == nullptr ? Refuse(ErrorCode::kBadToken)
                            : Refuse(ErrorCode::kExpired, ended->reason);
  }
  if (ask.op == Op::kVerify || person.state == State::kActive) return Repeat();
  if (ask.op == Op::kTouch) return Refuse(ErrorCode::kConflict);
  return space == LogSpace::kNone ? no_log : Write();
}

Verdict Model::DecideFinish(const ModelRoom& room, const Ask& ask, const Verdict& no_log,
                            bool log_takes, int64_t now_ms) const {
  const Person& person = room.people[ask.visitor];
  const Ended* ended = nullptr;
  if (ask.admission) {
    if (!person.inside() || person.admission != ShownBy(ask)) {
      ended = EndedWith(room, ask.visitor, ShownBy(ask), now_ms);
      if (ended == nullptr) return Refuse(ErrorCode::kBadToken);
    }
  } else if (person.waiting()) {
    for (const Ended& one : room.ended[ask.visitor]) {
      if (one.admission != 0 && one.forget_at_ms > now_ms) ended = &one;
    }
    if (ended == nullptr) return Refuse(ErrorCode::kConflict);
  } else if (!person.present) {
    ended = NewestEnded(room, ask.visitor, now_ms);
    if (ended == nullptr) return Refuse(ErrorCode::kNotFound);
  }
  if (ended == nullptr) return log_takes ? Write() : no_log;
  const bool ran_out = ended->reason == Reason::kExpired || ended->reason == Reason::kNoShow;
  if (ask.outcome == Outcome::kCompleted && ran_out && !log_takes) return no_log;
  Verdict verdict = About(*ended);
  verdict.writes = ask.outcome == Outcome::kCompleted && ran_out;
  return verdict;
}

Verdict Model::Decide(const Ask& ask, LogSpace space, Reason space_reason, int64_t now_ms) const {
  const Verdict no_log = Refuse(ErrorCode::kUnavailable, space_reason);
  const bool log_takes = space != LogSpace::kNone;
  const bool takes_newcomers = space == LogSpace::kPlenty;
  const Verdict write = log_takes ? Write() : no_log;
  const ModelRoom* found = RoomNamed(ask.room);
  const bool right = ask.settings == nullptr || CheckSettings(*ask.settings).empty();
  if (ask.op == Op::kRotateTokenKey) return write;
  if (ask.op == Op::kRoomCreate) {
    if (!right || (ask.settings->stock && ask.settings->stock->relative())) {
      return Refuse(ErrorCode::kInvalid);
    }
    if (found != nullptr) return Refuse(ErrorCode::kConflict);
    return takes_newcomers ? Write() : no_log;
  }
  if (found == nullptr) {
    const bool token = ask.op == Op::kVerify || ask.op == Op::kClaim || ask.op == Op::kTouch;
    return Refuse(token ? ErrorCode::kBadToken : ErrorCode::kNotFound);
  }
  const ModelRoom& room = *found;
  const Person& person = room.people[ask.visitor];
  switch (ask.op) {
    case Op::kJoin:
    case Op::kEnter:
      if (person.present) {
        const bool claims = ask.op == Op::kEnter && person.state == State::kAdmitted;
        return claims ? write : Repeat();
      }
      return takes_newcomers ? DecideNewcomer(room, ask, now_ms) : no_log;
    case Op::kStatus:
    case Op::kLook:
    case Op::kLeave:
      if (person.present) {
        if (ask.op != Op::kLeave) return Repeat();
        return person.state == State::kActive ? Refuse(ErrorCode::kConflict) : write;
      }
      if (const Ended* ended = NewestEnded(room, ask.visitor, now_ms)) return About(*ended);
      return Refuse(ErrorCode::kNotFound);
    case Op::kVerify:
    case Op::kClaim:
    case Op::kTouch:
      return DecideToken(room, ask, space, no_log, now_ms);
    case Op::kFinish:
      return DecideFinish(room, ask, no_log, log_takes, now_ms);
    case Op::kAdmit: {
      const std::string key = "key-" + std::to_string(ask.key);
      for (const Keyed& known : room.keys) {
        if (ask.key == 0 || known.key != key || known.forget_at_ms <= now_ms) continue;
        if (known.asked != ask.count) return Refuse(ErrorCode::kInvalid);
        Verdict verdict = Repeat();
        verdict.key = known;
        return verdict;
      }
      return *room.settings.mode == Mode::kClosed ? Refuse(ErrorCode::kClosed) : write;
    }
    case Op::kAdmitVisitor:
      if (person.inside()) return Repeat();
      if (*room.settings.mode == Mode::kClosed) return Refuse(ErrorCode::kClosed);
      if (!person.present) {
        const Verdict newcomer = DecideNewcomer(room, ask, now_ms);
        if (newcomer.refusal) return newcomer;
      }
      if (!ask.force && !room.HasSlot()) return Refuse(ErrorCode::kNoSlot);
      return person.present || takes_newcomers ? write : no_log;
    case Op::kRevoke:
      if (person.present || ask.block_ms) return write;
      if (const Ended* ended = NewestEnded(room, ask.visitor, now_ms)) return About(*ended);
      return Refuse(ErrorCode::kNotFound);
    case Op::kRoomSet: {
      if (!right) return Refuse(ErrorCode::kInvalid);
      if (ask.if_revision && *ask.if_revision != room.revision) {
        return Refuse(ErrorCode::kConflict);
      }
      if (const auto& stock = ask.settings->stock; stock && stock->relative()) {
        const bool takes = stock->change == protocol::Stock::kTake;
        if (!room.HasStock() || (takes && stock->units > room.settings.stock->units)) {
          return Refuse(ErrorCode::kInvalid);
        }
      }
      ModelRoom changed;
      changed.settings = room.settings;
      changed.Set(*ask.settings);
      return changed.settings == room.settings ? Repeat() : write;
    }
    case Op::kRoomDelete:
      if (!ask.force && !(room.line.empty() && room.inside.empty())) {
        return Refuse(ErrorCode::kConflict);
      }
      return write;
    default:
      return write;
  }
}

// ---- answers ----

Told Model::Describe(const Ask& ask, const Verdict& verdict, int64_t now_ms) const {
  Told told;
  if (ask.op == Op::kRotateTokenKey) {
    told.admission = next_admission_;
    told.token_key = TokenKeyOf(next_admission_);
    return told;
  }
  const ModelRoom* found = RoomNamed(ask.room);
  if (found == nullptr) return told;
  const ModelRoom& room = *found;
  if (!IsAboutVisitor(ask.op)) {
    if (ask.op != Op::kAdmit) {
      told.revision = room.revision;
      return told;
    }
    told.count = verdict.key ? verdict.key->count : last_admit_.second;
    const uint64_t first = verdict.key ? verdict.key->first_admission : last_admit_.first;
    const auto tell = [&](uint32_t visitor, uint64_t admission) {
      if (admission >= first && admission < first + told.count) {
        told.admitted.push_back({visitor, admission, TokenKeyOf(admission)});
      }
    };
    for (const uint32_t visitor : room.inside) tell(visitor, room.people[visitor].admission);
    // With a key said again some may have ended since.
    for (uint32_t visitor = 0; visitor < room.ended.size(); ++visitor) {
      for (const Ended& one : room.ended[visitor]) {
        if (one.forget_at_ms > now_ms) tell(visitor, one.admission);
      }
    }
    std::sort(told.admitted.begin(), told.admitted.end(),
              [](const auto& a, const auto& b) { return a.admission < b.admission; });
    return told;
  }
  const std::vector<Ended>& ended = room.ended[ask.visitor];
  if (verdict.ended != 0) {
    for (const Ended& one : ended) {
      if (one.sequence == verdict.ended) return sim::Describe(one);
    }
    CHECK(false);
  }
  if (ask.op == Op::kFinish || ask.op == Op::kLeave || ask.op == Op::kRevoke) {
    // What it has just ended; a block of somebody unknown ends nobody.
    if (const Ended* newest = NewestEnded(room, ask.visitor, now_ms)) return sim::Describe(*newest);
    told.state = State::kEnded;
    told.reason = Reason::kRevoked;
    return told;
  }
  const Person& person = room.people[ask.visitor];
  told.state = person.state;
  told.mode = room.settings.mode;
  told.arrival = person.arrival;
  told.at_ms = static_cast<uint64_t>(person.at_ms);
  if (person.waiting()) {
    told.ahead = room.AheadOf(ask.visitor);
    told.waiting = room.line.size();
    if (*room.settings.mode == Mode::kPaused) told.reason = Reason::kPaused;
    if (room.SoldOut()) told.reason = Reason::kSoldOut;
    if (*room.settings.mode == Mode::kClosed) told.reason = Reason::kClosed;
    return told;
  }
  told.admission = person.admission;
  told.token_key = TokenKeyOf(person.admission);
  const int64_t over_ms = person.sliding ? person.silent_at_ms : person.deadline_ms;
  if (over_ms != kNever) {
    told.expires_in_ms = static_cast<uint64_t>(std::max<int64_t>(0, over_ms - now_ms));
  }
  return told;
}

}  // namespace anteroom::sim
