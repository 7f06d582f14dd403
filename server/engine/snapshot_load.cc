#include <set>
#include <utility>

#include "protocol/duration.h"
#include "server/base/limits.h"
#include "server/engine/snapshot.h"

namespace anteroom {

using protocol::Reason;
using protocol::State;

namespace {

// A deadline is a time of the engine and a duration after it.
constexpr int64_t kDeadlineMsMax = kRecordMsMax + protocol::kDurationMsMax;
constexpr uint64_t kSequenceMax = (uint64_t{1} << 58) - 1;
constexpr uint64_t kArrivalMax = (uint64_t{1} << 48) - 1;

bool IsDeadline(int64_t deadline_ms) {
  return deadline_ms >= 0 && deadline_ms <= kDeadlineMsMax;
}

bool EndsAdmission(Reason reason) {
  switch (reason) {
    case Reason::kCompleted:
    case Reason::kCancelled:
    case Reason::kExpired:
    case Reason::kNoShow:
    case Reason::kLeft:
    case Reason::kRevoked:
      return true;
    default:
      return false;
  }
}

std::string Of(uint32_t room, std::string_view wrong) {
  return "room " + std::to_string(room) + ": " + std::string(wrong);
}

}  // namespace

void EngineLoader::Prefetch(std::string_view entry) const {
  // Type, presence, length, id: the same for both kinds that there are many of.
  if (entry.size() < 3 || room_ == nullptr) return;
  if (entry[0] != snapshot::Waiting::kType && entry[0] != snapshot::Inside::kType) return;
  const std::string_view id = entry.substr(3).substr(0, static_cast<uint8_t>(entry[2]));
  engine_.roster_.PrefetchBucket(engine_.roster_.HashOf(room_->number, id));
}

template <typename Entry>
std::string EngineLoader::DecodeAndTake(std::string_view bytes) {
  Entry entry;
  if (!protocol::Decode(bytes, &entry)) {
    return "an entry of kind \"" + std::string(Entry::kName) + "\" is malformed";
  }
  return Take(entry);
}

std::string EngineLoader::Add(std::string_view entry) {
  if (entry.empty()) return "an entry is empty";
  const auto type = static_cast<uint8_t>(entry[0]);
  entry.remove_prefix(1);
  if ((type == snapshot::Engine::kType) == begun_) {
    return begun_ ? "a second beginning" : "it does not begin with the engine";
  }
  switch (type) {
    case snapshot::Engine::kType:
      return DecodeAndTake<snapshot::Engine>(entry);
    case snapshot::Room::kType:
      return DecodeAndTake<snapshot::Room>(entry);
    case snapshot::PumpPending::kType:
      return DecodeAndTake<snapshot::PumpPending>(entry);
    case snapshot::Dropped::kType:
      return DecodeAndTake<snapshot::Dropped>(entry);
    default:
      break;
  }
  if (room_ == nullptr) return "people before a room";
  switch (type) {
    case snapshot::Waiting::kType:
      return DecodeAndTake<snapshot::Waiting>(entry);
    case snapshot::Inside::kType:
      return DecodeAndTake<snapshot::Inside>(entry);
    case snapshot::Memory::kType:
      return DecodeAndTake<snapshot::Memory>(entry);
    case snapshot::Block::kType:
      return DecodeAndTake<snapshot::Block>(entry);
    default:
      return "an entry is of the unknown type " + std::to_string(type);
  }
}

std::string EngineLoader::TakeTokenKeys(const snapshot::Engine& entry) {
  if (!entry.token_keys) return {};
  if (entry.token_keys->empty() || entry.token_keys->size() > limits::kTokenKeysMax) {
    return "so many keys of tokens cannot be";
  }
  std::vector<TokenKeyRange>& ranges = engine_.token_keys_;
  ranges.reserve(entry.token_keys->size());
  TokenKeyRange last{0, kFirstTokenKey};
  for (const auto& [first_admission, key_id] : *entry.token_keys) {
    if (first_admission <= last.first_admission || first_admission > entry.next_admission ||
        key_id == kFirstTokenKey || key_id == last.key_id) {
      return "the keys of tokens are out of order";
    }
    last = ranges.emplace_back(TokenKeyRange{first_admission, key_id});
    engine_.digest_ += Engine::DigestOfTokenKey(last);
  }
  return {};
}

std::string EngineLoader::Take(const snapshot::Engine& entry) {
  if (entry.now_ms < 0 || entry.now_ms > kRecordMsMax || entry.next_arrival == 0 ||
      entry.next_arrival > kArrivalMax || entry.next_admission == 0 ||
      entry.next_admission > kSequenceMax || entry.next_memory == 0 ||
      entry.next_memory > kSequenceMax || entry.next_room == 0) {
    return "the engine's counters are out of their ranges";
  }
  if (std::string wrong = TakeTokenKeys(entry); !wrong.empty()) return wrong;
  header_ = entry;
  header_.token_keys.reset();  // taken
  begun_ = true;
  engine_.now_ms_ = entry.now_ms;
  engine_.next_arrival_ = entry.next_arrival;
  engine_.next_admission_ = entry.next_admission;
  engine_.next_memory_ = entry.next_memory;
  engine_.next_room_ = entry.next_room;
  return {};
}

std::string EngineLoader::Take(const snapshot::Room& entry) {
  const uint32_t number = entry.number;
  std::string wrong = protocol::CheckRoomName(entry.name);
  if (wrong.empty()) wrong = protocol::CheckSettings(entry.settings);
  if (!wrong.empty()) return Of(number, wrong);
  const bool in_order = number != 0 && (room_ == nullptr || number > room_->number);
  if (!in_order || number >= header_.next_room || !engine_.CanCreateRoom()) {
    return Of(number, "its number is out of order");
  }
  if (!entry.dropped && engine_.names_.Find(entry.name) != 0) {
    return Of(number, "there are two of its name");
  }
  if (entry.totals.size() != sizeof(Totals) / sizeof(uint64_t)) {
    return Of(number, "its totals are not complete");
  }
  auto room = std::make_unique<Room>(number, std::string(entry.name), &engine_.queue_pool_);
  room->dropped = entry.dropped;
  room->revision = entry.revision;
  room->policy = Changed(Policy{}, entry.settings);
  if (!IsTime(entry.bucket_filled_at_ms)) return Of(number, "its rate was filled in the future");
  if (!room->policy.rate.none()) {
    room->bucket.Configure(room->policy.rate, room->policy.admit_interval_ms,
                           entry.bucket_filled_at_ms);
  }
  if (!room->bucket.Restore(entry.bucket_level, entry.bucket_filled_at_ms)) {
    return Of(number, "more is there to be admitted than its rate holds");
  }
  if (entry.bucket_due_ms) {
    if (entry.dropped || !IsDeadline(*entry.bucket_due_ms)) {
      return Of(number, "its rate is due at no time");
    }
    room->bucket_timer =
        engine_.timers_.Set(TimerKind::kBucket, number, *entry.bucket_due_ms, number);
  }
  size_t i = 0;
  for (uint64_t* total : {&room->totals.joined, &room->totals.admitted, &room->totals.claimed,
                          &room->totals.completed, &room->totals.cancelled, &room->totals.no_show,
                          &room->totals.expired, &room->totals.left, &room->totals.revoked}) {
    *total = entry.totals[i++];
  }
  if (entry.admit_keys.size() > limits::kAdmitKeysPerRoomMax) return Of(number, "too many keys");
  for (const snapshot::AdmitKey& key : entry.admit_keys) {
    if (key.key.empty() || key.key.size() > protocol::kAdmitKeyBytesMax ||
        key.count > protocol::kAdmitCountMax ||
        key.first_admission > header_.next_admission - key.count || !IsDeadline(key.forget_at_ms)) {
      return Of(number, "a key is none");
    }
    room->admit_keys.push_back(
        {std::string(key.key), key.asked, key.count, key.first_admission, key.forget_at_ms});
    ++engine_.admit_key_count_;
  }
  if (entry.sold_units.has_value() != entry.oversold_units.has_value()) {
    return Of(number, "what it has sold is not complete");
  }
  room->sold_units = entry.sold_units.value_or(0);
  room->oversold_units = entry.oversold_units.value_or(0);
  room_ = room.get();
  last_waiting_ = {0, 0};
  last_admission_ = 0;
  if (!entry.dropped) {
    engine_.overall_.totals += room->totals;
    engine_.names_.Add(room->name, number);
    engine_.Touch(*room);
  }
  engine_.rooms_[number] = std::move(room);
  return {};
}

// What those waiting and those inside have in common.
template <typename Entry>
std::string EngineLoader::CheckVisitor(const Entry& entry) const {
  if (entry.visitor.empty() || entry.visitor.size() > protocol::kVisitorIdBytesMax) {
    return Of(room_->number, "a visitor without an id");
  }
  if (entry.arrival == 0 || entry.arrival >= header_.next_arrival || !IsTime(entry.at_ms)) {
    return Of(room_->number, "a visitor of the future");
  }
  if (engine_.FindVisitor(room_->number, entry.visitor) != kNoHandle) {
    return Of(room_->number, "a visitor stands in it twice");
  }
  if (engine_.roster_.size() >= limits::kVisitorsMax || !engine_.queue_pool_.HasRoom(4))
    return "there are more people than the daemon may hold";
  return {};
}

std::string EngineLoader::Take(const snapshot::Waiting& entry) {
  std::string wrong = CheckVisitor(entry);
  if (!wrong.empty()) return wrong;
  const QueueKey key{entry.lane, entry.arrival};
  if (!(last_waiting_ < key) || !room_->inside.empty()) {
    return Of(room_->number, "its line is out of order");
  }
  last_waiting_ = key;
  const uint32_t handle = engine_.roster_.Add(room_->number, entry.visitor);
  Visitor& visitor = engine_.roster_[handle];
  visitor.state = static_cast<uint8_t>(State::kWaiting);
  visitor.lane = entry.lane;
  visitor.requeues = entry.requeues;
  visitor.arrival.Set(entry.arrival);
  visitor.at_ms.Set(static_cast<uint64_t>(entry.at_ms));
  LineOwner owner{engine_.roster_};
  room_->line.Insert(owner, handle, key);
  if (room_->dropped) return {};
  ++engine_.overall_.waiting;
  engine_.TakeIn(*room_, engine_.DigestOfVisitor(visitor));
  return {};
}

std::string EngineLoader::Take(const snapshot::Inside& entry) {
  std::string wrong = CheckVisitor(entry);
  if (!wrong.empty()) return wrong;
  if (entry.admission <= last_admission_ || entry.admission >= header_.next_admission) {
    return Of(room_->number, "its admissions are out of order");
  }
  if (room_->memories.count != 0) return Of(room_->number, "those inside come after the memories");
  last_admission_ = entry.admission;
  const int64_t deadline_ms = entry.deadline_ms.value_or(Session::kNever);
  if ((entry.deadline_ms && !IsDeadline(deadline_ms)) ||
      (!entry.deadline_ms && (entry.timed || !entry.active)) ||
      (entry.deadline_ms && !entry.timed && !room_->dropped)) {
    return Of(room_->number, "somebody inside has no right deadline");
  }
  const uint32_t handle = engine_.roster_.Add(room_->number, entry.visitor);
  const uint32_t session_handle = engine_.roster_.sessions().Allocate();
  Session& session = engine_.roster_.sessions()[session_handle];
  session.admission = entry.admission;
  session.deadline_ms = deadline_ms;
  session.visitor = handle;
  if (entry.timed) {
    session.timer =
        engine_.timers_.Set(TimerKind::kSession, session_handle, deadline_ms, entry.admission);
  }
  Visitor& visitor = engine_.roster_[handle];
  visitor.state = static_cast<uint8_t>(entry.active ? State::kActive : State::kAdmitted);
  visitor.lane = entry.lane;
  visitor.requeues = entry.requeues;
  visitor.arrival.Set(entry.arrival);
  visitor.at_ms.Set(static_cast<uint64_t>(entry.at_ms));
  visitor.place = session_handle;
  InsideOwner owner{engine_.roster_};
  session.place = room_->inside.Insert(owner, session_handle, {0, entry.admission});
  ++(entry.active ? room_->active : room_->admitted);
  if (room_->dropped) return {};
  ++(entry.active ? engine_.overall_.active : engine_.overall_.admitted);
  engine_.TakeIn(*room_, engine_.DigestOfVisitor(visitor));
  return {};
}

bool EngineLoader::IsInside(uint64_t admission) const {
  const uint64_t rank = engine_.RankOfAdmission(*room_, admission);
  return rank < room_->inside.size() &&
         engine_.roster_.sessions()[room_->inside.At(rank)].admission == admission;
}

std::string EngineLoader::Take(const snapshot::Memory& entry) {
  if (entry.visitor.empty() || !EndsAdmission(entry.reason) || !IsTime(entry.at_ms) ||
      entry.admission >= header_.next_admission || entry.arrival >= header_.next_arrival ||
      !IsDeadline(entry.forget_at_ms) || entry.sequence >= header_.next_memory ||
      room_->memories.count >= limits::kMemoriesPerRoomMax) {
    return Of(room_->number, "somebody remembered is out of the ranges");
  }
  if (entry.admission != 0 &&
      engine_.memories_.FindAdmission(room_->number, entry.admission) != kNoHandle) {
    return Of(room_->number, "an admission ended twice");
  }
  if (IsInside(entry.admission)) return Of(room_->number, "an admission ended and goes on");
  Memories& memories = engine_.memories_;
  const uint32_t older = memories.Find(room_->number, entry.visitor);
  const uint32_t handle = memories.Append(room_->number, entry.visitor, &room_->memories);
  memories.Lead(older, handle);
  if (older != kNoHandle) memories[older].newer = handle;
  Memory& memory = memories[handle];
  memory.reason = entry.reason;
  memory.late = entry.late ? 1 : 0;
  memory.lane = entry.lane;
  memory.older = older;
  memory.admission = entry.admission;
  memory.arrival = entry.arrival;
  memory.at_ms = entry.at_ms;
  memory.forget_at_ms = entry.forget_at_ms;
  memory.timer =
      engine_.timers_.Set(TimerKind::kMemory, handle, entry.forget_at_ms, entry.sequence);
  if (entry.admission != 0) memories.AddAdmission(handle);
  if (!room_->dropped) engine_.TakeIn(*room_, engine_.DigestOfMemory(memory));
  return {};
}

std::string EngineLoader::Take(const snapshot::Block& entry) {
  if (entry.visitor.empty() || !IsDeadline(entry.until_ms) ||
      entry.sequence >= header_.next_memory || room_->blocks.count >= limits::kBlocksPerRoomMax) {
    return Of(room_->number, "somebody kept out is out of the ranges");
  }
  Blocks& blocks = engine_.blocks_;
  if (blocks.Find(room_->number, entry.visitor) != kNoHandle) {
    return Of(room_->number, "somebody is kept out twice");
  }
  const uint32_t handle = blocks.Append(room_->number, entry.visitor, &room_->blocks);
  blocks.Lead(kNoHandle, handle);
  blocks[handle].until_ms = entry.until_ms;
  blocks[handle].timer =
      engine_.timers_.Set(TimerKind::kBlock, handle, entry.until_ms, entry.sequence);
  if (!room_->dropped) engine_.TakeIn(*room_, engine_.DigestOfBlock(blocks[handle]));
  return {};
}

std::string EngineLoader::Take(const snapshot::PumpPending& entry) {
  const auto found = engine_.rooms_.find(entry.room);
  if (found == engine_.rooms_.end() || std::exchange(found->second->pump_pending, true)) {
    return Of(entry.room, "it has nobody to let in");
  }
  engine_.pump_pending_.push_back(entry.room);
  return {};
}

std::string EngineLoader::Take(const snapshot::Dropped& entry) {
  const auto found = engine_.rooms_.find(entry.room);
  if (found == engine_.rooms_.end() || !found->second->dropped ||
      engine_.dropped_.size() == header_.rooms) {
    return Of(entry.room, "it was not dropped");
  }
  engine_.dropped_.push_back(entry.room);
  return {};
}

std::string EngineLoader::Finish() {
  if (!begun_) return "it is empty";
  size_t dropped = 0;
  for (const auto& [number, room] : engine_.rooms_) {  // order-free: a count
    dropped += room->dropped ? 1 : 0;
  }
  const std::set<uint32_t> distinct(engine_.dropped_.begin(), engine_.dropped_.end());
  if (header_.rooms != engine_.rooms_.size() || header_.visitors != engine_.roster_.size() ||
      header_.memories != engine_.memories_.size() || header_.blocks != engine_.blocks_.size() ||
      dropped != engine_.dropped_.size() || dropped != distinct.size()) {
    return "it does not hold as many as it says";
  }
  return {};
}

}  // namespace anteroom
