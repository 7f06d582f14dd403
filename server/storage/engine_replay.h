// A log read into an engine: takes up the snapshot, decodes each record, applies it, and compares
// every mark on the way with the state that has come of it. The daemon's start and the tools read
// logs alike.
//
//   Engine engine(EngineOptions{});
//   EngineReplay replay(&engine);
//   const auto log = RecoverLog(files, directory, options, replay);
//
// Stops (kDamaged) at the first record that is none, whose time falls, and at the first mark that
// is not the engine's state. Threads: one.
#ifndef ANTEROOM_SERVER_STORAGE_ENGINE_REPLAY_H_
#define ANTEROOM_SERVER_STORAGE_ENGINE_REPLAY_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/engine/command.h"
#include "server/engine/engine.h"
#include "server/engine/snapshot.h"
#include "server/storage/log_recovery.h"

namespace anteroom::storage {

// The state as the log states it.
EngineMark MarkOf(Engine& engine);

class EngineReplay : public LogVisitor {
 public:
  // Told of each record before it is applied; views in the command live until the call returns.
  using OnRecord = std::function<void(uint64_t sequence, int64_t at_ms, const Command& command)>;

  // `engine` outlives it and is new. `on_record` may be empty.
  explicit EngineReplay(Engine* engine, OnRecord on_record = {});

  absl::Status SnapshotEntries(const std::vector<std::string_view>& entries) override;
  absl::Status SnapshotEnd() override;
  absl::Status Record(uint64_t sequence, std::string_view bytes) override;
  absl::Status Mark(MarkPlace place, uint64_t next_sequence, const EngineMark& mark) override;

 private:
  Engine& engine_;
  EngineLoader loader_;
  const OnRecord on_record_;
  Effects effects_;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_ENGINE_REPLAY_H_
