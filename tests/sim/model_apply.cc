// What each command does.

#include <algorithm>
#include <utility>

#include "server/base/check.h"
#include "server/base/limits.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

using protocol::Mode;
using protocol::Outcome;
using protocol::Rate;
using protocol::Reason;
using protocol::State;

void Model::Apply(int64_t at_ms, const Command& command, Changes* changes) {
  now_ms_ = at_ms;
  admissions_left_ = limits::kAdmissionsPerRecordMax;
  const size_t first = changes->size();
  DoDue(changes);
  for (size_t left = pump_pending_.size(); left > 0 && admissions_left_ > 0; --left) {
    const uint32_t number = pump_pending_.front();
    pump_pending_.erase(pump_pending_.begin());
    const auto found = rooms_.find(number);
    if (found == rooms_.end()) continue;
    found->second.pump_pending = false;
    Pump(found->second, false, changes);
  }
  Free();
  std::visit([&](const auto& one) { Do(one, changes); }, command);
  for (size_t i = first; i < changes->size(); ++i) {
    ModelRoom* const room = Live((*changes)[i].room);
    if (room == nullptr) continue;
    Person& person = room->people[(*changes)[i].visitor];
    person.silent_at_ms = kNever;
    Hear(*room, person, now_ms_);
  }
}

void Model::Apply(std::string_view record) {
  int64_t at_ms = 0;
  Command command;
  CHECK(DecodeRecord(record, &at_ms, &command));
  Changes changes;
  Apply(at_ms, command, &changes);
}

// ---- rooms ----

ModelRoom* Model::Live(uint32_t number) {
  const auto found = rooms_.find(number);
  return found == rooms_.end() || found->second.dropped ? nullptr : &found->second;
}

const ModelRoom* Model::RoomAt(uint32_t number) const {
  return const_cast<Model*>(this)->Live(number);
}

const ModelRoom* Model::RoomNamed(uint32_t name) const {
  for (const auto& [number, room] : rooms_) {
    if (!room.dropped && room.name == name) return &room;
  }
  return nullptr;
}

void ModelRoom::Set(const protocol::RoomSettings& said) {
  const std::optional<protocol::Stock> before = settings.stock;
  Overlay(said, &settings);
  if (said.stock && said.stock->relative()) {
    settings.stock = before;
    if (HasStock()) {
      uint64_t& units = settings.stock->units;
      const bool adds = said.stock->change == protocol::Stock::kAdd;
      units = adds ? units + said.stock->units : units - std::min(units, said.stock->units);
    }
  }
  // Shown where it means something, or is more than nothing.
  if (settings.stock) {
    settings.stock_oversubscribe = settings.stock_oversubscribe.value_or(protocol::Factor{});
  } else if (settings.stock_oversubscribe == protocol::Factor{}) {
    settings.stock_oversubscribe.reset();
  }
}

uint64_t ModelRoom::slots() const {
  const uint64_t capacity = settings.capacity.value_or(protocol::Limit{}).value;
  if (!HasStock()) return capacity;
  return std::min(capacity, settings.stock->units * settings.stock_oversubscribe->milli / 1000);
}

void ModelRoom::Sell(uint32_t units) {
  if (!HasStock()) return;
  const uint64_t sold = std::min<uint64_t>(units, settings.stock->units);
  settings.stock->units -= sold;
  sold_units += sold;
  oversold_units += units - sold;
}

ModelRoom& Model::Make(uint32_t name, const protocol::RoomSettings& settings) {
  ModelRoom& room = rooms_[next_room_];
  room.number = next_room_++;
  room.name = name;
  room.Set(settings);
  room.people.resize(names_->visitors());
  room.ended.resize(names_->visitors());
  return room;
}

// The bucket after the rate was changed; it held `before` until then.
void Model::Configure(ModelRoom& room, const Rate& before, bool was_made) {
  const Rate& rate = *room.settings.rate;
  Bucket& bucket = room.bucket;
  bucket.depth = std::max<uint64_t>(
      rate.per_ms, uint64_t{rate.count} * static_cast<uint64_t>(room.settings.admit_interval->ms));
  bucket.level = was_made ? std::min(bucket.level * (rate.per_ms / 1000) / (before.per_ms / 1000),
                                     2 * bucket.depth)
                          : 2 * bucket.depth;
  bucket.made = true;
  bucket.filled_at_ms = now_ms_;
}

void Model::Do(const command::RoomCreate& create, Changes*) {
  const uint32_t name = names_->RoomOf(create.name);
  if (RoomNamed(name) != nullptr) return;
  ModelRoom& room = Make(name, create.settings);
  if (room.settings.rate && !room.settings.rate->none()) Configure(room, Rate{}, false);
}

void Model::Do(const command::RoomSet& set, Changes* changes) {
  ModelRoom* room = Live(set.room);
  if (room == nullptr) return;
  const protocol::RoomSettings before = room->settings;
  const uint64_t slots_before = room->slots();
  room->Set(set.settings);
  if (room->settings == before) return;
  ++room->revision;
  const Rate rate = room->settings.rate.value_or(Rate{});
  const Rate rate_before = before.rate.value_or(Rate{});
  const bool rate_changed =
      rate != rate_before || room->settings.admit_interval != before.admit_interval;
  if (rate.none()) {
    room->bucket = Bucket{};
  } else if (rate_changed) {
    const protocol::RoomSettings after = std::exchange(room->settings, before);
    Fill(*room, now_ms_);
    room->settings = after;
    Configure(*room, rate_before, room->bucket.made);
  }
  if (before.waiting_ttl->none() && !room->settings.waiting_ttl->none()) sweep_ = true;
  if (rate_changed || room->settings.mode != before.mode || room->slots() != slots_before) {
    Pump(*room, false, changes);
  }
}

void Model::Drop(ModelRoom& room) {
  room.dropped = true;
  if (room.bucket_due_ms != kNever) {
    due_.erase(Due{room.bucket_due_ms, Kind::kBucket, room.number, room.number, 0});
    room.bucket_due_ms = kNever;
  }
  dropped_.push_back(room.number);
}

void Model::Do(const command::RoomDelete& del, Changes*) {
  if (ModelRoom* room = Live(del.room); room != nullptr) Drop(*room);
}

void Model::Do(const command::RoomReset& reset, Changes*) {
  ModelRoom* old = Live(reset.room);
  if (old == nullptr) return;
  Drop(*old);
  ModelRoom& room = Make(old->name, old->settings);
  room.revision = old->revision;
  room.bucket = old->bucket;
}

// ---- people ----

ModelRoom* Model::Settled(uint32_t number, std::string_view id, uint32_t* visitor,
                          Changes* changes) {
  ModelRoom* room = Live(number);
  if (room == nullptr) return nullptr;
  *visitor = names_->VisitorOf(id);
  const Person& person = room->people[*visitor];
  if (person.inside() && person.deadline_ms <= now_ms_) {
    due_.erase(Due{person.deadline_ms, Kind::kSession, person.admission, number, *visitor});
    EndOfSession(*room, *visitor, changes);
  }
  return room;
}

void Model::Do(const command::Join& join, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(join.room, join.visitor, &visitor, changes);
  if (room == nullptr || room->people[visitor].present) return;
  const bool line_was_empty = room->line.empty();
  AddWaiting(*room, visitor, join.lane, changes);
  if (line_was_empty) Pump(*room, false, changes);
}

void Model::Do(const command::Enter& enter, Changes* changes) {
  Do(command::Join{enter.room, enter.visitor, enter.lane}, changes);
  Do(command::Claim{enter.room, enter.visitor}, changes);
}

void Model::Do(const command::Leave& leave, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(leave.room, leave.visitor, &visitor, changes);
  if (room == nullptr) return;
  const Person& person = room->people[visitor];
  if (!person.present || person.state == State::kActive) return;
  EndAndPump(*room, visitor, Reason::kLeft, changes);
}

void Model::Do(const command::Claim& claim, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(claim.room, claim.visitor, &visitor, changes);
  if (room == nullptr) return;
  const Person& person = room->people[visitor];
  if (person.present && person.state == State::kAdmitted) Begin(*room, visitor, changes);
}

void Model::Do(const command::Finish& finish, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(finish.room, finish.visitor, &visitor, changes);
  if (room == nullptr || finish.admission == 0) return;
  const Person& person = room->people[visitor];
  const bool completed = finish.outcome == Outcome::kCompleted;
  const uint32_t units = finish.units.value_or(1);
  if (person.inside() && person.admission == finish.admission) {
    if (completed) room->Sell(units);
    EndAndPump(*room, visitor, completed ? Reason::kCompleted : Reason::kCancelled, changes);
    return;
  }
  if (!completed) return;
  for (Ended& ended : room->ended[visitor]) {
    if (ended.admission != finish.admission || ended.forget_at_ms <= now_ms_) continue;
    if (ended.reason != Reason::kExpired && ended.reason != Reason::kNoShow) return;
    ended.reason = Reason::kCompleted;
    ended.late = true;
    ++room->totals.completed;
    room->Sell(units);
    return;
  }
}

void Model::Do(const command::Expire& expire, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(expire.room, expire.visitor, &visitor, changes);
  if (room == nullptr) return;
  const Person& person = room->people[visitor];
  if (person.waiting()) {
    EndAndPump(*room, visitor, Reason::kLeft, changes);
  } else if (person.present && person.state == State::kActive && person.sliding) {
    EndAndPump(*room, visitor, Reason::kExpired, changes);
  }
}

void Model::Do(const command::Settle& settle, Changes* changes) {
  uint32_t visitor;
  Settled(settle.room, settle.visitor, &visitor, changes);
}

void Model::Do(const command::Admit& admit, Changes* changes) {
  last_admit_ = {};
  ModelRoom* room = Live(admit.room);
  if (room == nullptr || *room->settings.mode == Mode::kClosed) return;
  std::vector<Keyed>& keys = room->keys;
  if (admit.key && std::any_of(keys.begin(), keys.end(), [&](const Keyed& one) {
        return one.key == *admit.key && one.forget_at_ms > now_ms_;
      })) {
    return;
  }
  last_admit_ = {next_admission_, 0};
  while (last_admit_.second < admit.count && room->HasSlot() && !room->line.empty()) {
    LetIn(*room, room->line.front(), changes);
    ++last_admit_.second;
  }
  if (!admit.key) return;
  while (!keys.empty() &&
         (keys.size() >= limits::kAdmitKeysPerRoomMax || keys.front().forget_at_ms <= now_ms_)) {
    keys.erase(keys.begin());
  }
  keys.push_back({std::string(*admit.key), admit.count, last_admit_.second, last_admit_.first,
                  now_ms_ + room->settings.remember_ttl->ms});
}

void Model::Do(const command::AdmitVisitor& admit, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(admit.room, admit.visitor, &visitor, changes);
  if (room == nullptr || *room->settings.mode == Mode::kClosed) return;
  if (room->people[visitor].inside()) return;
  if (!admit.over && !room->HasSlot()) return;
  if (!room->people[visitor].present) {
    AddWaiting(*room, visitor, protocol::kLaneDefault, changes);
    changes->pop_back();
  }
  LetIn(*room, visitor, changes);
}

void Model::Do(const command::Revoke& revoke, Changes* changes) {
  uint32_t visitor;
  ModelRoom* room = Settled(revoke.room, revoke.visitor, &visitor, changes);
  if (room == nullptr) return;
  if (revoke.block_ms) {
    if (const auto old = room->blocked.find(visitor); old != room->blocked.end()) {
      due_.erase(
          Due{old->second.until_ms, Kind::kBlock, old->second.sequence, room->number, visitor});
    }
    Blocked& blocked = room->blocked[visitor];
    blocked = {next_memory_++, now_ms_ + *revoke.block_ms};
    due_.insert(Due{blocked.until_ms, Kind::kBlock, blocked.sequence, room->number, visitor});
  }
  if (room->people[visitor].present) EndAndPump(*room, visitor, Reason::kRevoked, changes);
}

void Model::Do(const command::UseTokenKey& use, Changes*) {
  std::erase_if(token_keys_, [this](const TokenKeyRange& range) {
    return range.first_admission == next_admission_;
  });
  if (TokenKeyOf(next_admission_) == use.key_id) return;
  token_keys_.push_back({next_admission_, use.key_id});
}

uint32_t Model::TokenKeyOf(uint64_t admission) const {
  uint32_t key_id = kFirstTokenKey;
  for (const TokenKeyRange& range : token_keys_) {
    if (range.first_admission <= admission) key_id = range.key_id;
  }
  return key_id;
}

}  // namespace anteroom::sim
