// Recounts everything that the engine keeps up step by step.

#include "server/base/limits.h"
#include "server/engine/engine.h"

namespace anteroom {

void Engine::check_invariants() {
  roster_.check_invariants();
  memories_.check_invariants();
  blocks_.check_invariants();
  timers_.check_invariants();
  names_.check_invariants();

  Digest recounted = DigestOfEngine();
  uint64_t last_range = 0;
  for (const TokenKeyRange& range : token_keys_) {
    CHECK_LT(last_range, range.first_admission);
    CHECK_NE(TokenKeyOf(range.first_admission - 1), range.key_id);
    CHECK_EQ(TokenKeyOf(range.first_admission), range.key_id);
    last_range = range.first_admission;
    recounted += DigestOfTokenKey(range);
  }
  CHECK_LE(last_range, next_admission_);
  CHECK_LE(token_keys_.size(), limits::kTokenKeysMax);
  Overall overall;
  size_t people = 0;
  size_t timers = 0;
  size_t memories = 0;
  size_t admit_keys = 0;
  for (const auto& [number, room] : rooms_) {  // order-free: sums and checks only
    CHECK_EQ(number, room->number);
    room->line.check_invariants(LineOwner{roster_});
    room->inside.check_invariants(InsideOwner{roster_});
    room->bucket.check_invariants();
    if (room->speed != nullptr) room->speed->check_invariants();
    people += room->line.size() + room->inside.size();
    timers += room->bucket_timer != 0;
    admit_keys += room->admit_keys.size();

    Digest entries;
    QueuePlace place = room->line.FirstPlace();
    for (uint64_t ahead = 0; place != kNoPlace; ++ahead, place = room->line.Next(place)) {
      const Visitor& visitor = roster_[room->line.HandleAt(place)];
      CHECK(visitor.waiting());
      CHECK_EQ(visitor.room, number);
      CHECK_EQ(visitor.place, place.value);
      CHECK_EQ(AheadOf(visitor), ahead);
      entries += DigestOfVisitor(visitor);
    }
    uint64_t admitted = 0;
    uint64_t active = 0;
    place = room->inside.FirstPlace();
    for (; place != kNoPlace; place = room->inside.Next(place)) {
      const uint32_t handle = room->inside.HandleAt(place);
      const Session& session = roster_.sessions()[handle];
      const Visitor& visitor = roster_[session.visitor];
      CHECK(visitor.inside());
      CHECK_EQ(visitor.room, number);
      CHECK_EQ(visitor.place, handle);
      CHECK(session.place == place);
      CHECK_EQ(memories_.FindAdmission(number, session.admission), kNoHandle);
      ++(visitor.admitted() ? admitted : active);
      CHECK(room->dropped || visitor.active() || session.timer != 0);
      timers += session.timer != 0;
      entries += DigestOfVisitor(visitor);
    }
    for (uint32_t memory = room->memories.first; memory != 0; memory = memories_[memory].next) {
      CHECK_EQ(memories_[memory].room, number);
      timers += memories_[memory].timer != 0;
      ++memories;
      if (const uint32_t older = memories_[memory].older; older != kNoHandle) {
        CHECK_EQ(memories_[older].newer, memory);
      }
      if (const uint64_t admission = memories_[memory].admission; admission != 0) {
        CHECK_EQ(memories_.FindAdmission(number, admission), memory);
      }
      entries += DigestOfMemory(memories_[memory]);
    }
    for (uint32_t block = room->blocks.first; block != 0; block = blocks_[block].next) {
      CHECK_EQ(blocks_[block].room, number);
      timers += blocks_[block].timer != 0;
      entries += DigestOfBlock(blocks_[block]);
    }
    if (room->dropped) continue;
    CHECK_EQ(names_.Find(room->name), number);
    CHECK_EQ(room->admitted, admitted);
    CHECK_EQ(room->active, active);
    CHECK(room->entries_digest == entries);
    overall.waiting += room->line.size();
    overall.admitted += admitted;
    overall.active += active;
    recounted += entries;
    recounted += DigestOfRoom(*room);
  }
  CHECK_EQ(overall_.waiting, overall.waiting);
  CHECK_EQ(overall_.admitted, overall.admitted);
  CHECK_EQ(overall_.active, overall.active);
  CHECK_EQ(roster_.size(), people);
  CHECK_EQ(memories_.size(), memories);
  CHECK_EQ(admit_key_count_, admit_keys);
  CHECK_EQ(timers_.size(), timers);
  CHECK(digest() == recounted);
}

}  // namespace anteroom
