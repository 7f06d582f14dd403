// The deterministic engine: commands in, effects out.
//
//   Engine engine(EngineOptions{.index_seed = seed});
//   Effects effects;
//   engine.Apply(at_ms, command::Join{room, "alice", 128}, &effects);
//
// It is a function of the commands and the times that come with them: the same log gives the same
// state, byte for byte, on any machine. It reads no clock, draws nothing at random, touches no
// file, no socket and no secret. The running daemon, recovery, tests and tools all drive it.
//
// Every Apply first sets the clock forward to its time, does what is due by then (at most
// limits::kDuePerRecordMax deadlines), lets in who was left over by the record before, frees some
// of what deleted rooms have left, and then does the command. So no call is long, and NextDue()
// says when the next Tick is wanted.
//
// Threads: none; one owner.
#ifndef ANTEROOM_SERVER_ENGINE_ENGINE_H_
#define ANTEROOM_SERVER_ENGINE_ENGINE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/engine/command.h"
#include "server/engine/digest.h"
#include "server/engine/effects.h"
#include "server/engine/past.h"
#include "server/engine/room.h"
#include "server/engine/room_names.h"
#include "server/engine/roster.h"
#include "server/engine/timers.h"
#include "server/engine/tokens.h"

namespace anteroom {

struct EngineOptions {
  // Seeds the hash of the index, against ids chosen to collide. No part of the state.
  uint64_t index_seed = 0;
  // Nodes of all lines together; for tests.
  uint32_t queue_nodes_max = RankedQueuePool::kNodesMax;
};

// Admissions from this number on, up to the next range, have their tokens made with this key. Those
// before the first range use kFirstTokenKey (tokens.h).
struct TokenKeyRange {
  uint64_t first_admission = 0;
  uint32_t key_id = 0;

  bool operator==(const TokenKeyRange&) const = default;
};

// Invariants: everybody is in exactly one of a line and an inside queue, of the room that their
// entry names; each room's counts are what its queues hold; the digest is that of a full recount.
class Engine {
 public:
  static constexpr int64_t kNever = TimingWheel::kNever;

  explicit Engine(EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // ---- changes ----

  // `at_ms` is not before now_ms(). Appends to *effects.
  void Apply(int64_t at_ms, const Command& command, Effects* effects);

  // ---- time ----

  int64_t now_ms() const { return now_ms_; }
  // When time alone changes something next; not after now_ms() when something is left to do now.
  int64_t NextDue() const;
  // Whether any hard deadline is pending.
  bool has_deadlines() const { return timers_.size() > 0; }

  // Of the whole state (digest.h). Takes up the rooms that changed since the last call.
  Digest digest();

  // ---- rooms ----

  // Nullptr when there is none. Good until the next Apply.
  const Room* FindRoom(std::string_view name) const;
  const Room* RoomAt(uint32_t number) const;
  const RoomNames& room_names() const { return names_; }
  // Whether there can be one more; those deleted count until all that they held is freed.
  bool CanCreateRoom() const;
  // The sums over all rooms.
  const Overall& overall() const { return overall_; }

  // ---- people; handles are good until the next Apply ----

  const Roster& roster() const { return roster_; }
  // The handle of a visitor waiting or inside, or kNoHandle.
  uint32_t FindVisitor(uint32_t room, std::string_view id) const { return roster_.Find(room, id); }
  const Visitor& visitor(uint32_t handle) const { return roster_[handle]; }
  // Of a visitor inside.
  const Session& SessionOf(const Visitor& visitor) const {
    return roster_.sessions()[visitor.place];
  }
  // For whoever keeps the time since visitors were heard from.
  SoftDeadlines soft_deadlines() { return roster_.soft_deadlines(); }
  // Whether one more can come in. What remains is enough for all who are moved without being asked.
  bool HasPlaceForNewcomer() const;
  // People before somebody waiting.
  uint64_t AheadOf(const Visitor& visitor) const {
    return queue_pool_.RankOf(QueuePlace{visitor.place});
  }
  // Of those inside, how many have a lower admission number.
  uint64_t RankOfAdmission(const Room& room, uint64_t admission) const;
  void PrefetchPlaceOf(const Visitor& visitor) const {
    if (visitor.waiting()) queue_pool_.PrefetchPlace(QueuePlace{visitor.place});
  }

  // The newest memory of an ended visitor that is not over at `at_ms`, and the one before it
  // (Memory::older); kNoHandle when there is none.
  uint32_t FindMemory(uint32_t room, std::string_view id, int64_t at_ms) const;
  uint32_t OlderMemory(uint32_t memory, int64_t at_ms) const;
  // The memory of an admission that ended, in the same way.
  uint32_t FindAdmission(uint32_t room, uint64_t admission, int64_t at_ms) const;
  const Memory& memory(uint32_t handle) const { return memories_[handle]; }
  // When somebody kept out may come again; nothing when they may now.
  std::optional<int64_t> BlockedUntil(uint32_t room, std::string_view id, int64_t at_ms) const;
  // The admission remembered under a key.
  const AdmitKey* FindAdmitKey(const Room& room, std::string_view key, int64_t at_ms) const;

  // The consecutive admissions that the last command::Admit made.
  struct AdmitRange {
    uint64_t first_admission = 0;
    uint32_t count = 0;
  };
  const AdmitRange& last_admit() const { return last_admit_; }

  // The number of the next one.
  uint64_t next_admission() const { return next_admission_; }
  // By admission, rising.
  const std::vector<TokenKeyRange>& token_keys() const { return token_keys_; }
  // The id of the key that this admission's token is made with.
  uint32_t TokenKeyOf(uint64_t admission) const;
  // Whether admissions can go over to one more key.
  bool CanUseTokenKey() const;

  // Whether somebody who joined now would be let in at once.
  bool WouldAdmitNow(const Room& room, int64_t at_ms) const;

  // Rooms that exist, those included that were deleted and are not all freed.
  size_t room_count() const { return rooms_.size(); }

  // What it has taken from the system, without rooms; freed entries are kept for the next ones.
  size_t bytes() const;
  // What everybody and everything that is there now takes. Quick enough for each request.
  size_t used_bytes() const;
  // Recounts everything.
  void check_invariants();

 private:
  friend class EngineSaver;  // snapshot.h
  friend class EngineLoader;

  enum class Cause { kEvent, kTime };

  // engine.cc: one overload for each command.
  void Do(const command::Tick&, Effects*) {}
  void Do(const command::RoomCreate& create, Effects* effects);
  void Do(const command::RoomSet& set, Effects* effects);
  void Do(const command::RoomDelete& del, Effects* effects);
  void Do(const command::RoomReset& reset, Effects* effects);
  void Do(const command::Join& join, Effects* effects);
  void Do(const command::Enter& enter, Effects* effects);
  void Do(const command::Leave& leave, Effects* effects);
  void Do(const command::Claim& claim, Effects* effects);
  void Do(const command::Finish& finish, Effects* effects);
  void Do(const command::Expire& expire, Effects* effects);
  void Do(const command::Settle& settle, Effects* effects);
  void Do(const command::Admit& admit, Effects* effects);
  void Do(const command::AdmitVisitor& admit, Effects* effects);
  void Do(const command::Revoke& revoke, Effects* effects);
  void Do(const command::UseTokenKey& use, Effects* effects);

  Room* MutableRoom(uint32_t number);
  void DropRoom(Room& room, Effects* effects);
  // The room of a command and its visitor, whose own deadline, if over, is done first. Nullptr when
  // there is no such room.
  Room* Settled(uint32_t room, std::string_view visitor, uint32_t* handle, Effects* effects);

  // engine_due.cc
  void DoDue(Effects* effects);
  void EndOfSession(uint32_t session, Effects* effects);
  void FreeDropped();
  size_t FreeSome(Room& room, size_t entries_max);

  // engine_admission.cc
  void Pump(Room& room, Cause cause, Effects* effects);
  void PumpPending(Effects* effects);
  void SetBucketTimer(Room& room);

  // engine_people.cc: the transitions of one visitor.
  uint32_t AddWaiting(Room& room, std::string_view id, uint8_t lane, Effects* effects);
  void LetIn(Room& room, uint32_t handle, Effects* effects);
  void ClaimSession(Room& room, uint32_t handle, Effects* effects);
  void End(Room& room, uint32_t handle, protocol::Reason reason, Effects* effects);
  void EndAndPump(Room& room, uint32_t handle, protocol::Reason reason, Effects* effects);
  // Takes units from the room's stock, if it has one.
  void Sell(Room& room, uint32_t units, Effects* effects);
  void Requeue(Room& room, uint32_t handle, Effects* effects);
  void LeaveInside(Room& room, uint32_t handle);
  uint32_t Remember(Room& room, const Visitor& visitor, uint64_t admission,
                    protocol::Reason reason);
  void ForgetEarly(Room& room, uint32_t memory);
  void Forget(Room& room, uint32_t memory);
  void Unblock(Room& room, uint32_t block);

  // Counts one more in the room and overall.
  void Count(Room& room, uint64_t Totals::*total) {
    ++(room.totals.*total);
    ++(overall_.totals.*total);
  }

  // engine_digest.cc
  Digest DigestOfVisitor(const Visitor& visitor) const;
  Digest DigestOfMemory(const Memory& memory) const;
  Digest DigestOfBlock(const Block& block) const;
  Digest DigestOfRoom(const Room& room) const;
  static Digest DigestOfTokenKey(const TokenKeyRange& range);
  Digest DigestOfEngine() const;
  void TakeIn(Room& room, const Digest& entry);
  void TakeOut(Room& room, const Digest& entry);
  void Touch(Room& room);

  int64_t now_ms_ = 0;
  uint64_t next_arrival_ = 1;
  uint64_t next_admission_ = 1;
  uint64_t next_memory_ = 1;
  uint32_t next_room_ = 1;
  std::vector<TokenKeyRange> token_keys_;

  RankedQueuePool queue_pool_;
  Roster roster_;
  Memories memories_;
  Blocks blocks_;
  Timers timers_;

  RoomNames names_;
  absl::flat_hash_map<uint32_t, std::unique_ptr<Room>> rooms_;
  // The room found last, or nullptr: most that is asked in a turn is asked about one.
  mutable const Room* recent_ = nullptr;
  std::deque<uint32_t> pump_pending_;
  std::deque<uint32_t> dropped_;
  std::vector<uint32_t> dirty_rooms_;
  size_t admit_key_count_ = 0;  // of all rooms
  Overall overall_;
  AdmitRange last_admit_;
  Digest digest_;  // of all rooms, as taken up so far, and of token_keys_

  size_t admissions_left_ = 0;  // of this record
  std::vector<DueTimer> due_;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ENGINE_H_
