// What the design says of one room, in the plainest way: a map of people, searched from end to end.
// The engine is held against it.
#ifndef ANTEROOM_TESTS_SUPPORT_REFERENCE_ROOM_H_
#define ANTEROOM_TESTS_SUPPORT_REFERENCE_ROOM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"

namespace anteroom {

// Daemon-wide counters, shared by the rooms of one model.
struct ReferenceCounters {
  uint64_t next_arrival = 1;
  uint64_t next_admission = 1;
};

class ReferenceRoom {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  ReferenceRoom(ReferenceCounters* counters, const protocol::RoomSettings& settings,
                int64_t now_ms);

  // Time. `NextDue` is exact; `PassTo` does what is due at that very moment.
  int64_t NextDue() const;
  void PassTo(int64_t now_ms);

  // Each gives what the daemon must answer.
  using Answer = protocol::VisitorResult;
  Answer Join(const std::string& id, uint8_t lane, bool enter);
  Answer Status(const std::string& id);
  Answer Leave(const std::string& id);
  // `admission` is the one that the token shown belongs to.
  Answer Verify(const std::string& id, uint64_t admission) const;
  Answer Claim(const std::string& id, uint64_t admission);
  Answer Touch(const std::string& id, uint64_t admission);
  Answer Finish(const std::string& id, std::optional<uint64_t> admission, protocol::Outcome outcome,
                uint32_t units = 1);
  Answer Revoke(const std::string& id, std::optional<int64_t> block_ms);
  Answer AdmitVisitor(const std::string& id, bool over);
  // How many; nothing when the room is closed.
  std::optional<uint32_t> Admit(uint32_t count);
  void Set(const protocol::RoomSettings& said);
  void Reset();

  protocol::Counts counts() const;
  std::vector<std::string> Line() const;
  // By admission number.
  std::vector<std::string> Inside() const;
  // Admission numbers that this visitor has or is remembered to have had.
  std::vector<uint64_t> AdmissionsOf(const std::string& id) const;
  const protocol::RoomSettings& settings() const { return settings_; }

 private:
  struct Person {
    protocol::State state = protocol::State::kWaiting;
    uint8_t lane = 0;
    uint64_t arrival = 0;
    uint64_t admission = 0;
    int64_t at_ms = 0;
    int64_t deadline_ms = kNever;  // hard or soft
    bool sliding = false;
    int requeues = 0;
  };
  struct Ended {
    std::string id;
    uint64_t arrival;
    uint64_t admission;
    protocol::Reason reason;
    int64_t at_ms;
    int64_t forget_at_ms;
    bool late;
  };
  using People = std::map<std::string, Person>;

  static uint64_t SlotsOf(const protocol::RoomSettings& settings);
  bool HasSlot() const;
  bool SoldOut() const;
  void Sell(uint32_t units);
  bool Admits() const;
  bool Rated() const;
  uint64_t Occupied() const;
  uint64_t Waiting() const;
  People::iterator First();

  void LetIn(People::iterator person);
  void Begin(Person& person);  // the claim
  void Remember(const std::string& id, const Person& person, uint64_t admission,
                protocol::Reason reason);
  void End(People::iterator person, protocol::Reason reason);
  void Fill();
  void PumpEvent();
  void PumpTime();
  void Hear(Person& person);
  Ended* NewestEnded(const std::string& id);
  Ended* NewestAdmissionEnded(const std::string& id);
  const Ended* EndedWith(const std::string& id, uint64_t admission) const;

  Answer Describe(const std::string& id) const;
  static Answer Describe(const Ended& ended);
  Answer Present(const std::string& id);
  Answer NotCurrent(const std::string& id, uint64_t admission) const;
  bool Holds(const std::string& id, uint64_t admission) const;

  ReferenceCounters& counters_;
  protocol::RoomSettings settings_;
  int64_t now_ms_;
  People people_;
  std::vector<Ended> ended_;  // oldest first
  std::map<std::string, int64_t> blocked_until_ms_;
  protocol::Counts totals_;

  uint64_t depth_ = 0;
  uint64_t level_ = 0;
  int64_t filled_at_ms_ = 0;
  bool bucket_made_ = false;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_REFERENCE_ROOM_H_
