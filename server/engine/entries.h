// What the engine keeps of people: one entry each for a visitor, a session, a memory of somebody
// who ended, and a block. Entries live in slabs and name each other by handle.
#ifndef ANTEROOM_SERVER_ENGINE_ENTRIES_H_
#define ANTEROOM_SERVER_ENGINE_ENTRIES_H_

#include <cstdint>
#include <cstring>

#include "protocol/kinds.h"
#include "server/engine/ranked_queue.h"
#include "server/engine/timing_wheel.h"
#include "server/engine/visitor_id.h"

namespace anteroom {

// A whole number of six bytes: 2^48 milliseconds are 8,900 years, 2^48 arrivals at a million a
// second are nine years without a pause.
struct Packed48 {
  uint8_t bytes[6];

  uint64_t Get() const {
    uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof bytes);
    return value;
  }
  void Set(uint64_t value) { std::memcpy(bytes, &value, sizeof bytes); }
};

// Somebody waiting or inside. There are millions of these: 44 bytes, no padding.
struct Visitor {
  PackedId id;
  uint8_t lane;
  uint8_t state;     // protocol::State; 0 in a free entry
  uint8_t requeues;  // how often a no-show has put this visitor back in line
  uint32_t room;     // number
  uint32_t place;    // waiting: QueuePlace in the room's line; inside: handle of the session
  Packed48 arrival;
  Packed48 at_ms;          // when the present state began
  uint32_t soft_deadline;  // of class Heard alone: not part of the engine's state

  bool live() const { return state != 0; }
  bool waiting() const { return state == static_cast<uint8_t>(protocol::State::kWaiting); }
  bool admitted() const { return state == static_cast<uint8_t>(protocol::State::kAdmitted); }
  bool active() const { return state == static_cast<uint8_t>(protocol::State::kActive); }
  bool inside() const { return admitted() || active(); }
};
static_assert(sizeof(Visitor) == 44);
static_assert(alignof(Visitor) == 4);

// The admission of a visitor who is inside.
struct Session {
  static constexpr int64_t kNever = TimingWheel::kNever;

  uint64_t admission;
  int64_t deadline_ms;  // to claim, or the end of a fixed session; kNever in a sliding one
  uint32_t visitor;
  QueuePlace place;  // in the room's order of admissions
  uint32_t timer;    // for the deadline; 0 without one, and once it is taken out of the wheel
  uint32_t zero;

  bool sliding() const { return deadline_ms == kNever; }
};
static_assert(sizeof(Session) == 32);

// Somebody who ended.
struct Memory {
  PackedId id;
  protocol::Reason reason;
  uint8_t late;  // completed after it had run out
  uint8_t lane;
  uint32_t room;
  uint32_t older;  // the same visitor's memory before this one
  uint32_t newer;
  uint32_t next;  // in the room's order of ending
  uint32_t previous;
  uint32_t timer;
  uint32_t zero;
  uint64_t admission;  // 0: never admitted
  uint64_t arrival;
  int64_t at_ms;
  int64_t forget_at_ms;
};
static_assert(sizeof(Memory) == 80);

// Somebody kept out.
struct Block {
  PackedId id;
  uint8_t zero[3];
  uint32_t room;
  uint32_t next;  // in the room's list
  uint32_t previous;
  uint32_t timer;
  uint32_t zero4;
  int64_t until_ms;
};
static_assert(sizeof(Block) == 48);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ENTRIES_H_
