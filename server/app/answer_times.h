// How long requests wait for their answers to leave: from the turn of the loop that took them to
// the one that let them go, which for most waits for the disk. Timed by the turn, so that a request
// costs nothing; one whose answer need not wait (ping, health) counts as one of its turn.
#ifndef ANTEROOM_SERVER_APP_ANSWER_TIMES_H_
#define ANTEROOM_SERVER_APP_ANSWER_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "server/app/latency_histogram.h"
#include "server/base/limits.h"

namespace anteroom::app {

// Invariant: turns wait in the order in which they began, at most limits::kTurnsTimedMax of them;
// each has requests, and none a lower mark than the one before.
// Threads: one.
class AnswerTimes {
 public:
  void BeginTurn(uint64_t now_ns) { turn_ns_ = now_ns; }

  // So many were worked in this turn, and none of their answers leaves before `mark` is on disk.
  void Count(size_t requests, uint64_t mark) {
    if (requests == 0) return;
    const bool same = !waiting_.empty() && waiting_.back().began_ns == turn_ns_;
    if (!same && waiting_.size() < limits::kTurnsTimedMax) {
      waiting_.push_back({turn_ns_, 0, 0});
    }
    waiting_.back().requests += requests;
    waiting_.back().mark = mark;
  }

  // What waited for marks up to `released` has gone.
  void Release(uint64_t released, uint64_t now_ns) {
    while (!waiting_.empty() && waiting_.front().mark <= released) {
      times_.Add((now_ns - waiting_.front().began_ns) / 1000, waiting_.front().requests);
      waiting_.pop_front();
    }
  }

  bool waits() const { return !waiting_.empty(); }
  const LatencyHistogram& times() const { return times_; }

 private:
  struct TimedTurn {
    uint64_t began_ns;
    uint64_t requests;
    uint64_t mark;
  };
  std::deque<TimedTurn> waiting_;
  uint64_t turn_ns_ = 0;
  LatencyHistogram times_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_ANSWER_TIMES_H_
