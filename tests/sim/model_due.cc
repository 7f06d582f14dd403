// What time alone does, and what is left of rooms that are gone.

#include <algorithm>
#include <utility>
#include <vector>

#include "server/base/limits.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

using protocol::NoShow;
using protocol::Reason;
using protocol::State;

int64_t Model::NextDue() const {
  if (!dropped_.empty() || !pump_pending_.empty()) return now_ms_;
  return due_.empty() ? kNever : due_.begin()->deadline_ms;
}

void Model::DoDue(Changes* changes) {
  if (due_.empty() || due_.begin()->deadline_ms > now_ms_) return;
  std::vector<Due> over;
  while (!due_.empty() && due_.begin()->deadline_ms <= now_ms_ &&
         over.size() < limits::kDuePerRecordMax) {
    over.push_back(*due_.begin());
    due_.erase(due_.begin());
    if (over.back().kind == Kind::kBucket) rooms_.at(over.back().room).bucket_due_ms = kNever;
  }
  for (const Due& one : over) {
    ModelRoom& room = rooms_.at(one.room);
    switch (one.kind) {
      case Kind::kSession:
        EndOfSession(room, one.visitor, changes);
        break;
      case Kind::kMemory:
        std::erase_if(room.ended[one.visitor],
                      [&](const Ended& ended) { return ended.sequence == one.sequence; });
        break;
      case Kind::kBlock:
        room.blocked.erase(one.visitor);
        break;
      case Kind::kBucket:
        Pump(room, true, changes);
        break;
    }
  }
}

void Model::EndOfSession(ModelRoom& room, uint32_t visitor, Changes* changes) {
  if (room.dropped) return;
  const Person& person = room.people[visitor];
  if (person.state == State::kActive) {
    EndAndPump(room, visitor, Reason::kExpired, changes);
  } else if (*room.settings.no_show == NoShow::kRequeue &&
             person.requeues < *room.settings.requeue_max) {
    Requeue(room, visitor, changes);
    Pump(room, false, changes);
  } else {
    EndAndPump(room, visitor, Reason::kNoShow, changes);
  }
}

// So many entries of rooms that are gone with every record.
void Model::Free() {
  size_t left = limits::kFreedPerRecordMax;
  while (left > 0 && !dropped_.empty()) {
    left -= FreeSome(rooms_.at(dropped_.front()), left);
    if (left == 0) return;
    rooms_.erase(dropped_.front());
    dropped_.erase(dropped_.begin());
  }
}

size_t Model::FreeSome(ModelRoom& room, size_t entries_max) {
  size_t freed = 0;
  for (; freed < entries_max && !room.line.empty(); ++freed) room.line.erase(room.line.begin());
  for (; freed < entries_max && !room.inside.empty(); ++freed) {
    LeaveInside(room, room.inside.front());
  }
  if (freed == entries_max) return freed;
  std::vector<std::pair<uint64_t, uint32_t>> oldest;  // sequence, visitor
  for (uint32_t visitor = 0; visitor < room.ended.size(); ++visitor) {
    for (const Ended& ended : room.ended[visitor]) oldest.emplace_back(ended.sequence, visitor);
  }
  std::sort(oldest.begin(), oldest.end());
  for (size_t i = 0; freed < entries_max && i < oldest.size(); ++freed, ++i) {
    std::vector<Ended>& ended = room.ended[oldest[i].second];
    due_.erase(Due{ended.front().forget_at_ms, Kind::kMemory, ended.front().sequence, room.number,
                   oldest[i].second});
    ended.erase(ended.begin());
  }
  oldest.clear();
  for (const auto& [visitor, blocked] : room.blocked) {
    oldest.emplace_back(blocked.sequence, visitor);
  }
  std::sort(oldest.begin(), oldest.end());
  for (size_t i = 0; freed < entries_max && i < oldest.size(); ++freed, ++i) {
    const auto blocked = room.blocked.find(oldest[i].second);
    due_.erase(Due{blocked->second.until_ms, Kind::kBlock, blocked->second.sequence, room.number,
                   oldest[i].second});
    room.blocked.erase(blocked);
  }
  return freed;
}

}  // namespace anteroom::sim
