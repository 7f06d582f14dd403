// Advances of a virtual clock under way: one after another, each stopping at every due moment on
// its way, in slices, so that requests are served between.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_APP_CLOCK_ADVANCE_H_
#define ANTEROOM_SERVER_APP_CLOCK_ADVANCE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "protocol/messages.h"
#include "server/app/engine_clock.h"
#include "server/engine/desk.h"
#include "server/net/connections.h"

namespace anteroom::app {

// Invariant: the first one's target is known as soon as it is begun; a connection has at most one.
class ClockAdvances {
 public:
  // Both outlive it.
  ClockAdvances(EngineClock* clock, Desk* desk) : clock_(*clock), desk_(*desk) {}

  // Nothing when it is taken up: Step answers it.
  std::optional<protocol::Refusal> Add(const net::Arrival& arrival,
                                       const protocol::ClockAdvanceRequest& request);

  // Goes on with the first one, a slice of it. True when that is done: it is then in *done, and the
  // clock is where its reply says.
  bool Step(net::Arrival* done);
  bool under_way() const { return !waiting_.empty(); }

  void OnGone(const net::Connection* connection);
  // Gives up on all; whose they were.
  std::vector<net::Arrival> TakeAll();

 private:
  struct Advance {
    net::Arrival arrival;
    int64_t duration_ms;
    int64_t target_ms = -1;  // known once it is begun
  };

  EngineClock& clock_;
  Desk& desk_;
  std::deque<Advance> waiting_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_CLOCK_ADVANCE_H_
