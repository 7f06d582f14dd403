// The daemon itself, from its health.
#include <utility>

#include "server/base/check.h"
#include "tools/metrics/reading.h"

namespace anteroom::metrics {
namespace {

double Number(uint64_t value) {
  return static_cast<double>(value);
}

void AddLog(const protocol::HealthReply& health, Families* families) {
  families->push_back(Counter("records_total", "Records of the log, since its beginning.",
                              Number(health.sequence)));
  families->push_back(Counter("records_durable_total", "Records of the log that are on disk.",
                              Number(health.durable_sequence)));
  families->push_back(Gauge("log_bytes", "Size of the log on disk.", Number(health.log_bytes)));
  families->push_back(Gauge("log_reserved_bytes", "Log space that the daemon already has.",
                            Number(health.reserved_bytes)));
  if (health.reserved_minutes) {
    families->push_back(Gauge("log_reserved_seconds",
                              "How long the reserved log space lasts at the present rate of "
                              "writing, in whole minutes; absent while nothing is written.",
                              Number(*health.reserved_minutes) * 60));
  }
  families->push_back(Gauge("disk_free_bytes", "Free on the file system of the data directory.",
                            Number(health.disk_free_bytes)));
  if (health.sync_p50_us) {
    families->push_back(Gauge("sync_p50_seconds",
                              "Median time of the last thousand writes and syncs of the log.",
                              SecondsOfUs(*health.sync_p50_us)));
  }
  if (health.sync_p99_us) {
    families->push_back(Gauge("sync_p99_seconds",
                              "99th percentile of the last thousand writes and syncs of the log.",
                              SecondsOfUs(*health.sync_p99_us)));
  }
  if (health.syncs) {
    families->push_back(Histogram(
        "sync_seconds", "Writes and syncs of the log, since the daemon's start.", *health.syncs));
  }
  if (health.answers) {
    families->push_back(Histogram("answer_seconds",
                                  "Requests, from the turn of the daemon's loop that took them to "
                                  "the leaving of their answers; most wait for a sync.",
                                  *health.answers));
  }
}

}  // namespace

void AddDaemonFamilies(const protocol::HealthReply& health, Families* families) {
  Family build = Gauge("build_info", "Always 1; its labels say which daemon this is.");
  Add(&build, 1,
      {{"version", health.version}, {"role", health.role}, {"durability", health.durability}});
  families->push_back(std::move(build));
  families->push_back(
      StateSet("status", "1 for the status that the daemon is in, 0 for others.", "status",
               {"ok", "disk_full", "disk_slow", "memory_full", "stopping"}, health.status));
  families->push_back(Gauge("snapshots_ok",
                            "1 while snapshots can be made and what they cover can go; 0 while the "
                            "log only grows.",
                            health.snapshots == "ok" ? 1 : 0));
  families->push_back(StateSet("snapshots", "1 for the state that snapshots are in, 0 for others.",
                               "state", {"ok", "failing", "stopped", "log_stays"},
                               health.snapshots));
  families->push_back(Gauge("virtual_clock", "1 when time moves only as it is told to.",
                            health.virtual_clock ? 1 : 0));
  families->push_back(
      Gauge("engine_time_seconds",
            "The time that all deadlines go by: stands still while the daemon is down or cannot "
            "write.",
            SecondsOfMs(health.at_ms)));
  families->push_back(
      Gauge("uptime_seconds", "Since the daemon started.", SecondsOfMs(health.uptime_ms)));
  AddLog(health, families);
  families->push_back(Gauge("connections", "Connections open now.", Number(health.connections)));
  families->push_back(Gauge("watches", "Watches live now.", Number(health.watches)));
  if (health.memory_bytes) {
    families->push_back(Gauge("memory_bytes", "What people, rooms, watches and connections take.",
                              Number(*health.memory_bytes)));
  }
  if (health.memory_max_bytes) {
    families->push_back(Gauge("memory_max_bytes",
                              "Beyond this nobody new is taken until there is less.",
                              Number(*health.memory_max_bytes)));
  }
}

Families FamiliesOf(const Reading& reading) {
  CHECK(reading.health.has_value() || !reading.rooms.has_value());
  Families families;
  families.push_back(Gauge("up", "1 when the daemon has answered, 0 when it could not be asked.",
                           reading.health ? 1 : 0));
  if (!reading.health) return families;
  families.push_back(Gauge("scrape_complete",
                           "1 when the daemon has told of its rooms too, 0 when it could not in "
                           "time, as while its disk hangs.",
                           reading.rooms ? 1 : 0));
  AddDaemonFamilies(*reading.health, &families);
  if (reading.rooms) AddRoomFamilies(*reading.rooms, &families);
  return families;
}

}  // namespace anteroom::metrics
