// The plain reference model of a daemon: what the records of a log mean, in vectors that are
// searched from end to end and one sorted set of what is due. Small crowds only.
//
// It takes the same records as the engine, one by one, and says what each did. Beside the state
// that the log makes it knows when people were last heard from. It can be copied: a copy that is
// given the records after it is the state at any of them (chronicle.h).
//
//   model.Apply(at_ms, command, &changes);    // what the engine has to have done
//   model.Decide(ask, space, ...);            // what the desk has to say, before the record
//   model.Describe(ask, verdict, now_ms);     // and what the answer tells, after it
//
// Threads: none; one owner.
#ifndef ANTEROOM_TESTS_SIM_MODEL_H_
#define ANTEROOM_TESTS_SIM_MODEL_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/btree_set.h"
#include "protocol/kinds.h"
#include "protocol/settings.h"
#include "server/engine/command.h"
#include "server/engine/desk.h"
#include "server/engine/room.h"
#include "tests/sim/ask.h"
#include "tests/sim/names.h"

namespace anteroom::sim {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct Person {
  bool present = false;
  protocol::State state = protocol::State::kWaiting;
  bool sliding = false;
  uint8_t lane = 0;
  uint8_t requeues = 0;
  uint64_t arrival = 0;
  uint64_t admission = 0;
  int64_t at_ms = 0;
  int64_t deadline_ms = kNever;
  int64_t silent_at_ms = kNever;  // unless heard from; not in the log

  bool waiting() const { return present && state == protocol::State::kWaiting; }
  bool inside() const { return present && state != protocol::State::kWaiting; }
};

struct Ended {
  uint64_t sequence = 0;  // in order of ending
  uint8_t lane = 0;
  uint64_t arrival = 0;
  uint64_t admission = 0;
  protocol::Reason reason = protocol::Reason::kLeft;
  bool late = false;
  int64_t at_ms = 0;
  int64_t forget_at_ms = 0;
};

struct Blocked {
  uint64_t sequence = 0;
  int64_t until_ms = 0;
};

// What a key of an admit stands for.
struct Keyed {
  std::string key;
  uint32_t asked = 0;
  uint32_t count = 0;
  uint64_t first_admission = 0;
  int64_t forget_at_ms = 0;
};

struct Bucket {
  bool made = false;
  uint64_t level = 0;  // an admission costs the rate's per_ms
  uint64_t depth = 0;
  int64_t filled_at_ms = 0;
};

// Lanes that people come in, for counting who came in before whom.
inline constexpr std::array<uint8_t, 4> kLanes = {0, 1, 2, protocol::kLaneDefault};

struct ModelRoom {
  uint32_t number = 0;
  uint32_t name = 0;
  protocol::RoomSettings settings;
  uint64_t revision = 1;
  bool dropped = false;
  bool pump_pending = false;

  std::vector<Person> people;             // by visitor
  std::vector<uint32_t> line;             // visitors, in order
  std::vector<uint32_t> inside;           // visitors, by admission
  std::vector<std::vector<Ended>> ended;  // by visitor, oldest first
  std::map<uint32_t, Blocked> blocked;    // by visitor
  std::vector<Keyed> keys;                // oldest first
  Totals totals;
  uint64_t sold_units = 0;
  uint64_t oversold_units = 0;
  Bucket bucket;
  int64_t bucket_due_ms = kNever;
  std::array<uint64_t, kLanes.size()> entered{};  // the line, by lane

  // What is said, over what is set.
  void Set(const protocol::RoomSettings& said);
  uint64_t slots() const;
  bool HasSlot() const { return inside.size() < slots(); }
  bool HasStock() const { return settings.stock && !settings.stock->none(); }
  bool SoldOut() const { return settings.stock && settings.stock->units == 0; }
  void Sell(uint32_t units);
  bool Admits() const {
    return *settings.mode == protocol::Mode::kQueue ||
           *settings.mode == protocol::Mode::kPassthrough;
  }
  bool Rated() const {
    return *settings.mode == protocol::Mode::kQueue && settings.rate && !settings.rate->none();
  }
  bool Affords() const {
    return !Rated() || (settings.rate->count > 0 && bucket.level >= settings.rate->per_ms);
  }
  uint64_t active() const;
  // People before somebody who waits.
  uint64_t AheadOf(uint32_t visitor) const;
  // How many have come into the line at lanes before this one.
  uint64_t EnteredBefore(uint8_t lane) const;
};

// That somebody's state began.
struct Change {
  uint32_t room = 0;  // number
  uint32_t visitor = 0;
  protocol::State state = protocol::State::kWaiting;
};

// What a request comes to.
struct Verdict {
  std::optional<protocol::ErrorCode> refusal;
  std::optional<protocol::Reason> reason;
  bool writes = false;
  uint64_t ended = 0;  // sequence of the memory that is meant; 0: none
  std::optional<Keyed> key;
};

// Invariant: `due_` holds every hard deadline that is pending.
class Model {
 public:
  explicit Model(const Names* names) : names_(names) {}

  // ---- the log; model_apply.cc, model_people.cc, model_due.cc ----

  void Apply(int64_t at_ms, const Command& command, std::vector<Change>* changes);
  void Apply(std::string_view record);
  // After a restart everybody is as if just heard from.
  void Restart(int64_t now_ms);

  int64_t now_ms() const { return now_ms_; }
  int64_t NextDue() const;
  const std::map<uint32_t, ModelRoom>& rooms() const { return rooms_; }
  const ModelRoom* RoomAt(uint32_t number) const;
  const ModelRoom* RoomNamed(uint32_t name) const;
  bool has_deadlines() const { return !due_.empty(); }
  // First admission and key.
  const std::vector<TokenKeyRange>& token_keys() const { return token_keys_; }
  uint32_t TokenKeyOf(uint64_t admission) const;

  // ---- what is asked; model_desk.cc ----

  // Somebody who is watched has not been silent.
  void HearWatched(uint32_t room, uint32_t visitor, int64_t now_ms);
  // The end of the desk's own part of a turn, when the log takes records.
  void EndTurnStart(int64_t now_ms);
  // `now_ms` may be later than the last record.
  Verdict Decide(const Ask& ask, LogSpace space, protocol::Reason space_reason,
                 int64_t now_ms) const;
  // An answer was given: what it does besides the record.
  void Hear(const Ask& ask, int64_t now_ms);
  Told Describe(const Ask& ask, const Verdict& verdict, int64_t now_ms) const;

 private:
  enum class Kind : uint8_t { kSession, kMemory, kBlock, kBucket };  // in their order
  struct Due {
    int64_t deadline_ms;
    Kind kind;
    uint64_t sequence;
    uint32_t room;
    uint32_t visitor;
    bool operator<(const Due& other) const {
      return std::tie(deadline_ms, kind, sequence) <
             std::tie(other.deadline_ms, other.kind, other.sequence);
    }
  };
  using Changes = std::vector<Change>;

  void Do(const command::Tick&, Changes*) {}
  void Do(const command::RoomCreate& create, Changes* changes);
  void Do(const command::RoomSet& set, Changes* changes);
  void Do(const command::RoomDelete& del, Changes* changes);
  void Do(const command::RoomReset& reset, Changes* changes);
  void Do(const command::Join& join, Changes* changes);
  void Do(const command::Enter& enter, Changes* changes);
  void Do(const command::Leave& leave, Changes* changes);
  void Do(const command::Claim& claim, Changes* changes);
  void Do(const command::Finish& finish, Changes* changes);
  void Do(const command::Expire& expire, Changes* changes);
  void Do(const command::Settle& settle, Changes* changes);
  void Do(const command::Admit& admit, Changes* changes);
  void Do(const command::AdmitVisitor& admit, Changes* changes);
  void Do(const command::Revoke& revoke, Changes* changes);
  void Do(const command::UseTokenKey& use, Changes* changes);

  ModelRoom* Live(uint32_t number);
  ModelRoom* Settled(uint32_t number, std::string_view id, uint32_t* visitor, Changes* changes);
  void Drop(ModelRoom& room);
  ModelRoom& Make(uint32_t name, const protocol::RoomSettings& settings);

  void AddWaiting(ModelRoom& room, uint32_t visitor, uint8_t lane, Changes* changes);
  void StandInLine(ModelRoom& room, uint32_t visitor);
  void LetIn(ModelRoom& room, uint32_t visitor, Changes* changes);
  void Begin(ModelRoom& room, uint32_t visitor, Changes* changes);
  void End(ModelRoom& room, uint32_t visitor, protocol::Reason reason, Changes* changes);
  void EndAndPump(ModelRoom& room, uint32_t visitor, protocol::Reason reason, Changes* changes);
  void LeaveInside(ModelRoom& room, uint32_t visitor);
  void Requeue(ModelRoom& room, uint32_t visitor, Changes* changes);
  void Remember(ModelRoom& room, uint32_t visitor, uint64_t admission, protocol::Reason reason);

  void DoDue(Changes* changes);
  void EndOfSession(ModelRoom& room, uint32_t visitor, Changes* changes);
  void Free();
  size_t FreeSome(ModelRoom& room, size_t entries_max);

  void Pump(ModelRoom& room, bool by_time, Changes* changes);
  void SetBucketDue(ModelRoom& room);
  void Fill(ModelRoom& room, int64_t now_ms) const;
  void Configure(ModelRoom& room, const protocol::Rate& before, bool was_made);

  void Hear(const ModelRoom& room, Person& person, int64_t now_ms);
  bool WouldAdmitNow(const ModelRoom& room, int64_t now_ms) const;
  // The admission whose token is shown, or 0: no admission's.
  uint64_t ShownBy(const Ask& ask) const;
  static const Ended* NewestEnded(const ModelRoom& room, uint32_t visitor, int64_t now_ms);
  static const Ended* EndedWith(const ModelRoom& room, uint32_t visitor, uint64_t admission,
                                int64_t now_ms);
  Verdict DecideToken(const ModelRoom& room, const Ask& ask, LogSpace space, const Verdict& no_log,
                      int64_t now_ms) const;
  Verdict DecideFinish(const ModelRoom& room, const Ask& ask, const Verdict& no_log, bool log_takes,
                       int64_t now_ms) const;
  Verdict DecideNewcomer(const ModelRoom& room, const Ask& ask, int64_t now_ms) const;

  const Names* names_;
  int64_t now_ms_ = 0;
  uint64_t next_arrival_ = 1;
  uint64_t next_admission_ = 1;
  uint64_t next_memory_ = 1;
  uint32_t next_room_ = 1;
  std::vector<TokenKeyRange> token_keys_;
  std::map<uint32_t, ModelRoom> rooms_;  // by number, those being freed too
  std::vector<uint32_t> dropped_;        // first the one that is being freed
  std::vector<uint32_t> pump_pending_;
  absl::btree_set<Due> due_;
  size_t admissions_left_ = 0;
  std::pair<uint64_t, uint32_t> last_admit_{};  // first admission and how many
  bool sweep_ = false;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_MODEL_H_
