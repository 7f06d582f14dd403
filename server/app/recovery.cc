#include "server/app/recovery.h"

#include <uv.h>

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/secret.h"
#include "server/auth/random.h"
#include "server/storage/compaction.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_recovery.h"
#include "server/storage/storage_status.h"

namespace anteroom::app {
namespace {

constexpr uint64_t kProgressNs = 1'000'000'000;
// How often the time is looked at.
constexpr uint64_t kProgressRecords = 65536;

// Says how far the reading has come when it takes long.
class ReplayWithProgress : public storage::EngineReplay {
 public:
  explicit ReplayWithProgress(Engine* engine) : EngineReplay(engine) {}

  absl::Status SnapshotEntries(const std::vector<std::string_view>& entries) override {
    entries_ += entries.size();
    SayNowAndThen();
    return EngineReplay::SnapshotEntries(entries);
  }
  absl::Status Record(uint64_t sequence, std::string_view bytes) override {
    if (++records_ % kProgressRecords == 0) SayNowAndThen();
    return EngineReplay::Record(sequence, bytes);
  }
  bool said() const { return said_; }

 private:
  void SayNowAndThen() {
    const uint64_t now_ns = uv_hrtime();
    if (now_ns - said_ns_ < kProgressNs) return;
    said_ns_ = now_ns;
    said_ = true;
    std::fprintf(
        stderr, "anteroomd: reading, %llu entries of the snapshot and %llu records so far\n",
        static_cast<unsigned long long>(entries_), static_cast<unsigned long long>(records_));
  }

  uint64_t entries_ = 0;
  uint64_t records_ = 0;
  uint64_t said_ns_ = uv_hrtime();
  bool said_ = false;
};

// A sale opens all the same.
void WarnOfOpenSecrets(const std::string& directory) {
  const std::string path = storage::JoinPath(directory, storage::kSecretsName);
  uv_fs_t request;
  const bool found = uv_fs_stat(nullptr, &request, path.c_str(), nullptr) == 0;
  if (found && (request.statbuf.st_mode & 077) != 0) {
    std::fprintf(stderr,
                 "anteroomd: the group or others may use %s, and whoever reads it can make every "
                 "token; say chmod 600\n",
                 path.c_str());
  }
  uv_fs_req_cleanup(&request);
}

}  // namespace

absl::StatusOr<Recovered> Recover(storage::Files& files, const RecoveryOptions& options) {
  Recovered recovered;
  auto directory = storage::DataDirectory::Open(files, options.directory);
  if (!directory.ok()) return directory.status();
  recovered.directory = *std::move(directory);
  if (!options.archive.empty()) {
    // After the lock was made, which tells this directory too.
    const absl::Status status = storage::CheckArchive(files, options.archive);
    if (!status.ok()) return status;
  }

  auto secrets_text = recovered.directory->LoadOrCreateSecrets(
      []() -> absl::StatusOr<std::string> { return auth::FormatSecrets(auth::NewSecrets()); });
  if (!secrets_text.ok()) return secrets_text.status();
  auto secrets = auth::ParseSecrets(*secrets_text);
  protocol::Wipe(secrets_text->data(), secrets_text->size());
  if (!secrets.ok()) return secrets.status();
  recovered.secrets = *std::move(secrets);
  WarnOfOpenSecrets(options.directory);

  recovered.engine = std::make_unique<Engine>(EngineOptions{.index_seed = auth::Random64()});
  ReplayWithProgress replay(recovered.engine.get());
  storage::RecoveryOptions log_options;
  log_options.mode = storage::RecoveryMode::kMend;
  log_options.kind =
      options.virtual_clock ? storage::DirectoryKind::kTest : storage::DirectoryKind::kReal;
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
  if (replay.said()) {
    std::fprintf(stderr, "anteroomd: read all, %llu records\n",
                 static_cast<unsigned long long>(log->record_count));
  }
  if (!log->empty) {
    const absl::Status right = auth::CheckSecretsOf(
        recovered.secrets, log->last_header.token_key_id, recovered.engine->token_keys());
    if (!right.ok()) {
      return storage::FailureStatus(storage::FailureKind::kSecretMissing,
                                    options.directory + ": " + std::string(right.message()));
    }
  }
  recovered.snapshot_number = log->snapshot_number;
  recovered.snapshot_bytes = log->snapshot_bytes;

  storage::LogOptions writer_options;
  writer_options.segment_bytes = options.segment_bytes;
  writer_options.random = auth::Random64;
  if (!log->empty) writer_options.epoch = log->last_header.epoch;
  writer_options.token_key_id = recovered.secrets.token_keys.front().id;
  writer_options.kind = *log_options.kind;
  writer_options.initial_mark = storage::MarkOf(*recovered.engine);
  auto writer = storage::LogWriter::Open(files, options.directory, *log, writer_options);
  if (!writer.ok()) return writer.status();
  recovered.writer = *std::move(writer);
  return recovered;
}

}  // namespace anteroom::app
