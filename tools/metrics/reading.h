// What a daemon has answered for one scrape, and the metrics that makes. Pure functions: who asks
// is tools/metrics/collector.h.
#ifndef ANTEROOM_TOOLS_METRICS_READING_H_
#define ANTEROOM_TOOLS_METRICS_READING_H_

#include <optional>
#include <vector>

#include "protocol/messages.h"
#include "tools/metrics/family.h"

namespace anteroom::metrics {

struct RoomsReading {
  protocol::StatsReply all;                   // of all rooms together
  std::vector<protocol::RoomReply> labelled;  // those with series of their own, by name
};

// Invariant: no rooms without health.
struct Reading {
  std::optional<protocol::HealthReply> health;  // absent: the daemon could not be asked
  // Absent: it could, but these are told only of what is on disk, and its disk does not answer.
  std::optional<RoomsReading> rooms;
};

// `anteroom_up` always; the rest as far as it was answered.
Families FamiliesOf(const Reading& reading);

// Parts of it.
void AddDaemonFamilies(const protocol::HealthReply& health, Families* families);
void AddRoomFamilies(const RoomsReading& rooms, Families* families);

}  // namespace anteroom::metrics

#endif  // ANTEROOM_TOOLS_METRICS_READING_H_
