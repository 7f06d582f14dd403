// What a rehearsal tells at its end, as a table for people or as one JSON object.
#ifndef ANTEROOM_TOOLS_REHEARSE_REPORT_H_
#define ANTEROOM_TOOLS_REHEARSE_REPORT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/json.h"
#include "tools/rehearse/checks.h"
#include "tools/rehearse/crowd.h"

namespace anteroom::tools {

// What does not apply is absent: nobody waited when nobody was admitted.
struct Report {
  CrowdCounts counts;
  std::optional<uint64_t> wait_p50_ms;
  std::optional<uint64_t> wait_p95_ms;
  std::optional<uint64_t> wait_max_ms;
  // In thousandths, from the first admission to the last.
  std::optional<uint64_t> admissions_per_s_milli;
  uint64_t unreadable_lines = 0;
  Violations violations;

  std::string end;         // "done", "gave_up", "interrupted", "connection_lost"
  uint64_t left_over = 0;  // people still in the room
  uint64_t seed = 0;
  int64_t duration_ms = 0;
  bool settings_changed = false;  // then rate and capacity are not checked
};

// The value at or below which at least `percent` of 100 of the values lie (nearest rank). Nothing
// of no values.
std::optional<uint64_t> Percentile(std::vector<uint64_t>* values, uint32_t percent);

std::optional<uint64_t> AdmissionsPerSecondMilli(std::span<const Admission> admissions);

cli::Json ToJson(const Report& report);
// Without a newline at its end.
std::string FormatTable(const Report& report);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_REPORT_H_
