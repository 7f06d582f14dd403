// The hard state of an engine as entries: byte strings that together say all of it, so that an
// engine made from them goes on exactly as the first would have. Equal states give equal entries.
//
//   SaveEngine(engine, [&](std::string_view entry) { return file.Append(entry); });
//
//   EngineLoader loader(&engine);             // a new one
//   for (entry : entries) wrong = loader.Add(entry);
//   wrong = loader.Finish();
//
// An entry is a type (1 byte) and fields (record.h). The first is `engine`. Then come the rooms by
// number, each followed by its people: those waiting in the order of the line, those inside by
// admission, who is remembered and who is kept out, the oldest first. Last the rooms with something
// left to do, in the order in which it will be done.
//
// Threads: none; one owner.
#ifndef ANTEROOM_SERVER_ENGINE_SNAPSHOT_H_
#define ANTEROOM_SERVER_ENGINE_SNAPSHOT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/kinds.h"
#include "protocol/settings.h"
#include "server/engine/engine.h"
#include "server/engine/record.h"

namespace anteroom::snapshot {

// Of anteroom::TokenKeyRange.
struct TokenKey {
  uint64_t first_admission = 0;
  uint32_t key_id = 0;
  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("first_admission", self.first_admission);
    visit("key_id", self.key_id);
  }
};

struct Engine {
  int64_t now_ms = 0;
  uint64_t next_arrival = 0;
  uint64_t next_admission = 0;
  uint64_t next_memory = 0;
  uint32_t next_room = 0;
  // How many entries of these kinds follow.
  uint64_t rooms = 0;
  uint64_t visitors = 0;  // waiting and inside
  uint64_t memories = 0;
  uint64_t blocks = 0;
  std::optional<std::vector<TokenKey>> token_keys;  // never an empty one
  ANTEROOM_RECORD(1, "engine",
                  ANTEROOM_RECORD_FIELD(now_ms) ANTEROOM_RECORD_FIELD(next_arrival)
                      ANTEROOM_RECORD_FIELD(next_admission) ANTEROOM_RECORD_FIELD(next_memory)
                          ANTEROOM_RECORD_FIELD(next_room) ANTEROOM_RECORD_FIELD(rooms)
                              ANTEROOM_RECORD_FIELD(visitors) ANTEROOM_RECORD_FIELD(memories)
                                  ANTEROOM_RECORD_FIELD(blocks) ANTEROOM_RECORD_FIELD(token_keys))
};

struct AdmitKey {
  std::string_view key;
  uint32_t asked = 0;
  uint32_t count = 0;
  uint64_t first_admission = 0;
  int64_t forget_at_ms = 0;
  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("key", self.key);
    visit("asked", self.asked);
    visit("count", self.count);
    visit("first_admission", self.first_admission);
    visit("forget_at_ms", self.forget_at_ms);
  }
};

struct Room {
  std::string_view name;
  uint32_t number = 0;
  bool dropped = false;
  uint64_t revision = 0;
  protocol::RoomSettings settings;
  uint64_t bucket_level = 0;
  int64_t bucket_filled_at_ms = 0;
  std::optional<int64_t> bucket_due_ms;
  std::vector<uint64_t> totals;  // in the order of anteroom::Totals
  std::vector<AdmitKey> admit_keys;
  // Present together, once anything was sold.
  std::optional<uint64_t> sold_units;
  std::optional<uint64_t> oversold_units;
  ANTEROOM_RECORD(2, "room",
                  ANTEROOM_RECORD_FIELD(name) ANTEROOM_RECORD_FIELD(number)
                      ANTEROOM_RECORD_FIELD(dropped) ANTEROOM_RECORD_FIELD(revision)
                          ANTEROOM_RECORD_FIELD(settings) ANTEROOM_RECORD_FIELD(bucket_level)
                              ANTEROOM_RECORD_FIELD(bucket_filled_at_ms)
                                  ANTEROOM_RECORD_FIELD(bucket_due_ms) ANTEROOM_RECORD_FIELD(totals)
                                      ANTEROOM_RECORD_FIELD(admit_keys)
                                          ANTEROOM_RECORD_FIELD(sold_units)
                                              ANTEROOM_RECORD_FIELD(oversold_units))
};

struct Waiting {
  std::string_view visitor;
  uint8_t lane = 0;
  uint8_t requeues = 0;
  uint64_t arrival = 0;
  int64_t at_ms = 0;
  ANTEROOM_RECORD(3, "waiting",
                  ANTEROOM_RECORD_FIELD(visitor) ANTEROOM_RECORD_FIELD(lane)
                      ANTEROOM_RECORD_FIELD(requeues) ANTEROOM_RECORD_FIELD(arrival)
                          ANTEROOM_RECORD_FIELD(at_ms))
};

struct Inside {
  std::string_view visitor;
  uint8_t lane = 0;
  uint8_t requeues = 0;
  uint64_t arrival = 0;
  int64_t at_ms = 0;
  bool active = false;
  uint64_t admission = 0;
  std::optional<int64_t> deadline_ms;  // none in a sliding session
  bool timed = false;                  // the deadline is still to come
  ANTEROOM_RECORD(4, "inside",
                  ANTEROOM_RECORD_FIELD(visitor) ANTEROOM_RECORD_FIELD(lane)
                      ANTEROOM_RECORD_FIELD(requeues) ANTEROOM_RECORD_FIELD(arrival)
                          ANTEROOM_RECORD_FIELD(at_ms) ANTEROOM_RECORD_FIELD(active)
                              ANTEROOM_RECORD_FIELD(admission) ANTEROOM_RECORD_FIELD(deadline_ms)
                                  ANTEROOM_RECORD_FIELD(timed))
};

struct Memory {
  std::string_view visitor;
  protocol::Reason reason = protocol::Reason::kLeft;
  bool late = false;
  uint8_t lane = 0;
  uint64_t arrival = 0;
  uint64_t admission = 0;
  int64_t at_ms = 0;
  int64_t forget_at_ms = 0;
  uint64_t sequence = 0;  // its place among those that are forgotten at one time
  ANTEROOM_RECORD(5, "memory",
                  ANTEROOM_RECORD_FIELD(visitor) ANTEROOM_RECORD_FIELD(reason)
                      ANTEROOM_RECORD_FIELD(late) ANTEROOM_RECORD_FIELD(lane)
                          ANTEROOM_RECORD_FIELD(arrival) ANTEROOM_RECORD_FIELD(admission)
                              ANTEROOM_RECORD_FIELD(at_ms) ANTEROOM_RECORD_FIELD(forget_at_ms)
                                  ANTEROOM_RECORD_FIELD(sequence))
};

struct Block {
  std::string_view visitor;
  int64_t until_ms = 0;
  uint64_t sequence = 0;
  ANTEROOM_RECORD(6, "block",
                  ANTEROOM_RECORD_FIELD(visitor) ANTEROOM_RECORD_FIELD(until_ms)
                      ANTEROOM_RECORD_FIELD(sequence))
};

// More people of this room are to be let in.
struct PumpPending {
  uint32_t room = 0;
  ANTEROOM_RECORD(7, "pump_pending", ANTEROOM_RECORD_FIELD(room))
};

// What this room, deleted or reset, has left is to be freed.
struct Dropped {
  uint32_t room = 0;
  ANTEROOM_RECORD(8, "dropped", ANTEROOM_RECORD_FIELD(room))
};

}  // namespace anteroom::snapshot

namespace anteroom {

// Until `take` returns false.
void SaveEngine(const Engine& engine, const std::function<bool(std::string_view entry)>& take);

// Invariant: what has been added is in the engine, in whose structures all of it is possible;
// whether it is the state that was saved the digest tells.
class EngineLoader {
 public:
  // `engine` is new and outlives it. After an error it is of no use.
  explicit EngineLoader(Engine* engine) : engine_(*engine) {}

  // Asks for the memory that Add will touch.
  void Prefetch(std::string_view entry) const;
  // What is wrong with it; empty when it was taken.
  std::string Add(std::string_view entry);
  // After the last; what is wrong with all of it.
  std::string Finish();

 private:
  std::string Take(const snapshot::Engine& entry);
  std::string TakeTokenKeys(const snapshot::Engine& entry);
  std::string Take(const snapshot::Room& entry);
  std::string Take(const snapshot::Waiting& entry);
  std::string Take(const snapshot::Inside& entry);
  std::string Take(const snapshot::Memory& entry);
  std::string Take(const snapshot::Block& entry);
  std::string Take(const snapshot::PumpPending& entry);
  std::string Take(const snapshot::Dropped& entry);
  template <typename Entry>
  std::string DecodeAndTake(std::string_view bytes);
  template <typename Entry>
  std::string CheckVisitor(const Entry& entry) const;
  bool IsInside(uint64_t admission) const;  // of this room
  bool IsTime(int64_t at_ms) const { return at_ms >= 0 && at_ms <= engine_.now_ms_; }

  Engine& engine_;
  snapshot::Engine header_;
  bool begun_ = false;
  Room* room_ = nullptr;  // of the people that follow
  QueueKey last_waiting_{0, 0};
  uint64_t last_admission_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_SNAPSHOT_H_
