#include "server/engine/engine.h"

#include <algorithm>
#include <iterator>

#include "server/base/canary.h"
#include "server/base/limits.h"

namespace anteroom {

using protocol::Outcome;
using protocol::Reason;

namespace {

// A room with its name in two tables, the smallest block of its deque of keys, and its blocks'
// overheads; and a key with what is longer than stands in a string.
constexpr size_t kRoomBytes = sizeof(Room) + sizeof(LineSpeed) + 1024;
constexpr size_t kAdmitKeyBytes = sizeof(AdmitKey) + 64;

}  // namespace

Engine::Engine(EngineOptions options)
    : queue_pool_(options.queue_nodes_max),
      roster_(options.index_seed),
      memories_(options.index_seed),
      blocks_(options.index_seed) {}

Engine::~Engine() = default;

void Engine::Apply(int64_t at_ms, const Command& command, Effects* effects) {
  CHECK_GE(at_ms, now_ms_);
  now_ms_ = at_ms;
  admissions_left_ = limits::kAdmissionsPerRecordMax;
  DoDue(effects);
  PumpPending(effects);
  FreeDropped();
  std::visit([&](const auto& one) { Do(one, effects); }, command);
}

int64_t Engine::NextDue() const {
  if (!pump_pending_.empty() || !dropped_.empty()) return now_ms_;
  return timers_.NextDue();
}

// ---- rooms ----

Totals& Totals::operator+=(const Totals& other) {
  joined += other.joined;
  admitted += other.admitted;
  claimed += other.claimed;
  completed += other.completed;
  cancelled += other.cancelled;
  no_show += other.no_show;
  expired += other.expired;
  left += other.left;
  revoked += other.revoked;
  return *this;
}

Totals& Totals::operator-=(const Totals& other) {
  joined -= other.joined;
  admitted -= other.admitted;
  claimed -= other.claimed;
  completed -= other.completed;
  cancelled -= other.cancelled;
  no_show -= other.no_show;
  expired -= other.expired;
  left -= other.left;
  revoked -= other.revoked;
  return *this;
}

const Room* Engine::FindRoom(std::string_view name) const {
  if (recent_ != nullptr && recent_->name == name) return recent_;
  const uint32_t number = names_.Find(name);
  return number == 0 ? nullptr : RoomAt(number);
}

const Room* Engine::RoomAt(uint32_t number) const {
  if (recent_ != nullptr && recent_->number == number) return recent_;
  const auto found = rooms_.find(number);
  if (found == rooms_.end() || found->second->dropped) return nullptr;
  return recent_ = found->second.get();
}

bool Engine::CanCreateRoom() const {
  return rooms_.size() < limits::kRoomsMax;
}

bool Engine::HasPlaceForNewcomer() const {
  // A node holds one lane only. Everybody inside may go back to a lane that nobody else is in, each
  // room may yet open both of its queues, and neighbours that are three quarters full stay apart.
  const uint64_t inside = overall_.admitted + overall_.active;
  return roster_.size() < limits::kVisitorsMax &&
         queue_pool_.HasRoom(3 + inside + 4 * rooms_.size() + roster_.size() / 64);
}

Room* Engine::MutableRoom(uint32_t number) {
  return const_cast<Room*>(RoomAt(number));
}

void Engine::Do(const command::RoomCreate& create, Effects* effects) {
  if (FindRoom(create.name) != nullptr || !CanCreateRoom()) return;
  const uint32_t number = next_room_++;
  auto room = std::make_unique<Room>(number, std::string(create.name), &queue_pool_);
  room->policy = Changed(Policy{}, create.settings);
  if (!room->policy.rate.none()) {
    room->bucket.Configure(room->policy.rate, room->policy.admit_interval_ms, now_ms_);
  }
  names_.Add(room->name, number);
  Touch(*room);
  rooms_[number] = std::move(room);
  effects->rooms.push_back({number, false});
}

void Engine::Do(const command::RoomSet& set, Effects* effects) {
  Room* room = MutableRoom(set.room);
  if (room == nullptr) return;
  const Policy changed = Changed(room->policy, set.settings);
  if (changed == room->policy) return;
  const bool rate_changed = changed.rate != room->policy.rate ||
                            changed.admit_interval_ms != room->policy.admit_interval_ms;
  if (changed.mode != room->policy.mode) room->speed.reset();
  const bool limits_changed =
      rate_changed || changed.mode != room->policy.mode || changed.slots() != room->policy.slots();
  room->policy = changed;
  ++room->revision;
  if (changed.rate.none()) {
    room->bucket.Clear();
  } else if (rate_changed) {
    room->bucket.Configure(changed.rate, changed.admit_interval_ms, now_ms_);
  }
  Touch(*room);
  effects->rooms.push_back({room->number, false});
  if (limits_changed) Pump(*room, Cause::kEvent, effects);
}

void Engine::DropRoom(Room& room, Effects* effects) {
  digest_ -= room.entries_digest;
  digest_ -= room.own_digest;
  overall_.waiting -= room.line.size();
  overall_.admitted -= room.admitted;
  overall_.active -= room.active;
  overall_.totals -= room.totals;
  room.dropped = true;
  recent_ = nullptr;
  if (room.bucket_timer != 0) timers_.Cancel(std::exchange(room.bucket_timer, 0));
  names_.Remove(room.name);
  dropped_.push_back(room.number);
  effects->rooms.push_back({room.number, true});
}

void Engine::Do(const command::RoomDelete& del, Effects* effects) {
  if (Room* room = MutableRoom(del.room); room != nullptr) DropRoom(*room, effects);
}

void Engine::Do(const command::RoomReset& reset, Effects* effects) {
  Room* old = MutableRoom(reset.room);
  if (old == nullptr) return;
  const uint32_t number = next_room_++;
  auto room = std::make_unique<Room>(number, old->name, &queue_pool_);
  room->policy = old->policy;
  room->revision = old->revision;
  room->bucket = old->bucket;  // a reset lets nobody in beyond the rate
  DropRoom(*old, effects);
  names_.Add(room->name, number);
  Touch(*room);
  rooms_[number] = std::move(room);
  effects->rooms.push_back({number, false});
}

// ---- people ----

Room* Engine::Settled(uint32_t number, std::string_view id, uint32_t* handle, Effects* effects) {
  Room* room = MutableRoom(number);
  if (room == nullptr) return nullptr;
  *handle = FindVisitor(number, id);
  if (*handle != kNoHandle && roster_[*handle].inside()) {
    Session& session = roster_.sessions()[roster_[*handle].place];
    if (session.deadline_ms <= now_ms_) {
      timers_.Cancel(std::exchange(session.timer, 0));
      EndOfSession(roster_[*handle].place, effects);
      *handle = FindVisitor(number, id);
    }
  }
  return room;
}

void Engine::EndAndPump(Room& room, uint32_t handle, Reason reason, Effects* effects) {
  // Whoever leaves the line frees nothing: that alone spends nothing of the rate.
  const bool frees_slot = roster_[handle].inside();
  End(room, handle, reason, effects);
  if (frees_slot) Pump(room, Cause::kEvent, effects);
}

void Engine::Do(const command::Join& join, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(join.room, join.visitor, &handle, effects);
  if (room == nullptr || handle != kNoHandle) return;
  const bool line_was_empty = room->line.empty();
  AddWaiting(*room, join.visitor, join.lane, effects);
  if (line_was_empty) Pump(*room, Cause::kEvent, effects);
}

void Engine::Do(const command::Enter& enter, Effects* effects) {
  Do(command::Join{enter.room, enter.visitor, enter.lane}, effects);
  Do(command::Claim{enter.room, enter.visitor}, effects);
}

void Engine::Do(const command::Leave& leave, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(leave.room, leave.visitor, &handle, effects);
  if (room == nullptr || handle == kNoHandle || roster_[handle].active()) return;
  EndAndPump(*room, handle, Reason::kLeft, effects);
}

void Engine::Do(const command::Claim& claim, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(claim.room, claim.visitor, &handle, effects);
  if (room == nullptr || handle == kNoHandle || !roster_[handle].admitted()) return;
  ClaimSession(*room, handle, effects);
}

void Engine::Do(const command::Finish& finish, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(finish.room, finish.visitor, &handle, effects);
  if (room == nullptr || finish.admission == 0) return;
  if (handle != kNoHandle && roster_[handle].inside() &&
      SessionOf(roster_[handle]).admission == finish.admission) {
    const bool completed = finish.outcome == Outcome::kCompleted;
    // Before the slot is free: who is let in for it must find a unit too.
    const uint32_t units = completed ? finish.units.value_or(1) : 0;
    if (!ANTEROOM_CANARY(kSoldAfterwards)) Sell(*room, units, effects);
    EndAndPump(*room, handle, completed ? Reason::kCompleted : Reason::kCancelled, effects);
    if (ANTEROOM_CANARY(kSoldAfterwards)) Sell(*room, units, effects);
    const bool newest = finish.admission + 1 == next_admission_;
    if (ANTEROOM_CANARY(kReusedAdmission) && newest) --next_admission_;
    return;
  }
  const uint32_t memory = FindAdmission(finish.room, finish.admission, now_ms_);
  if (memory == kNoHandle || finish.outcome != Outcome::kCompleted) return;
  Memory& ended = memories_[memory];
  if (ended.id.view() != finish.visitor) return;
  if (ended.reason != Reason::kExpired && ended.reason != Reason::kNoShow) return;
  TakeOut(*room, DigestOfMemory(ended));
  ended.reason = Reason::kCompleted;
  ended.late = 1;
  TakeIn(*room, DigestOfMemory(ended));
  Count(*room, &Totals::completed);
  if (!ANTEROOM_CANARY(kLateSaleForgotten)) Sell(*room, finish.units.value_or(1), effects);
  if (ANTEROOM_CANARY(kDoubleRelease) && room->active > 0) --room->active;
}

void Engine::Do(const command::Expire& expire, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(expire.room, expire.visitor, &handle, effects);
  if (room == nullptr || handle == kNoHandle) return;
  const Visitor& visitor = roster_[handle];
  if (visitor.waiting()) {
    EndAndPump(*room, handle, Reason::kLeft, effects);
  } else if (visitor.active() && SessionOf(visitor).sliding()) {
    EndAndPump(*room, handle, Reason::kExpired, effects);
  }
}

void Engine::Do(const command::Settle& settle, Effects* effects) {
  uint32_t handle;
  Settled(settle.room, settle.visitor, &handle, effects);
}

void Engine::Do(const command::Admit& admit, Effects* effects) {
  last_admit_ = {};
  Room* room = MutableRoom(admit.room);
  if (room == nullptr || room->policy.mode == protocol::Mode::kClosed) return;
  if (admit.key && FindAdmitKey(*room, *admit.key, now_ms_) != nullptr) return;
  const uint64_t first_admission = next_admission_;
  uint32_t count = 0;
  const uint32_t asked = std::min<uint32_t>(admit.count, protocol::kAdmitCountMax);
  while (count < asked && room->has_free_slot() && !room->line.empty()) {
    LetIn(*room, room->line.First(), effects);
    ++count;
  }
  last_admit_ = {first_admission, count};
  if (!admit.key) return;
  std::deque<AdmitKey>& keys = room->admit_keys;
  while (!keys.empty() &&
         (keys.size() >= limits::kAdmitKeysPerRoomMax || keys.front().forget_at_ms <= now_ms_)) {
    keys.pop_front();
    --admit_key_count_;
  }
  keys.push_back({std::string(*admit.key), admit.count, count, first_admission,
                  now_ms_ + room->policy.remember_ttl_ms});
  ++admit_key_count_;
  Touch(*room);
}

void Engine::Do(const command::AdmitVisitor& admit, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(admit.room, admit.visitor, &handle, effects);
  if (room == nullptr || room->policy.mode == protocol::Mode::kClosed) return;
  if (handle != kNoHandle && !roster_[handle].waiting()) return;
  if (!admit.over && !room->has_free_slot()) return;
  if (handle == kNoHandle) {
    handle = AddWaiting(*room, admit.visitor, protocol::kLaneDefault, effects);
    effects->visitors.pop_back();  // waiting for no time at all
  }
  LetIn(*room, handle, effects);
}

void Engine::Do(const command::Revoke& revoke, Effects* effects) {
  uint32_t handle;
  Room* room = Settled(revoke.room, revoke.visitor, &handle, effects);
  if (room == nullptr) return;
  if (revoke.block_ms && *revoke.block_ms > 0) {
    if (const uint32_t block = blocks_.Find(revoke.room, revoke.visitor); block != kNoHandle) {
      timers_.Cancel(blocks_[block].timer);
      Unblock(*room, block);
    }
    if (room->blocks.count < limits::kBlocksPerRoomMax) {
      const uint32_t block = blocks_.Append(revoke.room, revoke.visitor, &room->blocks);
      blocks_.Lead(kNoHandle, block);
      blocks_[block].until_ms = now_ms_ + *revoke.block_ms;
      blocks_[block].timer =
          timers_.Set(TimerKind::kBlock, block, blocks_[block].until_ms, next_memory_++);
      TakeIn(*room, DigestOfBlock(blocks_[block]));
    }
  }
  if (handle != kNoHandle) EndAndPump(*room, handle, Reason::kRevoked, effects);
}

// ---- keys of tokens ----

void Engine::Do(const command::UseTokenKey& use, Effects*) {
  if (TokenKeyOf(next_admission_) == use.key_id || !CanUseTokenKey()) return;
  // A key that nobody was admitted with has no range.
  if (!token_keys_.empty() && token_keys_.back().first_admission == next_admission_) {
    digest_ -= DigestOfTokenKey(token_keys_.back());
    token_keys_.pop_back();
  }
  if (TokenKeyOf(next_admission_) == use.key_id) return;
  token_keys_.push_back({next_admission_, use.key_id});
  digest_ += DigestOfTokenKey(token_keys_.back());
}

bool Engine::CanUseTokenKey() const {
  return token_keys_.size() < limits::kTokenKeysMax;
}

uint32_t Engine::TokenKeyOf(uint64_t admission) const {
  const auto after = std::upper_bound(
      token_keys_.begin(), token_keys_.end(), admission,
      [](uint64_t number, const TokenKeyRange& range) { return number < range.first_admission; });
  return after == token_keys_.begin() ? kFirstTokenKey : std::prev(after)->key_id;
}

// ---- queries ----

uint32_t Engine::FindMemory(uint32_t room, std::string_view id, int64_t at_ms) const {
  const uint32_t memory = memories_.Find(room, id);
  if (memory == kNoHandle || memories_[memory].forget_at_ms > at_ms) return memory;
  return OlderMemory(memory, at_ms);
}

uint32_t Engine::OlderMemory(uint32_t memory, int64_t at_ms) const {
  uint32_t older = memories_[memory].older;
  while (older != kNoHandle && memories_[older].forget_at_ms <= at_ms) {
    older = memories_[older].older;
  }
  return older;
}

uint64_t Engine::RankOfAdmission(const Room& room, uint64_t admission) const {
  uint64_t low = 0;
  uint64_t high = room.inside.size();
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (roster_.sessions()[room.inside.At(middle)].admission < admission) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t Engine::FindAdmission(uint32_t room, uint64_t admission, int64_t at_ms) const {
  const uint32_t memory = memories_.FindAdmission(room, admission);
  return memory == kNoHandle || memories_[memory].forget_at_ms > at_ms ? memory : kNoHandle;
}

std::optional<int64_t> Engine::BlockedUntil(uint32_t room, std::string_view id,
                                            int64_t at_ms) const {
  const uint32_t block = blocks_.Find(room, id);
  if (block == kNoHandle || blocks_[block].until_ms <= at_ms) return std::nullopt;
  return blocks_[block].until_ms;
}

const AdmitKey* Engine::FindAdmitKey(const Room& room, std::string_view key, int64_t at_ms) const {
  const auto found =
      std::find_if(room.admit_keys.begin(), room.admit_keys.end(),
                   [&](const AdmitKey& one) { return one.key == key && one.forget_at_ms > at_ms; });
  return found == room.admit_keys.end() ? nullptr : &*found;
}

bool Engine::WouldAdmitNow(const Room& room, int64_t at_ms) const {
  if (!room.policy.admits() || !room.line.empty() || !room.has_free_slot()) return false;
  if (!room.policy.rated()) return true;
  RateBucket bucket = room.bucket;
  bucket.Fill(at_ms);
  return bucket.ForEvent() > 0;
}

size_t Engine::bytes() const {
  return roster_.bytes() + memories_.bytes() + blocks_.bytes() + timers_.bytes() +
         queue_pool_.bytes();
}

size_t Engine::used_bytes() const {
  return roster_.used_bytes() + memories_.used_bytes() + blocks_.used_bytes() +
         timers_.used_bytes() + queue_pool_.used_bytes() + rooms_.size() * kRoomBytes +
         admit_key_count_ * kAdmitKeyBytes;
}

}  // namespace anteroom
