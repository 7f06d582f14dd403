// A daemon's log read by a tool: each record is decoded and applied to an engine, so that rooms
// have their names and the digests in the log can be compared.
#ifndef ANTEROOM_TOOLS_CLI_LOG_READING_H_
#define ANTEROOM_TOOLS_CLI_LOG_READING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/storage/log_recovery.h"
#include "tools/cli/json.h"

namespace anteroom::cli {

// Stops at the first record that is none, and at the first mark that is not the engine's state.
// Threads: one.
class LogReading : public storage::LogVisitor {
 public:
  // Told of each record before it is applied, as one object: `sequence`, `at_ms`, `type`, `room`
  // (the name, where known), `room_number`, `visitor` and what else the record holds. May be empty.
  using OnRecord = std::function<void(const Json&)>;

  explicit LogReading(OnRecord on_record);

  absl::Status Record(uint64_t sequence, std::string_view bytes) override;
  absl::Status Mark(storage::MarkPlace place, uint64_t next_sequence,
                    const storage::EngineMark& mark) override;

  Engine& engine() { return engine_; }

 private:
  Json Describe(uint64_t sequence, int64_t at_ms, const Command& command) const;

  const OnRecord on_record_;
  Engine engine_;
  Effects effects_;
};

// `damaged`, `newer_format`, … as the JSON's `error`.
std::string_view ErrorNameOf(const absl::Status& status);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_LOG_READING_H_
