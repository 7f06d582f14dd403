// An engine with its log on some files, and commands at random: a daemon without its desk.
#ifndef ANTEROOM_TESTS_SUPPORT_LOGGED_ENGINE_H_
#define ANTEROOM_TESTS_SUPPORT_LOGGED_ENGINE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/engine/engine.h"
#include "server/storage/data_directory.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_writer.h"
#include "tests/support/log_harness.h"
#include "tests/support/random_commands.h"

namespace anteroom::storage {

// Invariant: the log holds what the engine has applied.
class LoggedEngine {
 public:
  absl::Status Start(Files& files, const std::string& directory = kTestDirectory) {
    auto opened = DataDirectory::Open(files, directory);
    if (!opened.ok()) return opened.status();
    directory_ = *std::move(opened);
    const auto secrets = directory_->LoadOrCreateSecrets([] { return std::string("secret"); });
    if (!secrets.ok()) return secrets.status();
    EngineReplay replay(engine_.get());
    auto log = RecoverLog(files, directory, {.mode = RecoveryMode::kMend}, replay);
    if (!log.ok()) return log.status();
    log_ = *std::move(log);
    LogOptions options = SmallLog();
    options.initial_mark = MarkOf(*engine_);
    auto writer = LogWriter::Open(files, directory, log_, std::move(options));
    if (!writer.ok()) return writer.status();
    writer_ = *std::move(writer);
    builder_.emplace(log_.next_sequence, writer_->frame_payload_bytes_max());
    return absl::OkStatus();
  }

  // Applies and writes some more; `commands` has Next(), as RandomCommands has.
  template <typename Commands>
  absl::Status Run(Commands& commands, int records) {
    Effects effects;
    for (int i = 0; i < records; ++i) {
      const std::string record = commands.Next();
      int64_t at_ms = 0;
      Command command;
      if (!DecodeRecord(record, &at_ms, &command)) return absl::InternalError("no record");
      builder_->Stage(builder_->OpensFrame(record.size()) ? MarkOf(*engine_) : EngineMark(),
                      record);
      effects.Clear();
      engine_->Apply(at_ms, command, &effects);
      if (i % 5 != 0 && i + 1 < records) continue;
      Batch batch = builder_->Seal();
      const absl::Status status = writer_->Write(batch);
      if (!status.ok()) return status;
      builder_->Recycle(std::move(batch));
    }
    return absl::OkStatus();
  }

  uint32_t open_segment() const { return writer_->segment_number(); }
  const RecoveredLog& log() const { return log_; }
  EngineMark mark() { return MarkOf(*engine_); }

 private:
  std::unique_ptr<Engine> engine_ = std::make_unique<Engine>(EngineOptions{});
  std::unique_ptr<DataDirectory> directory_;
  RecoveredLog log_;
  std::unique_ptr<LogWriter> writer_;
  std::optional<BatchBuilder> builder_;
};

// The state that a directory gives, or why it gives none.
inline absl::StatusOr<EngineMark> StateOf(Files& files,
                                          const std::string& directory = kTestDirectory,
                                          bool archive = false) {
  Engine engine(EngineOptions{.index_seed = 9});
  EngineReplay replay(&engine);
  const auto log = RecoverLog(files, directory, {.archive = archive}, replay);
  if (!log.ok()) return log.status();
  engine.check_invariants();
  return MarkOf(engine);
}

}  // namespace anteroom::storage

#endif  // ANTEROOM_TESTS_SUPPORT_LOGGED_ENGINE_H_
