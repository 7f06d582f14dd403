// What holds in every script without being written there: the design's promises about admissions
// and about the shape of replies. Each throws ScriptFailure.
#ifndef ANTEROOM_TESTS_SCRIPTS_RUNNER_RULES_H_
#define ANTEROOM_TESTS_SCRIPTS_RUNNER_RULES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/engine/room.h"
#include "tests/scripts/runner_reply.h"

namespace anteroom::scripts {

// No admission makes `occupied` exceed the capacity, and in any window W at most rate x W + 2
// depths are admitted.
class AdmissionRules {
 public:
  // Whether the admissions to come are the operator's (beyond rate), and even beyond capacity.
  bool operator_admits = false;
  bool over = false;

  void OnAdmission(const Room& room, int64_t at_ms);

 private:
  // The bound on every window, as a bucket that is filled by the rate and never runs dry.
  struct Window {
    protocol::Rate rate;
    int64_t admit_interval_ms = 0;
    uint64_t level = 0;
    int64_t at_ms = 0;
  };
  std::map<std::string, Window> windows_;  // by room
};

// What applies is there, what does not is absent, and the values fit each other.
void CheckShape(const Reply& reply);

// A position shown never gets worse, as long as no lane has been said in the script.
class PositionRule {
 public:
  void OnLane() { lanes_ = true; }
  void OnReply(std::string_view room, std::string_view visitor, const Reply& reply);

 private:
  struct Shown {
    std::string arrival;
    uint64_t ahead = 0;
  };
  bool lanes_ = false;
  std::map<std::string, Shown> shown_;  // by room and visitor
};

}  // namespace anteroom::scripts

#endif  // ANTEROOM_TESTS_SCRIPTS_RUNNER_RULES_H_
