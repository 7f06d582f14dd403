// A room: its policy, its line, who is inside, and what it counts.
#ifndef ANTEROOM_SERVER_ENGINE_ROOM_H_
#define ANTEROOM_SERVER_ENGINE_ROOM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "server/engine/digest.h"
#include "server/engine/line_speed.h"
#include "server/engine/policy.h"
#include "server/engine/ranked_queue.h"
#include "server/engine/rate_bucket.h"

namespace anteroom {

// What has happened since the room was made or reset.
struct Totals {
  uint64_t joined = 0;
  uint64_t admitted = 0;
  uint64_t claimed = 0;
  uint64_t completed = 0;
  uint64_t cancelled = 0;
  uint64_t no_show = 0;
  uint64_t expired = 0;
  uint64_t left = 0;
  uint64_t revoked = 0;

  Totals& operator+=(const Totals& other);
  Totals& operator-=(const Totals& other);
  bool operator==(const Totals&) const = default;
};

// What all rooms hold together.
struct Overall {
  uint64_t waiting = 0;
  uint64_t admitted = 0;
  uint64_t active = 0;
  Totals totals;
};

// An admission by count that can be asked for again with the same key.
struct AdmitKey {
  std::string key;
  uint32_t asked = 0;
  uint32_t count = 0;
  uint64_t first_admission = 0;
  int64_t forget_at_ms = 0;
};

// A doubly linked list through slab entries.
struct EntryList {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t count = 0;
};

// Invariants: `line` holds the waiting by (lane, arrival), `inside` the admitted and active by
// admission number; admitted + active = inside.size(). A room whose `name` leads to another number
// has been reset or deleted; what is left in it is being freed.
struct Room {
  Room(uint32_t room_number, std::string room_name, RankedQueuePool* pool)
      : number(room_number), name(std::move(room_name)), line(pool), inside(pool) {}

  const uint32_t number;
  const std::string name;
  Policy policy;
  uint64_t revision = 1;

  RankedQueue line;
  RankedQueue inside;
  uint64_t admitted = 0;
  uint64_t active = 0;
  Totals totals;
  uint64_t sold_units = 0;      // taken from the stock
  uint64_t oversold_units = 0;  // when there was none left

  RateBucket bucket;
  uint32_t bucket_timer = 0;
  bool pump_pending = false;  // stands in the engine's list of rooms with more people to let in
  bool dropped = false;
  bool digest_dirty = false;

  EntryList memories;  // oldest first
  EntryList blocks;
  std::deque<AdmitKey> admit_keys;  // oldest first

  std::unique_ptr<LineSpeed> speed;  // while there is a line

  Digest entries_digest;  // of everybody and everything in the room
  Digest own_digest;      // of the room's own entry as it was last taken up

  uint64_t occupied() const { return admitted + active; }
  bool has_free_slot() const { return occupied() < policy.slots(); }
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ROOM_H_
