// The simulated daemon: the real desk, engine, clock, group commit, log and recovery, and for each
// connection the real outbox; the turn is that of server/app/server.cc. Every record that is made
// and every answer is held against the model.
//
// Threads: none; one owner.
#ifndef ANTEROOM_TESTS_SIM_DAEMON_H_
#define ANTEROOM_TESTS_SIM_DAEMON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/app/engine_clock.h"
#include "server/app/group_commit.h"
#include "server/engine/desk.h"
#include "server/storage/data_directory.h"
#include "server/storage/log_writer.h"
#include "tests/sim/bounds.h"
#include "tests/sim/chronicle.h"
#include "tests/sim/model.h"
#include "tests/sim/network.h"
#include "tests/sim/pool.h"
#include "tests/support/desk_world.h"
#include "tests/support/memory_files.h"

namespace anteroom::sim {

// The daemon ended itself because of an error of the disk.
struct DiskFailed : std::runtime_error {
  explicit DiskFailed(const absl::Status& status)
      : std::runtime_error(std::string(status.message())) {}
};

inline constexpr char kDirectory[] = "data";

// Invariants: chronicle and model hold every record that was applied; `network` has an answer or
// a place in an outbox for every request that it has handed over.
class Daemon : public RecordSink, public DeskObserver {
 public:
  struct Options {
    app::Durability durability = app::Durability::kCommit;
    uint64_t undurable_bytes_max = 0;
    uint64_t segment_bytes = 0;
    uint64_t index_seed = 0;
    uint64_t salt_seed = 0;
  };

  // All outlive it.
  Daemon(storage::MemoryFiles* disk, Pool* pool, Network* network, Chronicle* chronicle,
         const Names* names, Options options);
  ~Daemon() override;

  // Opens the directory, reads the log, and compares what came back with what it must be.
  absl::Status Start(uint64_t now_ns);
  // A snapshot up to the open segment, and away with what it covers, as app/snapshots.h has it done
  // beside the loop. False when nothing is closed, or the disk did not let it.
  bool MakeSnapshot(uint64_t index_seed);
  // A turn of the loop, with what has arrived. Throws DiskFailed.
  void Turn(uint64_t now_ns);
  // Commits what is left, answers go out, the log is ended. False when that cannot be done now.
  bool Stop(std::mt19937_64& random);

  void CompareWithModel();
  // What a request is told; for one that comes over no connection.
  Told Handle(const Ask& ask);
  Engine& engine() { return engine_; }

  void Append(std::string_view record) override;
  void OnEffects(const Effects& effects) override;
  bool IsWatched(uint32_t room, uint32_t visitor) const override;

 private:
  absl::Status ReadLog();
  void SettleSpace(uint64_t now_ns);
  void BeginTurn(uint64_t now_ns);
  void Work(const Network::Arrived& arrived);
  Told HandleChecked(const Ask& ask);
  Told RotateTokenKey();
  void Release();
  void CheckNobodyOutlives() const;

  storage::MemoryFiles& disk_;
  Pool& pool_;
  Network& network_;
  Chronicle& chronicle_;
  const Names& names_;
  const Options options_;
  Engine engine_;
  PlainTokens tokens_;
  uint32_t token_keys_ = 0;  // in the directory's secrets, with the ids from 1 on
  std::unique_ptr<storage::DataDirectory> directory_;
  std::unique_ptr<storage::LogWriter> writer_;
  uint32_t snapshot_ = 1;  // number of the last one, 1 before the first
  std::unique_ptr<app::GroupCommit> commit_;
  std::optional<app::EngineClock> clock_;
  std::unique_ptr<Desk> desk_;
  app::GroupCommit::Space space_;
  bool left_over_ = false;  // of what is due, by the last turn that did any

  Model model_;
  Bounds bounds_;
  // Of the record that is being applied.
  int64_t record_at_ms_ = 0;
  std::string record_;
  Command command_;
  std::vector<Change> changes_;
  // Of the request that is being answered.
  const Ask* asking_ = nullptr;
  std::optional<Verdict> verdict_;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_DAEMON_H_
