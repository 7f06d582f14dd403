// A daemon's log read by a tool: each record is applied to an engine, so that rooms have their
// names and the digests in the log can be compared.
#ifndef ANTEROOM_TOOLS_CLI_LOG_READING_H_
#define ANTEROOM_TOOLS_CLI_LOG_READING_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/command.h"
#include "server/engine/engine.h"
#include "tools/cli/context.h"
#include "tools/cli/json.h"

namespace anteroom::cli {

// A record that `engine` has yet to apply, as one object: `sequence`, `at_ms`, `type`, `room` (the
// name, where known), `room_number`, `visitor` and what else the record holds.
Json Describe(const Engine& engine, uint64_t sequence, int64_t at_ms,
              const anteroom::Command& command);

// `damaged`, `newer_format`, … as the JSON's `error`.
std::string_view ErrorNameOf(const absl::Status& status);

// Says why a directory or a file could not be read.
ExitStatus FailReading(Context& context, const absl::Status& status);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_LOG_READING_H_
