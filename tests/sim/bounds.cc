#include "tests/sim/bounds.h"

#include <algorithm>
#include <utility>

#include "server/base/check.h"

namespace anteroom::sim {

namespace {

// Windows that begin at so many of the last moments at which people were let in.
constexpr size_t kWindows = 24;

}  // namespace

Bounds::Limits Bounds::LimitsOf(const Room& room) {
  return {room.policy.rate, room.policy.admit_interval_ms, room.policy.mode};
}

void Bounds::Begin(const Engine& engine) {
  rooms_.clear();
  for (std::string_view name = engine.room_names().After(""); !name.empty();
       name = engine.room_names().After(name)) {
    const Room* room = engine.FindRoom(name);
    rooms_[room->number] = {room->occupied(), LimitsOf(*room), {}};
  }
}

void Bounds::CheckOrder(const Engine& engine, const Room& room, const Visitor& admitted) {
  if (room.line.empty()) return;
  const Visitor& first = engine.visitor(room.line.First());
  if (first.lane == admitted.lane) CHECK_GT(first.arrival.Get(), admitted.arrival.Get());
}

void Bounds::CheckWindows(const Seen& seen, int64_t now_ms) {
  const protocol::Rate& rate = seen.limits.rate;
  const uint64_t depth = std::max<uint64_t>(
      rate.per_ms, uint64_t{rate.count} * static_cast<uint64_t>(seen.limits.admit_interval_ms));
  uint64_t admitted = 0;
  for (auto one = seen.recent.rbegin(); one != seen.recent.rend(); ++one) {
    admitted += one->count;
    const auto window_ms = static_cast<uint64_t>(now_ms - one->at_ms);
    CHECK_LE(admitted * rate.per_ms, window_ms * rate.count + 2 * depth);
  }
}

void Bounds::Check(const Engine& engine, const Effects& effects, uint32_t by_operator, bool over) {
  uint32_t changed = 0;
  for (const RoomEffect& effect : effects.rooms) {
    if (effect.gone) {
      rooms_.erase(effect.room);
      continue;
    }
    const Room* room = engine.RoomAt(effect.room);
    if (room == nullptr) continue;
    Seen& seen = rooms_[effect.room];
    if (seen.limits == LimitsOf(*room)) continue;
    seen.limits = LimitsOf(*room);
    seen.recent.clear();
    changed = effect.room;
  }
  // A record's work by hand comes last, and is in one room.
  const size_t by_rate_end = effects.visitors.size() - by_operator;
  for (size_t i = 0; i < effects.visitors.size(); ++i) {
    const VisitorEffect& effect = effects.visitors[i];
    const Room* room = engine.RoomAt(effect.room);
    if (room == nullptr) continue;
    Seen& seen = rooms_[effect.room];
    if (effect.state == protocol::State::kAdmitted && i < by_rate_end) {
      const Visitor& visitor = engine.visitor(effect.visitor);
      if (visitor.inside()) CheckOrder(engine, *room, visitor);
      // In the record that changes a rate, the old one and the new let people in.
      if (room->policy.rated() && effect.room != changed) {
        if (seen.recent.empty() || seen.recent.back().at_ms != engine.now_ms()) {
          seen.recent.push_back({engine.now_ms(), 0});
          if (seen.recent.size() > kWindows) seen.recent.pop_front();
        }
        ++seen.recent.back().count;
        CheckWindows(seen, engine.now_ms());
      }
    }
    const bool last_of_room = std::none_of(
        effects.visitors.begin() + static_cast<ptrdiff_t>(i) + 1, effects.visitors.end(),
        [&](const VisitorEffect& later) { return later.room == effect.room; });
    if (!last_of_room) continue;
    const uint64_t beyond = over && i + 1 == effects.visitors.size() ? 1 : 0;
    CHECK_LE(room->occupied(),
             std::max(room->policy.slots(), std::exchange(seen.occupied, room->occupied())) +
                 (room->policy.slots() == Policy::kNoLimit ? 0 : beyond));
  }
}

}  // namespace anteroom::sim
