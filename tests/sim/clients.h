// The people of a simulation, their applications and their operator: one random request at a time.
#ifndef ANTEROOM_TESTS_SIM_CLIENTS_H_
#define ANTEROOM_TESTS_SIM_CLIENTS_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "server/engine/desk.h"
#include "tests/sim/simulation.h"

namespace anteroom::sim {

class Clients {
 public:
  Clients(std::mt19937_64* random, History* history) : random_(*random), history_(*history) {}

  // Makes what rooms are missing, then asks something.
  void Ask(Desk& desk);
  // What has been answered up to history->released has left.
  void TakeReleased();
  // What had not left by then never did.
  void LoseUnreleased() { held_.clear(); }

  static std::string RoomName(uint64_t number) { return "room-" + std::to_string(number); }
  static constexpr uint64_t kRooms = 3;

 private:
  struct Held {
    uint64_t mark;
    uint64_t admission;
    std::string who;
  };

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  std::string AnyVisitor();
  std::string_view AnyToken(const std::string& who);
  protocol::RoomSettings AnySettings();
  void AskOperator(Desk& desk, const std::string& room);
  void Take(const std::string& room, const std::string& visitor,
            const Answer<protocol::VisitorReply>& answer);

  std::mt19937_64& random_;
  History& history_;
  std::map<std::string, protocol::Token> tokens_;  // the last one that "room/visitor" was told
  std::vector<Held> held_;
  uint64_t keys_ = 0;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_CLIENTS_H_
