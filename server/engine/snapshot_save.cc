#include <algorithm>
#include <vector>

#include "server/engine/snapshot.h"

namespace anteroom {
namespace {

template <typename Entry>
std::string_view Bytes(const Entry& entry, std::string* bytes) {
  bytes->assign(1, static_cast<char>(Entry::kType));
  protocol::Encode(entry, bytes);
  return *bytes;
}

}  // namespace

// Of the engine's friends, so that the engine need not know of files.
class EngineSaver {
 public:
  EngineSaver(const Engine& engine, const std::function<bool(std::string_view)>& take)
      : engine_(engine), take_(take) {}

  bool Save();

 private:
  bool SaveRoom(const Room& room);
  bool SaveLine(const Room& room);
  bool SaveInside(const Room& room);
  bool SavePast(const Room& room);
  template <typename Entry>
  bool Put(const Entry& entry) {
    return take_(Bytes(entry, &bytes_));
  }

  const Engine& engine_;
  const std::function<bool(std::string_view)>& take_;
  std::string bytes_;
};

bool EngineSaver::Save() {
  snapshot::Engine all;
  all.now_ms = engine_.now_ms_;
  all.next_arrival = engine_.next_arrival_;
  all.next_admission = engine_.next_admission_;
  all.next_memory = engine_.next_memory_;
  all.next_room = engine_.next_room_;
  all.rooms = engine_.rooms_.size();
  all.visitors = engine_.roster_.size();
  all.memories = engine_.memories_.size();
  all.blocks = engine_.blocks_.size();
  if (!engine_.token_keys_.empty()) {
    std::vector<snapshot::TokenKey>& keys = all.token_keys.emplace();
    keys.reserve(engine_.token_keys_.size());
    for (const auto& [first_admission, key_id] : engine_.token_keys_) {
      keys.push_back({first_admission, key_id});
    }
  }
  if (!Put(all)) return false;

  std::vector<uint32_t> numbers;
  numbers.reserve(engine_.rooms_.size());
  for (const auto& [number, room] : engine_.rooms_) {  // order-free: sorted next
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  for (const uint32_t number : numbers) {
    const Room& room = *engine_.rooms_.find(number)->second;
    if (!SaveRoom(room) || !SaveLine(room) || !SaveInside(room) || !SavePast(room)) return false;
  }
  for (const uint32_t number : engine_.pump_pending_) {
    if (!Put(snapshot::PumpPending{number})) return false;
  }
  for (const uint32_t number : engine_.dropped_) {
    if (!Put(snapshot::Dropped{number})) return false;
  }
  return true;
}

bool EngineSaver::SaveRoom(const Room& room) {
  snapshot::Room entry;
  entry.name = room.name;
  entry.number = room.number;
  entry.dropped = room.dropped;
  entry.revision = room.revision;
  entry.settings = SettingsOf(room.policy);
  entry.bucket_level = room.bucket.level();
  entry.bucket_filled_at_ms = room.bucket.filled_at_ms();
  if (room.bucket_timer != 0) entry.bucket_due_ms = engine_.timers_.DeadlineOf(room.bucket_timer);
  const Totals& totals = room.totals;
  entry.totals = {totals.joined,    totals.admitted,  totals.claimed,
                  totals.completed, totals.cancelled, totals.no_show,
                  totals.expired,   totals.left,      totals.revoked};
  entry.admit_keys.reserve(room.admit_keys.size());
  for (const AdmitKey& key : room.admit_keys) {
    entry.admit_keys.push_back(
        {key.key, key.asked, key.count, key.first_admission, key.forget_at_ms});
  }
  if (room.sold_units + room.oversold_units > 0) {
    entry.sold_units = room.sold_units;
    entry.oversold_units = room.oversold_units;
  }
  return Put(entry);
}

bool EngineSaver::SaveLine(const Room& room) {
  QueuePlace place = room.line.FirstPlace();
  for (; place != kNoPlace; place = room.line.Next(place)) {
    const Visitor& visitor = engine_.roster_[room.line.HandleAt(place)];
    snapshot::Waiting entry;
    entry.visitor = visitor.id.view();
    entry.lane = visitor.lane;
    entry.requeues = visitor.requeues;
    entry.arrival = visitor.arrival.Get();
    entry.at_ms = static_cast<int64_t>(visitor.at_ms.Get());
    if (!Put(entry)) return false;
  }
  return true;
}

bool EngineSaver::SaveInside(const Room& room) {
  QueuePlace place = room.inside.FirstPlace();
  for (; place != kNoPlace; place = room.inside.Next(place)) {
    const Session& session = engine_.roster_.sessions()[room.inside.HandleAt(place)];
    const Visitor& visitor = engine_.roster_[session.visitor];
    snapshot::Inside entry;
    entry.visitor = visitor.id.view();
    entry.lane = visitor.lane;
    entry.requeues = visitor.requeues;
    entry.arrival = visitor.arrival.Get();
    entry.at_ms = static_cast<int64_t>(visitor.at_ms.Get());
    entry.active = visitor.active();
    entry.admission = session.admission;
    if (!session.sliding()) entry.deadline_ms = session.deadline_ms;
    entry.timed = session.timer != 0;
    if (!Put(entry)) return false;
  }
  return true;
}

bool EngineSaver::SavePast(const Room& room) {
  for (uint32_t handle = room.memories.first; handle != 0;) {
    const Memory& memory = engine_.memories_[handle];
    snapshot::Memory entry;
    entry.visitor = memory.id.view();
    entry.reason = memory.reason;
    entry.late = memory.late != 0;
    entry.lane = memory.lane;
    entry.arrival = memory.arrival;
    entry.admission = memory.admission;
    entry.at_ms = memory.at_ms;
    entry.forget_at_ms = memory.forget_at_ms;
    entry.sequence = engine_.timers_.SequenceOf(memory.timer);
    if (!Put(entry)) return false;
    handle = memory.next;
  }
  for (uint32_t handle = room.blocks.first; handle != 0;) {
    const Block& block = engine_.blocks_[handle];
    snapshot::Block entry;
    entry.visitor = block.id.view();
    entry.until_ms = block.until_ms;
    entry.sequence = engine_.timers_.SequenceOf(block.timer);
    if (!Put(entry)) return false;
    handle = block.next;
  }
  return true;
}

void SaveEngine(const Engine& engine, const std::function<bool(std::string_view)>& take) {
  EngineSaver(engine, take).Save();
}

}  // namespace anteroom
