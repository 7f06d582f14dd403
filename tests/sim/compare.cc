#include "tests/sim/compare.h"

#include <algorithm>
#include <string>

#include "server/base/check.h"
#include "server/engine/policy.h"

namespace anteroom::sim {

namespace {

void ComparePerson(const Engine& engine, const ModelRoom& room, uint32_t number,
                   const Names& names) {
  const Person& person = room.people[number];
  const uint32_t handle = engine.FindVisitor(room.number, names.Visitor(number));
  CHECK_EQ(handle != kNoHandle, person.present);
  if (!person.present) return;
  const Visitor& visitor = engine.visitor(handle);
  CHECK_EQ(visitor.state, static_cast<uint8_t>(person.state));
  CHECK_EQ(visitor.lane, person.lane);
  CHECK_EQ(visitor.requeues, person.requeues);
  CHECK_EQ(visitor.arrival.Get(), person.arrival);
  CHECK_EQ(visitor.at_ms.Get(), static_cast<uint64_t>(person.at_ms));
  if (person.waiting()) {
    CHECK_EQ(engine.AheadOf(visitor), room.AheadOf(number));
    return;
  }
  const Session& session = engine.SessionOf(visitor);
  CHECK_EQ(session.admission, person.admission);
  CHECK_EQ(session.deadline_ms, person.deadline_ms);
  CHECK_EQ(session.sliding(), person.sliding);
}

void CompareCounts(const Room& room, const ModelRoom& wanted) {
  CHECK_EQ(room.line.size(), wanted.line.size());
  CHECK_EQ(room.occupied(), wanted.inside.size());
  CHECK_EQ(room.active, wanted.active());
  CHECK(room.totals == wanted.totals);
  CHECK_EQ(room.sold_units, wanted.sold_units);
  CHECK_EQ(room.oversold_units, wanted.oversold_units);
}

void Add(Totals* sum, const Totals& more) {
  sum->joined += more.joined;
  sum->admitted += more.admitted;
  sum->claimed += more.claimed;
  sum->completed += more.completed;
  sum->cancelled += more.cancelled;
  sum->no_show += more.no_show;
  sum->expired += more.expired;
  sum->left += more.left;
  sum->revoked += more.revoked;
}

void CompareOverall(const Engine& engine, const Model& model) {
  Overall sum;
  for (const auto& [number, room] : model.rooms()) {
    if (room.dropped) continue;
    const uint64_t active = room.active();
    sum.waiting += room.line.size();
    sum.active += active;
    sum.admitted += room.inside.size() - active;
    Add(&sum.totals, room.totals);
  }
  CHECK_EQ(engine.overall().waiting, sum.waiting);
  CHECK_EQ(engine.overall().admitted, sum.admitted);
  CHECK_EQ(engine.overall().active, sum.active);
  CHECK(engine.overall().totals == sum.totals);
}

// Those of a visitor who ended, those too whose time is over but who are still kept.
void CompareEnded(const Engine& engine, const ModelRoom& room, uint32_t number,
                  const Names& names) {
  constexpr int64_t kBegin = INT64_MIN;
  uint32_t memory = engine.FindMemory(room.number, names.Visitor(number), kBegin);
  const std::vector<Ended>& ended = room.ended[number];
  for (auto wanted = ended.rbegin(); wanted != ended.rend(); ++wanted) {
    CHECK_NE(memory, kNoHandle);
    const Memory& got = engine.memory(memory);
    CHECK(got.reason == wanted->reason);
    CHECK_EQ(got.late != 0, wanted->late);
    CHECK_EQ(got.lane, wanted->lane);
    CHECK_EQ(got.admission, wanted->admission);
    CHECK_EQ(got.arrival, wanted->arrival);
    CHECK_EQ(got.at_ms, wanted->at_ms);
    CHECK_EQ(got.forget_at_ms, wanted->forget_at_ms);
    memory = engine.OlderMemory(memory, kBegin);
  }
  CHECK_EQ(memory, kNoHandle);
  const auto until_ms = engine.BlockedUntil(room.number, names.Visitor(number), kBegin);
  const auto blocked = room.blocked.find(number);
  CHECK_EQ(until_ms.has_value(), blocked != room.blocked.end());
  if (until_ms) CHECK_EQ(*until_ms, blocked->second.until_ms);
}

void CompareRoom(const Engine& engine, const ModelRoom& wanted, const Names& names) {
  const Room* room = engine.RoomAt(wanted.number);
  CHECK(room != nullptr);
  CHECK(engine.FindRoom(names.Room(wanted.name)) == room);
  CHECK_EQ(room->revision, wanted.revision);
  CHECK(SettingsOf(room->policy) == wanted.settings);
  CompareCounts(*room, wanted);

  // Ranks are exactly 1 to n, in order.
  QueuePlace place = room->line.FirstPlace();
  for (uint64_t ahead = 0; ahead < wanted.line.size(); ++ahead) {
    CHECK(place != kNoPlace);
    const Visitor& visitor = engine.visitor(room->line.HandleAt(place));
    CHECK_EQ(names.VisitorOf(visitor.id.view()), wanted.line[ahead]);
    CHECK_EQ(engine.AheadOf(visitor), ahead);
    CHECK_EQ(room->line.At(ahead), room->line.HandleAt(place));
    place = room->line.Next(place);
  }
  CHECK(place == kNoPlace);
  place = room->inside.FirstPlace();
  for (const uint32_t number : wanted.inside) {
    CHECK(place != kNoPlace);
    const Session& session = engine.roster().sessions()[room->inside.HandleAt(place)];
    CHECK_EQ(names.VisitorOf(engine.visitor(session.visitor).id.view()), number);
    place = room->inside.Next(place);
  }
  CHECK(place == kNoPlace);

  for (uint32_t number = 0; number < names.visitors(); ++number) {
    ComparePerson(engine, wanted, number, names);
    CompareEnded(engine, wanted, number, names);
  }
  CHECK_EQ(room->blocks.count, wanted.blocked.size());
  CHECK(std::equal(room->admit_keys.begin(), room->admit_keys.end(), wanted.keys.begin(),
                   wanted.keys.end(), [](const AdmitKey& got, const Keyed& want) {
                     return got.key == want.key && got.asked == want.asked &&
                            got.count == want.count &&
                            got.first_admission == want.first_admission &&
                            got.forget_at_ms == want.forget_at_ms;
                   }));
  if (wanted.bucket.made) {
    RateBucket bucket = room->bucket;
    bucket.Fill(engine.now_ms());
    const uint64_t filled =
        wanted.bucket.level + static_cast<uint64_t>(engine.now_ms() - wanted.bucket.filled_at_ms) *
                                  wanted.settings.rate->count;
    CHECK_EQ(bucket.level(), std::min(2 * wanted.bucket.depth, filled));
  }
}

}  // namespace

void CompareTouched(const Engine& engine, const Model& model, const Names& names,
                    const Effects& effects, const std::vector<Change>& changes) {
  CHECK_EQ(effects.visitors.size(), changes.size());
  const ModelRoom* counted = nullptr;
  for (size_t i = 0; i < changes.size(); ++i) {
    CHECK_EQ(effects.visitors[i].room, changes[i].room);
    CHECK(effects.visitors[i].state == changes[i].state);
    const ModelRoom* room = model.RoomAt(changes[i].room);
    const Room* engine_room = engine.RoomAt(changes[i].room);
    CHECK_EQ(room != nullptr, engine_room != nullptr);
    if (room == nullptr) continue;
    ComparePerson(engine, *room, changes[i].visitor, names);
    if (room != counted) CompareCounts(*engine_room, *room);
    counted = room;
  }
  CompareOverall(engine, model);
}

void CompareAll(Engine& engine, const Model& model, const Names& names) {
  engine.check_invariants();
  CHECK_EQ(engine.now_ms(), model.now_ms());
  CHECK_EQ(engine.NextDue(), model.NextDue());
  CHECK(engine.token_keys() == model.token_keys());
  CHECK_EQ(engine.has_deadlines(), model.has_deadlines());
  CompareOverall(engine, model);
  size_t rooms = 0;
  for (const auto& [number, room] : model.rooms()) {
    if (room.dropped) continue;
    CompareRoom(engine, room, names);
    ++rooms;
  }
  CHECK_EQ(engine.room_names().size(), rooms);
}

}  // namespace anteroom::sim
