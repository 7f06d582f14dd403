// What a script acts on: the real engine behind the real desk, a log in memory, and a clock that
// the script moves.
#ifndef ANTEROOM_TESTS_SCRIPTS_RUNNER_WORLD_H_
#define ANTEROOM_TESTS_SCRIPTS_RUNNER_WORLD_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/desk.h"
#include "tests/scripts/runner_rules.h"

namespace anteroom::scripts {

// Invariant: the records are all that the engine has applied, in order.
class World final : public DeskObserver {
 public:
  // Somebody's state, or "room" for a change of the room's settings: what a watch would be told.
  struct Told {
    std::string room;
    std::string visitor;
    std::string what;
  };

  World();

  Desk& desk() { return *desk_; }
  const Engine& engine() const { return *engine_; }
  int64_t now_ms() const { return now_ms_; }
  size_t records() const { return sink_.records.size(); }

  // Moves the clock, stopping at every due moment on the way.
  void Advance(int64_t duration_ms);
  // Moves the clock in one turn of the loop, as after a stall: what that turn leaves over stays.
  void Stall(int64_t duration_ms);
  // Turns of the loop until nothing is due now, but for what a stall has left over.
  void WorkOff();
  // A new engine and desk from the log. The clock goes on from the last record.
  void Restart();

  // What the operator's admissions may go beyond while they are worked.
  void SetOperatorAdmits(bool admits, bool over) {
    rules_.operator_admits = admits;
    rules_.over = over;
  }

  void Watch(const std::string& room, const std::string& visitor) {
    watched_.emplace(room, visitor);
  }
  void Unwatch(const std::string& room, const std::string& visitor) {
    watched_.erase({room, visitor});
    if (const Room* held = engine_->FindRoom(room)) desk_->HearFrom(held->number, visitor);
  }
  // Since the last ForgetTold().
  const std::vector<Told>& told() const { return told_; }
  void ForgetTold() { told_.clear(); }

  // The engine's invariants, and that the log gives the same state again.
  void CheckAtEnd();

 private:
  struct MemorySink : RecordSink {
    std::vector<std::string> records;
    void Append(std::string_view record) override { records.emplace_back(record); }
  };
  struct FakeTokens : TokenMaker {
    protocol::Token Make(uint32_t key_id, uint64_t admission, std::string_view room,
                         std::string_view visitor) const override;
  };

  void OnEffects(const Effects& effects) override;
  bool IsWatched(uint32_t room, uint32_t visitor) const override;
  std::unique_ptr<Engine> Replay() const;

  MemorySink sink_;
  FakeTokens tokens_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Desk> desk_;
  int64_t now_ms_ = 0;
  bool stalled_ = false;
  std::set<std::pair<std::string, std::string>> watched_;
  std::vector<Told> told_;
  AdmissionRules rules_;
};

}  // namespace anteroom::scripts

#endif  // ANTEROOM_TESTS_SCRIPTS_RUNNER_WORLD_H_
