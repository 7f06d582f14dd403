// The applications on the other end of the connections, and the operator: what they ask, that they
// ask again when a connection breaks or vanish instead, and what they make of the answers: nobody
// is moved back, no admission is told of two people, no position gets worse without a cause.
//
// Threads: none; one owner.
#ifndef ANTEROOM_TESTS_SIM_CLIENTS_H_
#define ANTEROOM_TESTS_SIM_CLIENTS_H_

#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tests/sim/ask.h"
#include "tests/sim/names.h"
#include "tests/sim/network.h"

namespace anteroom::sim {

class Clients {
 public:
  // All outlive it.
  Clients(std::mt19937_64* random, Network* network, const Names* names);

  // One of them asks something, if one at random may.
  void Act();
  // An answer has come.
  void Take(const Ask& ask, const Network::Answer& answer);
  // A connection breaks, or all do because the daemon is gone. What was asked is asked again, or
  // the client has vanished.
  void Break(uint32_t connection);
  void BreakAll();
  // What was told may have been lost, which was agreed to.
  void ForgetTold();

 private:
  // The latest that was told of a visitor.
  struct Known {
    uint64_t order = 0;
    uint32_t room_number = 0;
    protocol::State state = protocol::State::kEnded;
    uint64_t arrival = 0;
    uint64_t admission = 0;
    uint32_t token_key = 0;
    uint64_t ahead = 0;
    uint64_t entered_before = 0;
  };

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  bool OneIn(uint64_t chance) { return Below(chance) == 0; }
  Ask AnyAsk();
  Ask AskOfOperator(Ask ask);
  protocol::RoomSettings AnySettings();
  Known& KnownOf(uint32_t room, uint32_t visitor) {
    return known_[room * names_.visitors() + visitor];
  }
  void TakeAdmission(uint64_t admission, uint32_t room, uint32_t visitor,
                     std::optional<uint32_t> token_key);

  std::mt19937_64& random_;
  Network& network_;
  const Names& names_;
  std::vector<std::deque<Ask>> again_;  // by connection
  std::vector<Known> known_;            // by room and visitor
  std::vector<bool> has_room_;          // as far as they know
  // An admission is one visitor's in one room, and its token always the same.
  struct Admitted {
    uint32_t room = 0;
    uint32_t visitor = 0;
    std::optional<uint32_t> token_key;  // when it was told
  };
  absl::flat_hash_map<uint64_t, Admitted> admissions_;
  uint64_t keys_ = 1;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_CLIENTS_H_
