#include "server/app/recovery.h"

#include <uv.h>

#include <cstdio>
#include <utility>

#include "server/auth/random.h"
#include "server/engine/command.h"
#include "server/storage/log_recovery.h"
#include "server/storage/storage_status.h"

namespace anteroom::app {
namespace {

constexpr uint64_t kProgressNs = 1'000'000'000;
// How often the time is looked at.
constexpr uint64_t kProgressRecords = 65536;

storage::EngineMark MarkOf(Engine& engine) {
  const Digest digest = engine.digest();
  return {digest.low, digest.high, engine.now_ms()};
}

// Applies the log to the engine and compares every mark on the way.
class Replay : public storage::LogVisitor {
 public:
  explicit Replay(Engine* engine) : engine_(*engine), said_ns_(uv_hrtime()) {}

  absl::Status Record(uint64_t sequence, std::string_view bytes) override {
    int64_t at_ms = 0;
    Command command;
    if (!DecodeRecord(bytes, &at_ms, &command)) {
      return absl::DataLossError("record " + std::to_string(sequence) +
                                 " is none that this version knows");
    }
    if (at_ms < engine_.now_ms()) {
      return absl::DataLossError("record " + std::to_string(sequence) + " goes back in time");
    }
    effects_.Clear();
    engine_.Apply(at_ms, command, &effects_);
    if (++count_ % kProgressRecords == 0) SayProgress();
    return absl::OkStatus();
  }

  absl::Status Mark(storage::MarkPlace, uint64_t next_sequence,
                    const storage::EngineMark& mark) override {
    if (MarkOf(engine_) == mark) return absl::OkStatus();
    return absl::DataLossError("before record " + std::to_string(next_sequence) +
                               " the log gives another state than the one it was written from");
  }

  bool said_progress() const { return said_progress_; }

 private:
  void SayProgress() {
    const uint64_t now_ns = uv_hrtime();
    if (now_ns - said_ns_ < kProgressNs) return;
    said_ns_ = now_ns;
    said_progress_ = true;
    std::fprintf(stderr, "anteroomd: reading the log, %llu records so far\n",
                 static_cast<unsigned long long>(count_));
  }

  Engine& engine_;
  Effects effects_;
  uint64_t count_ = 0;
  uint64_t said_ns_;
  bool said_progress_ = false;
};

}  // namespace

absl::StatusOr<Recovered> Recover(storage::Files& files, const RecoveryOptions& options) {
  Recovered recovered;
  auto directory = storage::DataDirectory::Open(files, options.directory);
  if (!directory.ok()) return directory.status();
  recovered.directory = *std::move(directory);

  const auto secrets_text = recovered.directory->LoadOrCreateSecrets(
      []() -> absl::StatusOr<std::string> { return auth::FormatSecrets(auth::NewSecrets()); });
  if (!secrets_text.ok()) return secrets_text.status();
  auto secrets = auth::ParseSecrets(*secrets_text);
  if (!secrets.ok()) return secrets.status();
  recovered.secrets = *std::move(secrets);

  recovered.engine = std::make_unique<Engine>(EngineOptions{.index_seed = auth::Random64()});
  Replay replay(recovered.engine.get());
  const storage::RecoveryOptions log_options{
      storage::RecoveryMode::kMend,
      options.virtual_clock ? storage::DirectoryKind::kTest : storage::DirectoryKind::kReal};
  const auto log = storage::RecoverLog(files, options.directory, log_options, replay);
  if (!log.ok()) {
    if (storage::KindOf(log.status()) != storage::FailureKind::kWrongKind) return log.status();
    return absl::FailedPreconditionError(
        std::string(log.status().message()) +
        (options.virtual_clock ? ": start without --virtual-clock, or with another --data"
                               : ": start with --virtual-clock, or with another --data"));
  }
  if (!log->empty) {
    recovered.log_bytes =
        (log->segment_count - 1) * log->last_header.segment_bytes + log->end_offset_bytes;
  }
  if (log->torn_end) {
    std::fprintf(stderr, "anteroomd: %s\n", storage::ToText(*log->torn_end).c_str());
  }
  if (replay.said_progress()) {
    std::fprintf(stderr, "anteroomd: read the log, %llu records\n",
                 static_cast<unsigned long long>(log->record_count));
  }
  if (!log->empty && log->last_header.token_key_id != recovered.secrets.token_key_id) {
    return absl::FailedPreconditionError(
        "the file 'secrets' in " + options.directory +
        " is of another daemon: its key is not the one that the log names, and no token that was "
        "given out would be good");
  }

  storage::LogOptions writer_options;
  writer_options.segment_bytes = options.segment_bytes;
  writer_options.random = auth::Random64;
  writer_options.token_key_id = recovered.secrets.token_key_id;
  writer_options.kind = *log_options.kind;
  writer_options.initial_mark = MarkOf(*recovered.engine);
  auto writer = storage::LogWriter::Open(files, options.directory, *log, writer_options);
  if (!writer.ok()) return writer.status();
  recovered.writer = *std::move(writer);
  return recovered;
}

}  // namespace anteroom::app
