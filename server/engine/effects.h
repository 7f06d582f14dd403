// What applying a record did to whom: values that the daemon turns into pushes and soft timers.
// They, and every answer that could have seen the record, may leave the daemon only when the
// record is durable.
#ifndef ANTEROOM_SERVER_ENGINE_EFFECTS_H_
#define ANTEROOM_SERVER_ENGINE_EFFECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/kinds.h"

namespace anteroom {

// A visitor's state began.
struct VisitorEffect {
  uint32_t room = 0;     // number
  uint32_t visitor = 0;  // handle; free again when the state is kEnded
  uint32_t memory = 0;   // kEnded: handle of the memory, good until the next record
  protocol::State state = protocol::State::kWaiting;
};

// A room was changed, or is gone (deleted or reset: `room` is the number it had).
struct RoomEffect {
  uint32_t room = 0;
  bool gone = false;
};

struct Effects {
  std::vector<VisitorEffect> visitors;
  std::vector<RoomEffect> rooms;

  void Clear() {
    visitors.clear();
    rooms.clear();
  }
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_EFFECTS_H_
