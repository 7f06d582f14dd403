// Finishes that somebody gave away without waiting: kept, sent when the daemon can be reached, sent
// again until it has answered. Repeating a finish is harmless: the first outcome stands.
//
// Invariant: pending = reservations not yet added + waiting + under way ≤ finish_later_max.
// Threads: Reserve, Unreserve and counts any; all else the loop's.
#ifndef ANTEROOM_CLIENT_FINISH_QUEUE_H_
#define ANTEROOM_CLIENT_FINISH_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "client/loop_handles.h"
#include "client/options.h"
#include "client/wire.h"

namespace anteroom::client {

class FinishQueue {
 public:
  // `on_settled` is called after each that was delivered or lost, on the loop.
  FinishQueue(const std::shared_ptr<LoopRef>& ref, Wire* wire, const ClientOptions& options,
              std::function<void()> on_settled);

  // Room for one more, or a status of cause kTooManyInFlight.
  absl::Status Reserve();
  void Unreserve() { --pending_; }
  FinishLaterCounts counts() const;

  // `frame`: a whole request frame of the operation finish, for which there is a reservation.
  void Add(std::string frame);
  // The connection is up.
  void OnUp() { Pump(); }
  // One with a reservation that came too late.
  void AddLost(std::string frame, const absl::Status& why);
  void LoseAll(const absl::Status& why);
  // Nothing but counts may be called after it.
  void CloseTimer() { timer_.reset(); }

  void check_invariants() const;

 private:
  struct Entry {
    std::string frame;
    int64_t since_ms = 0;
    int attempts = 0;
  };

  void Pump();
  void SendOne(Entry entry);
  void OnAnswer(Entry entry, const absl::Status& status);
  void LoseOld();
  void Lose(const Entry& entry, const absl::Status& why);
  int64_t RetryDelayMs(const Entry& entry, const absl::Status& status);

  Wire* const wire_;
  const size_t pending_max_;
  const int64_t keep_ms_;
  const int64_t retry_min_ms_;
  const int64_t retry_max_ms_;
  const std::function<void(const LostFinish&)> on_lost_;
  const std::function<void()> on_settled_;

  std::atomic<uint64_t> pending_ = 0;
  std::atomic<uint64_t> delivered_ = 0;
  std::atomic<uint64_t> lost_ = 0;

  std::multimap<int64_t, Entry> waiting_;  // by the time before which it is not tried
  size_t under_way_ = 0;
  int64_t looked_ms_ = 0;  // for those that are too old
  std::mt19937_64 random_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_FINISH_QUEUE_H_
