#include "server/storage/backup.h"

#include <memory>
#include <utility>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/snapshot.h"
#include "server/storage/data_directory.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_recovery.h"
#include "server/storage/log_writer.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

// The type of the first entry, which the engine does not know.
constexpr char kSecretsType = '\0';
// A running daemon may go over to another segment, or take one away, while it is read.
constexpr int kBackupTries = 5;

absl::Status CheckAbsent(Files& files, const std::string& file) {
  const absl::Status opened = files.Open(file, OpenMode::kRead).status();
  if (KindOf(opened) == FailureKind::kNotFound) return absl::OkStatus();
  return opened.ok() ? absl::AlreadyExistsError(file + " is there already") : opened;
}

// Reads the directory into `engine`, a new one.
absl::StatusOr<RecoveredLog> ReadDirectory(Files& files, const std::string& directory,
                                           RecoveryMode mode, Engine* engine) {
  EngineReplay replay(engine);
  absl::StatusOr<RecoveredLog> log = RecoverLog(files, directory, {.mode = mode}, replay);
  if (log.ok() && log->empty) {
    return FailureStatus(FailureKind::kNotFound, directory + " holds no log");
  }
  return log;
}

// All of the engine, and the end.
absl::Status SaveTo(const Engine& engine, SnapshotWriter& writer, uint64_t* entries) {
  absl::Status status;
  SaveEngine(engine, [&](std::string_view entry) {
    status = writer.Add(entry);
    ++*entries;
    return status.ok();
  });
  return status.ok() ? writer.Finish() : status;
}

absl::StatusOr<BackupContent> Write(Files& files, const std::string& directory,
                                    const std::string& file, const RecoveredLog& log,
                                    Engine& engine, const CheckSecrets& check_secrets,
                                    const std::function<uint64_t()>& random) {
  // After the log: a key is in this file before a record names it, and stays.
  const absl::StatusOr<std::string> secrets = ReadSecrets(files, directory);
  if (!secrets.ok()) return secrets.status();
  const absl::Status right = check_secrets(*secrets, log.last_header.token_key_id, engine);
  if (!right.ok()) return right;
  SegmentHeader header = log.last_header;
  header.salt = random();
  ++header.segment_number;
  header.first_sequence = log.next_sequence;
  header.mark = MarkOf(engine);
  ++header.epoch;
  auto writer = SnapshotWriter::Create(files, file, SnapshotKind::kBackup, header);
  if (!writer.ok()) return writer.status();
  BackupContent content{header.first_sequence, 0, header.mark, header.epoch};
  absl::Status status = (*writer)->Add(kSecretsType + *secrets);
  if (status.ok()) status = SaveTo(engine, **writer, &content.entries);
  if (!status.ok()) return status;
  return content;
}

// What a backup says, with what is done with each of its entries but the secrets.
absl::StatusOr<SegmentHeader> Read(Files& files, const std::string& file, std::string* secrets,
                                   const TakeEntries& take) {
  bool begun = false;
  return ReadSnapshot(files, file, SnapshotKind::kBackup,
                      [&](const std::vector<std::string_view>& entries) -> absl::Status {
                        if (begun) return take(entries);
                        begun = true;
                        if (entries.front().empty() || entries.front().front() != kSecretsType) {
                          return FailureStatus(FailureKind::kDamaged,
                                               "it does not begin with the secrets");
                        }
                        *secrets = entries.front().substr(1);
                        return take({entries.begin() + 1, entries.end()});
                      });
}

// An empty directory, with what makes it a daemon's. The secrets are the last.
absl::StatusOr<BackupContent> Fill(Files& files, DataDirectory& directory,
                                   const SegmentHeader& header, const Engine& engine,
                                   const std::string& secrets) {
  const auto segment = MakeSegment(files, directory.path(), header);
  if (!segment.ok()) return segment.status();
  const std::string path = JoinPath(directory.path(), SnapshotFileName(header.segment_number));
  const auto writer = SnapshotWriter::Create(files, path, SnapshotKind::kSnapshot, header);
  if (!writer.ok()) return writer.status();
  BackupContent content{header.first_sequence, 0, header.mark, header.epoch};
  absl::Status status = SaveTo(engine, **writer, &content.entries);
  if (status.ok()) status = directory.WriteSecrets(secrets);
  if (!status.ok()) return status;
  return content;
}

}  // namespace

absl::StatusOr<BackupContent> MakeBackup(Files& files, const std::string& directory,
                                         const std::string& file, const CheckSecrets& check_secrets,
                                         const std::function<uint64_t()>& random) {
  const absl::Status absent = CheckAbsent(files, file);
  if (!absent.ok()) return absent;
  absl::Status failure;
  for (int left = kBackupTries; left > 0; --left) {
    Engine engine(EngineOptions{.index_seed = random()});
    const auto log = ReadDirectory(files, directory, RecoveryMode::kInspect, &engine);
    if (log.ok()) {
      return Write(files, directory, file, *log, engine, check_secrets, random);
    }
    failure = log.status();
  }
  return failure;
}

absl::StatusOr<BackupContent> MakeMovingBackup(Files& files, const std::string& directory,
                                               const std::string& file,
                                               const CheckSecrets& check_secrets,
                                               const std::function<uint64_t()>& random) {
  const absl::Status absent = CheckAbsent(files, file);
  if (!absent.ok()) return absent;
  const auto held = DataDirectory::Open(files, directory);
  if (!held.ok()) return held.status();
  Engine engine(EngineOptions{.index_seed = random()});
  const auto log = ReadDirectory(files, directory, RecoveryMode::kMend, &engine);
  if (!log.ok()) return log.status();
  absl::StatusOr<BackupContent> content =
      Write(files, directory, file, *log, engine, check_secrets, random);
  if (!content.ok()) return content;
  LogOptions options;
  options.segment_bytes = log->last_header.segment_bytes;
  options.random = random;
  options.epoch = log->last_header.epoch;
  options.token_key_id = log->last_header.token_key_id;
  const auto writer = LogWriter::Open(files, directory, *log, options);
  if (!writer.ok()) return writer.status();
  const absl::Status moved = (*writer)->WriteMoved(content->epoch, content->mark);
  if (!moved.ok()) return moved;
  return content;
}

absl::StatusOr<BackupContent> RestoreBackup(Files& files, const std::string& file,
                                            const std::string& directory, uint64_t segment_bytes,
                                            const CheckSecrets& check_secrets,
                                            const std::function<uint64_t()>& random) {
  const auto held = DataDirectory::OpenToRestore(files, directory);
  if (!held.ok()) return held.status();
  std::string secrets;
  Engine engine(EngineOptions{.index_seed = random()});
  EngineReplay replay(&engine);
  absl::StatusOr<SegmentHeader> header = Read(
      files, file, &secrets, [&](const auto& entries) { return replay.SnapshotEntries(entries); });
  if (!header.ok()) return header.status();
  absl::Status status = replay.SnapshotEnd();
  if (status.ok()) {
    status = replay.Mark(MarkPlace::kSnapshotEnd, header->first_sequence, header->mark);
  }
  if (status.ok()) status = check_secrets(secrets, header->token_key_id, engine);
  if (!status.ok()) return status;

  header->salt = random();
  header->segment_bytes = segment_bytes;
  absl::StatusOr<BackupContent> content = Fill(files, **held, *header, engine, secrets);
  if (!content.ok()) {
    (*held)->RemoveRestored().IgnoreError();
    return content;
  }
  status = (*held)->FinishRestore();
  if (!status.ok()) return status;
  return content;
}

}  // namespace anteroom::storage
