// The desk: where requests are answered. It decides what a request means in the present state; what
// changes the state goes as a record to the log and through Engine::Apply, and the answer is read
// from the state after it. A refusal or a repeat writes no record.
//
//   desk.BeginTurn(now_ms);                 // what is due is done before anything is decided
//   desk.Prefetch(requests);                // all that arrived in this turn
//   for (request : requests) answer(desk.Handle(request));
//
// Whatever an answer says may have been true only since the last record appended: it leaves the
// daemon when that record is durable.
//
// Threads: none; one owner. No clock and no I/O: time comes in, records go out through the sink.
#ifndef ANTEROOM_SERVER_ENGINE_DESK_H_
#define ANTEROOM_SERVER_ENGINE_DESK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "protocol/operations.h"
#include "server/base/limits.h"
#include "server/engine/engine.h"
#include "server/engine/heard.h"
#include "server/engine/meter.h"
#include "server/engine/tokens.h"

namespace anteroom {

// Takes the records in order; each is appended before it is applied.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void Append(std::string_view record) = 0;
};

// Told what each record did, right after it was applied; the handles in the effects are good until
// the next record.
class DeskObserver {
 public:
  virtual ~DeskObserver() = default;
  virtual void OnEffects(const Effects& effects) = 0;
  // Whether somebody is connected to hear about this visitor now: counts as heard from.
  virtual bool IsWatched(uint32_t room, uint32_t visitor) const = 0;
};

// What the log can still take: everything; no newcomers, so that the rest lasts; nothing.
enum class LogSpace { kPlenty, kShort, kNone };

template <typename Reply>
using Answer = std::variant<Reply, protocol::Refusal>;

// Invariant: everybody waiting in a room with a waiting_ttl, and everybody in a sliding session,
// has a soft deadline, except those whom the sweep has yet to reach.
class Desk {
 public:
  static constexpr int64_t kNever = Engine::kNever;

  // All outlive the desk. `observer` may be nullptr.
  Desk(Engine* engine, RecordSink* sink, const TokenMaker* tokens, DeskObserver* observer);

  // Starts every soft deadline anew. After recovery, before the first turn; takes as long as there
  // are people.
  void StartSoftDeadlines(int64_t now_ms);

  // Sets the time of what follows, not before the time of the last record, and does what is due by
  // then; what is left over keeps NextDue() at or before `now_ms`.
  void BeginTurn(int64_t now_ms);
  // When BeginTurn is wanted next.
  int64_t NextDue() const;
  int64_t now_ms() const { return now_ms_; }

  void SetLogSpace(LogSpace space, protocol::Reason reason) {
    log_space_ = space;
    log_space_reason_ = reason;
  }

  // What the daemon may hold: visitors, rooms, memory. Nobody loses what they have when it is less
  // than what is there already.
  void SetLimits(const Limits& limits) { limits_ = limits; }
  // What is held beside the engine and the desk, and counts too.
  void SetMemoryBeside(uint64_t bytes) { memory_beside_bytes_ = bytes; }
  uint64_t memory_bytes() const {
    return engine_.used_bytes() + heard_.bytes() + meters_.size() * kMetersBytes +
           memory_beside_bytes_;
  }
  bool memory_full() const { return memory_bytes() >= limits_.memory_bytes; }

  // Who asks what is handled from here on, for the records of what operators do; empty when no
  // credentials are in use. Borrowed until the next one.
  void SetAsker(std::string_view name) {
    by_.reset();
    if (!name.empty()) by_ = name;
  }

  // Asks for the memory that answering these will read. Answers nothing.
  void Prefetch(std::span<const protocol::Request> requests);

  // One for each operation that a room answers; the rest are the app's.
  Answer<protocol::VisitorReply> Handle(const protocol::JoinRequest& request, bool enter);
  Answer<protocol::VisitorReply> Handle(const protocol::JoinOperation& join) {
    return Handle(join.message, false);
  }
  Answer<protocol::VisitorReply> Handle(const protocol::EnterOperation& enter) {
    return Handle(enter.message, true);
  }
  Answer<protocol::VisitorReply> Handle(const protocol::StatusOperation& status);
  Answer<protocol::VisitorReply> Handle(const protocol::LeaveOperation& leave);
  Answer<protocol::VisitorReply> Handle(const protocol::VerifyOperation& verify);
  Answer<protocol::VisitorReply> Handle(const protocol::ClaimOperation& claim);
  Answer<protocol::VisitorReply> Handle(const protocol::TouchOperation& touch);
  Answer<protocol::VisitorReply> Handle(const protocol::FinishOperation& finish);
  Answer<protocol::VisitorResults> Handle(const protocol::JoinManyOperation& joins);
  Answer<protocol::VisitorResults> Handle(const protocol::StatusManyOperation& statuses);
  Answer<protocol::AdmitReply> Handle(const protocol::AdmitOperation& admit);
  Answer<protocol::VisitorReply> Handle(const protocol::AdmitVisitorOperation& admit);
  Answer<protocol::VisitorReply> Handle(const protocol::RevokeOperation& revoke);
  Answer<protocol::RoomReply> Handle(const protocol::RoomCreateOperation& create);
  Answer<protocol::RoomReply> Handle(const protocol::RoomSetOperation& set);
  Answer<protocol::RoomReply> Handle(const protocol::RoomShowOperation& show);
  Answer<protocol::RoomListReply> Handle(const protocol::RoomListOperation& list);
  Answer<protocol::Empty> Handle(const protocol::RoomDeleteOperation& del);
  Answer<protocol::RoomReply> Handle(const protocol::RoomResetOperation& reset);
  Answer<protocol::PageReply> Handle(const protocol::PeekOperation& peek);
  Answer<protocol::PageReply> Handle(const protocol::InsideOperation& inside);
  Answer<protocol::StatsReply> Handle(const protocol::StatsOperation& stats);

  // Whether admissions can go over to one more key now; why not.
  std::optional<protocol::Refusal> CheckUseTokenKey() const;
  // The rest of rotate_token_key, when the key of this id is on disk and the token maker knows it.
  Answer<protocol::TokenKeyReply> UseTokenKey(uint32_t key_id);

  // A watch of this visitor has ended: heard from until now.
  void HearFrom(uint32_t room, std::string_view visitor);

  // What a watch pushes: as status says it, but nobody is heard from.
  Answer<protocol::VisitorReply> Look(std::string_view room, std::string_view visitor);
  // As an effect left somebody who is waiting or inside. No record, and nobody's time is looked at.
  protocol::VisitorReply DescribePresent(uint32_t visitor) const;
  // What is known of somebody who has just ended, from an effect's memory.
  protocol::VisitorReply DescribeEnded(uint32_t memory) const;
  // What an effect of the last record is to whoever watches the room.
  protocol::RoomEvent DescribeEvent(const Effects& effects, size_t index) const;
  Answer<protocol::RoomReply> LookAtRoom(std::string_view room);

 private:
  // A visitor as a request finds them, all that is over by now done.
  struct Seen {
    const Room* room = nullptr;  // nullptr: refused
    uint32_t visitor = kNoHandle;
    std::optional<protocol::Refusal> refusal;
  };
  // Whom a token belongs to.
  struct Shown {
    bool current = false;         // the admission that the visitor holds
    uint32_t memory = kNoHandle;  // one that ended
  };

  // What is counted of a room beside the engine.
  struct RoomMeters {
    Meter joins;
    Meter admissions;
    std::array<uint64_t, 16> refused{};  // by ErrorCode
  };

  // An entry in a table of which half may be free.
  static constexpr size_t kMetersBytes = 2 * sizeof(std::pair<uint32_t, RoomMeters>);

  template <typename OneCommand>
  void Record(const OneCommand& one);
  void TakeIn(const Effects& effects);
  void Sweep();
  void ExpireSoft(uint32_t visitor);

  Seen See(std::string_view room, std::string_view visitor);
  uint32_t FindPrefetched(uint32_t room, std::string_view id);
  Shown Resolve(const Seen& seen, std::string_view visitor, std::string_view token) const;
  protocol::Token TokenOf(uint64_t admission, std::string_view room,
                          std::string_view visitor) const {
    return tokens_.Make(engine_.TokenKeyOf(admission), admission, room, visitor);
  }
  // The memory of a visitor's last admission that ended, or kNoHandle.
  uint32_t LastAdmission(uint32_t room, std::string_view id) const;
  void Hear(const Room& room, uint32_t visitor);
  // Nothing when the log takes what the command would write.
  std::optional<protocol::Refusal> CheckLogSpace(bool newcomer) const;
  // Nothing when there is memory for what is new.
  std::optional<protocol::Refusal> CheckMemory() const;
  std::optional<protocol::Refusal> CheckNewcomer(const Room& room, std::string_view visitor,
                                                 bool by_operator) const;

  // Into a reply that is new.
  void Describe(const Room& room, uint32_t visitor, protocol::VisitorReply* reply) const;
  Answer<protocol::VisitorReply> Described(const Room& room, uint32_t visitor) const {
    Answer<protocol::VisitorReply> answer;
    Describe(room, visitor, &std::get<protocol::VisitorReply>(answer));
    return answer;
  }
  void DescribeWaiting(const Room& room, const Visitor& entry, uint64_t ahead,
                       protocol::VisitorReply* reply) const;
  Answer<protocol::VisitorReply> Present(const Seen& seen, std::string_view visitor) const;
  protocol::RoomReply DescribeRoom(const Room& room) const;
  protocol::Counts CountsOf(const Room& room) const;
  static protocol::Counts CountsFrom(const Totals& totals);
  static void AddRefused(const RoomMeters& meters, protocol::Counts* counts);
  static void AddResult(Answer<protocol::VisitorReply> answer, protocol::VisitorResults* results);
  protocol::Refusal EndedRefusal(uint32_t memory) const;

  // Counts the refusal and passes it on.
  protocol::Refusal Refused(const Room* room, protocol::Refusal refusal);

  Engine& engine_;
  RecordSink& sink_;
  const TokenMaker& tokens_;
  DeskObserver* const observer_;

  int64_t now_ms_ = 0;
  LogSpace log_space_ = LogSpace::kPlenty;
  protocol::Reason log_space_reason_ = protocol::Reason::kDiskFull;
  Limits limits_;
  uint64_t memory_beside_bytes_ = 0;
  std::optional<std::string_view> by_;

  Heard heard_;
  // Handles from here on are looked at for missing soft deadlines; 0: no sweep under way.
  uint32_t sweep_next_ = 0;

  absl::flat_hash_map<uint32_t, RoomMeters> meters_;
  RoomMeters all_;

  std::string record_;
  Effects effects_;
  std::vector<Heard::Over> over_;
  // What Prefetch has looked up, in the order of the requests, and what is left of it. `id` is only
  // compared, to tell whose it was; `visitor` is a guess.
  struct Prefetched {
    const char* id;
    uint64_t hash;
    uint32_t visitor;
  };
  std::vector<Prefetched> prefetched_;
  size_t next_prefetched_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_DESK_H_
