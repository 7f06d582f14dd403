// The rooms and the people of a simulation, as small numbers and as the names that the daemon sees.
// Threads: none; never changes after it is made.
#ifndef ANTEROOM_TESTS_SIM_NAMES_H_
#define ANTEROOM_TESTS_SIM_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/check.h"

namespace anteroom::sim {

class Names {
 public:
  static constexpr uint32_t kRooms = 3;
  static constexpr uint32_t kNobody = UINT32_MAX;

  explicit Names(uint32_t visitors) {
    for (uint32_t room = 0; room < kRooms; ++room) {
      rooms_.push_back("room-" + std::to_string(room));
    }
    visitors_.reserve(visitors);
    for (uint32_t visitor = 0; visitor < visitors; ++visitor) {
      // Some ids do not fit into an entry.
      visitors_.push_back(visitor % 9 == 0
                              ? std::string(40 + visitor % 200, 'x') + "-" + std::to_string(visitor)
                              : "v" + std::to_string(visitor));
    }
  }

  uint32_t visitors() const { return static_cast<uint32_t>(visitors_.size()); }
  const std::string& Room(uint32_t room) const { return rooms_[room]; }
  const std::string& Visitor(uint32_t visitor) const { return visitors_[visitor]; }

  uint32_t RoomOf(std::string_view name) const {
    for (uint32_t room = 0; room < kRooms; ++room) {
      if (rooms_[room] == name) return room;
    }
    CHECK(false);
    return 0;
  }
  uint32_t VisitorOf(std::string_view id) const {
    // Every id ends in its number, after a letter or a dash.
    uint32_t number = 0;
    uint32_t unit = 1;
    for (size_t i = id.size(); i > 0 && id[i - 1] >= '0' && id[i - 1] <= '9'; --i, unit *= 10) {
      number += unit * static_cast<uint32_t>(id[i - 1] - '0');
    }
    CHECK(number < visitors_.size() && visitors_[number] == id);
    return number;
  }

  // Of whom somebody is connected to hear: they are heard from all the time.
  static bool IsWatched(uint32_t visitor) { return visitor % 7 == 0; }

 private:
  std::vector<std::string> rooms_;
  std::vector<std::string> visitors_;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_NAMES_H_
