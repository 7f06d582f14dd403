// The simulated network between clients and daemon: connections on which requests and answers are
// under way for as long as they like, in order on each and in any order between them, until it
// breaks and what was under way is lost. At the daemon's end stands the real outbox.
//
// Threads: none; one owner.
#ifndef ANTEROOM_TESTS_SIM_NETWORK_H_
#define ANTEROOM_TESTS_SIM_NETWORK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "server/net/outbox.h"
#include "tests/sim/ask.h"

namespace anteroom::sim {

class Network {
 public:
  // An answer and what the daemon stood at.
  struct Answer {
    Told told;
    uint64_t mark = 0;         // the last record that it may show
    uint64_t order = 0;        // of answering
    uint32_t room_number = 0;  // 0: there is no such room
    uint64_t entered_before = 0;
  };
  struct Arrived {
    uint32_t connection = 0;
    uint32_t call = 0;
    const Ask* ask = nullptr;
  };
  struct Options {
    uint32_t connections = 1;
    uint32_t pipelined = 1;      // requests of one connection under way
    uint32_t turn_requests = 1;  // at most so many arrive in a turn
  };

  Network(std::mt19937_64* random, Options options);

  uint32_t connections() const { return static_cast<uint32_t>(ends_.size()); }
  bool CanSend(uint32_t connection) const;
  void Send(uint32_t connection, Ask ask);
  // Some of what is under way arrives, at random.
  void TakeArrived(const std::function<void(const Arrived&, bool chunk_begins)>& work);
  void PutAnswer(const Arrived& arrived, Answer answer, bool immediate);
  // Answers of records up to `sequence` leave. *left: the greatest mark among those that did.
  void Release(uint64_t sequence, uint64_t* left);
  // One answer comes to its client, if any is under way. False when none is.
  bool Deliver(const std::function<void(const Ask&, const Answer&)>& take);
  // The connection is gone; what was asked on it and not answered yet.
  std::vector<Ask> Break(uint32_t connection);

 private:
  struct Call {
    Ask ask;
    Answer answer;
    bool immediate = false;
  };
  struct End {
    std::deque<uint32_t> asked;     // calls on their way to the daemon
    std::deque<uint32_t> arrived;   // with the daemon, or held
    std::deque<uint32_t> answered;  // on their way back
    std::unique_ptr<net::Outbox> outbox = std::make_unique<net::Outbox>();
  };

  uint32_t Below(uint64_t limit) { return static_cast<uint32_t>(random_() % limit); }

  std::mt19937_64& random_;
  const Options options_;
  std::vector<End> ends_;
  std::vector<Call> calls_;
  std::vector<uint32_t> free_calls_;
  uint64_t answers_ = 0;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_NETWORK_H_
