#include "server/app/clock_advance.h"

#include <algorithm>

#include "protocol/duration.h"
#include "server/base/limits.h"

namespace anteroom::app {

using protocol::ErrorCode;
using protocol::Refuse;

std::optional<protocol::Refusal> ClockAdvances::Add(const net::Arrival& arrival,
                                                    const protocol::ClockAdvanceRequest& request) {
  if (!clock_.is_virtual()) {
    return Refuse(ErrorCode::kConflict,
                  "the clock is real; only a daemon started with --virtual-clock has one that can "
                  "be advanced");
  }
  if (request.duration_ms < 0 || request.duration_ms > protocol::kDurationMsMax) {
    return Refuse(ErrorCode::kInvalid, "a clock is advanced by 0ms to 365d");
  }
  if (waiting_.size() >= limits::kAdvancesWaitingMax) {
    return Refuse(ErrorCode::kUnavailable, "too many advances are waiting");
  }
  waiting_.push_back({arrival, request.duration_ms});
  return std::nullopt;
}

bool ClockAdvances::Step(net::Arrival* done) {
  if (waiting_.empty()) return false;
  Advance& advance = waiting_.front();
  if (advance.target_ms < 0) advance.target_ms = clock_.Read(0) + advance.duration_ms;
  for (size_t step = 0; step < limits::kAdvanceStepsPerTurn; ++step) {
    const int64_t now_ms = clock_.Read(0);
    const int64_t due_ms = desk_.NextDue();
    if (due_ms > advance.target_ms && now_ms == advance.target_ms) {
      *done = advance.arrival;
      waiting_.pop_front();
      return true;
    }
    clock_.MoveTo(std::clamp(due_ms, now_ms, advance.target_ms));
    desk_.BeginTurn(clock_.Read(0));
  }
  return false;
}

void ClockAdvances::OnGone(const net::Connection* connection) {
  // One that is begun ends where it is: nobody is left to be told.
  std::erase_if(waiting_, [connection](const Advance& advance) {
    return advance.arrival.connection == connection;
  });
}

std::vector<net::Arrival> ClockAdvances::TakeAll() {
  std::vector<net::Arrival> arrivals;
  for (const Advance& advance : waiting_) arrivals.push_back(advance.arrival);
  waiting_.clear();
  return arrivals;
}

}  // namespace anteroom::app
