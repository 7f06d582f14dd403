// The crowd of a rehearsal: people who arrive when their file says, wait, are let in, stay for
// their session and go, all through one asynchronous client; and what was seen of them.
//
// Every visitor goes joining → waiting → claiming → active → finishing → gone, and moves only by
// what the daemon says, in a reply or a push of its watch, whichever comes first.
//
// Invariant: `staged_` counts the visitors at each stage; every visitor but one who is joining or
// finishing waits for a push, a reply or its moment on the agenda; every index of an open admission
// is in `admissions_`.
// Threads: the loop's.
#ifndef ANTEROOM_TOOLS_REHEARSE_CROWD_H_
#define ANTEROOM_TOOLS_REHEARSE_CROWD_H_

#include <uv.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/async_client.h"
#include "client/loop_handles.h"
#include "tools/rehearse/arrivals.h"
#include "tools/rehearse/checks.h"
#include "tools/rehearse/visitors.h"
#include "tools/rehearse/watches.h"

namespace anteroom::tools {

struct CrowdPlan {
  std::string room;
  double speed = 1;
  int64_t session_ms = 0;  // mean
  uint64_t seed = 0;
  bool sliding = true;  // the room's sessions; then a visitor shows signs of life
  int64_t give_up_ms = 0;
};

enum class CrowdEnd : uint8_t {
  kDone,         // everyone came and went
  kGaveUp,       // nothing moved any more
  kInterrupted,  // SendHome
  kBroken,       // the daemon could no longer be asked: see broken()
};

// What was seen. Counts of visitors, but for admissions.
struct CrowdCounts {
  uint64_t arrived = 0;  // joins sent
  uint64_t joined = 0;
  uint64_t admitted = 0;  // admissions
  uint64_t finished = 0;  // as completed
  uint64_t no_shows = 0;  // claimed too late
  uint64_t expired = 0;   // the session ran out before its end
  uint64_t removed = 0;   // left by the room's rules, or revoked by an operator
  uint64_t sent_home = 0;
  uint64_t longest_line = 0;
  std::map<protocol::ErrorCode, uint64_t> refused;  // joins
  int64_t lag_ms_max = 0;                           // how late an arrival was sent, at most
};

class Crowd {
 public:
  // `source` is at its beginning. `ended` is called once, from the loop. The crowd must live until
  // `client` has closed: what closing fails is answered to the crowd.
  Crowd(uv_loop_t* loop, client::AsyncClient* client, ArrivalSource* source, CrowdPlan plan,
        std::function<void(CrowdEnd)> ended);

  void Start();
  // Nobody comes any more, and those who are there leave; over after kGoingHomeMsMax at the latest.
  void SendHome() { GoHome(CrowdEnd::kInterrupted); }
  // Over at once; whoever is there stays behind. `ended` is called before this returns.
  void Stop() { End(CrowdEnd::kInterrupted); }

  const CrowdCounts& counts() const { return counts_; }
  // People in the room at this moment.
  uint64_t waiting() const;
  uint64_t inside() const;
  uint64_t present() const { return visitors_.size(); }
  int64_t elapsed_ms() const;

  const std::vector<Admission>& admissions() const { return admissions_; }
  // From the join, or the return to the line, to the admission; engine time.
  const std::vector<uint64_t>& waits_ms() const { return waits_ms_; }
  // What the replies about one visitor already contradict.
  const Violations& violations() const { return violations_; }
  const absl::Status& broken() const { return broken_; }

  void check_invariants() const;

 private:
  // ---- pace and end: crowd.cc ----
  void Work();
  void WorkSoon();
  void ScheduleNext();
  void SendArrivals();
  int64_t DueMs(const Arrival& arrival) const;
  bool MayArrive() const;
  void SendJoins(std::vector<Visitor*> batch);
  void OnJoined(const std::vector<Visitor*>& batch,
                const absl::StatusOr<protocol::VisitorResults>& results);
  void WatchMore();
  std::optional<int64_t> GiveUpAt() const;
  void GoHome(CrowdEnd why);
  void SendSomeHome();
  void End(CrowdEnd why);
  void Break(const absl::Status& status);

  // ---- one visitor: crowd_visitor.cc ----
  void OnEvent(const client::VisitorEvent& event);
  void Hear(Visitor* visitor, const protocol::VisitorReply& reply);
  void HearWaiting(Visitor* visitor, const protocol::VisitorReply& reply);
  void HearAdmitted(Visitor* visitor, const protocol::VisitorReply& reply);
  void HearActive(Visitor* visitor, const protocol::VisitorReply& reply);
  void HearEnded(Visitor* visitor, const protocol::VisitorReply& reply);
  void Act(Visitor* visitor);
  void Claim(Visitor* visitor);
  void Finish(Visitor* visitor, protocol::Outcome outcome);
  void Touch(Visitor* visitor);
  void SendHome(Visitor* visitor);
  void Ask(Visitor* visitor);
  // A callback for a call about `visitor`: what it answers is heard, `refused` is told why not.
  client::Callback<protocol::VisitorReply> Answer(Visitor* visitor,
                                                  void (Crowd::*refused)(Visitor*,
                                                                         const protocol::Refusal&));
  void RetryOrAsk(Visitor* visitor, const protocol::Refusal& refusal);
  void AskAgain(Visitor* visitor, const protocol::Refusal& refusal);
  void Vanish(Visitor* visitor, const protocol::Refusal& refusal);

  Visitor* Find(std::string_view id);
  void MoveTo(Visitor* visitor, Stage stage);
  void ActAt(Visitor* visitor, int64_t at_ms);
  void StayFor(Visitor* visitor, const protocol::VisitorReply& reply);
  int64_t SessionMs(const Visitor& visitor) const;
  void CloseAdmission(Visitor* visitor, uint64_t ended_at_ms);
  void Remove(Visitor* visitor);

  uv_loop_t* const loop_;
  client::AsyncClient* const client_;
  ArrivalSource* const source_;
  const CrowdPlan plan_;
  const std::function<void(CrowdEnd)> ended_;

  VisitorTable visitors_;
  Agenda agenda_;
  std::array<uint64_t, kStages> staged_{};
  std::deque<std::string> unwatched_;  // in the order of arrival; some may be gone
  Watches watches_;

  std::optional<Arrival> next_;  // who arrives next; nobody when all have
  int64_t first_arrival_ms_ = 0;
  size_t joins_in_flight_ = 0;
  uint64_t started_at_ms_ = 0;  // of the loop's time
  int64_t moved_at_ms_ = 0;     // when anyone last moved

  std::optional<CrowdEnd> going_home_;
  int64_t home_by_ms_ = 0;
  std::deque<std::string> to_send_home_;
  bool over_ = false;

  CrowdCounts counts_;
  std::vector<Admission> admissions_;
  std::vector<uint64_t> waits_ms_;
  Violations violations_;
  absl::Status broken_;

  std::shared_ptr<client::LoopRef> loop_ref_;
  client::Timer timer_;
};

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_CROWD_H_
