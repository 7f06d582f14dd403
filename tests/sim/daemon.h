// The simulated daemon: what lies between the desk and the files in the real one, step by step.
#ifndef ANTEROOM_TESTS_SIM_DAEMON_H_
#define ANTEROOM_TESTS_SIM_DAEMON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/desk.h"
#include "server/storage/data_directory.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_writer.h"
#include "tests/sim/simulation.h"
#include "tests/support/desk_world.h"
#include "tests/support/memory_files.h"

namespace anteroom::sim {

// Invariant: history->states holds one state for every record that has been applied.
class Daemon : public RecordSink, public DeskObserver {
 public:
  Daemon(storage::MemoryFiles* disk, History* history, uint64_t index_seed);

  // Opens the directory, reads the log, compares with the history and cuts it to what came back.
  absl::Status Start(uint64_t salt_seed);
  // Writes and syncs what is staged. A full disk is no error: SettleSpace goes on from there.
  absl::Status Commit();
  // Reserves space ahead, and tells the desk what the log can take.
  absl::Status SettleSpace();
  // Commits what is left and writes the end.
  absl::Status Stop();

  Desk& desk() { return *desk_; }
  Engine& engine() { return engine_; }

  void Append(std::string_view record) override;
  void OnEffects(const Effects& effects) override;
  bool IsWatched(uint32_t, uint32_t visitor) const override { return visitor % 7 == 0; }

 private:
  absl::Status WriteInFlight();

  storage::MemoryFiles& disk_;
  History& history_;
  Engine engine_;
  PlainTokens tokens_;
  std::unique_ptr<storage::DataDirectory> directory_;
  std::unique_ptr<storage::LogWriter> writer_;
  std::optional<storage::BatchBuilder> builder_;
  std::optional<storage::Batch> in_flight_;  // waits for space
  std::unique_ptr<Desk> desk_;
  bool short_of_space_ = false;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_DAEMON_H_
