#include "server/storage/compaction.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/engine/engine.h"
#include "server/engine/snapshot.h"
#include "server/storage/data_directory.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_format.h"
#include "server/storage/log_recovery.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

// Between two looks whether to stop; synced each time, so that no single sync is long.
constexpr size_t kCopyBytes = 4u << 20;

absl::Status CheckCancel(const std::atomic<bool>& cancel) {
  return cancel.load(std::memory_order_relaxed) ? absl::CancelledError("the daemon stops")
                                                : absl::OkStatus();
}

// A replay that can be told to stop.
class CancellableReplay : public EngineReplay {
 public:
  CancellableReplay(Engine* engine, const std::atomic<bool>& cancel)
      : EngineReplay(engine), cancel_(cancel) {}

  absl::Status SnapshotEntries(const std::vector<std::string_view>& entries) override {
    const absl::Status status = CheckCancel(cancel_);
    return status.ok() ? EngineReplay::SnapshotEntries(entries) : status;
  }
  absl::Status Record(uint64_t sequence, std::string_view bytes) override {
    const absl::Status status = CheckCancel(cancel_);
    return status.ok() ? EngineReplay::Record(sequence, bytes) : status;
  }

 private:
  const std::atomic<bool>& cancel_;
};

// Into another file system, where a rename does not reach.
absl::Status Copy(Files& files, const std::string& from, const std::string& to,
                  const std::atomic<bool>& cancel) {
  const absl::StatusOr<std::unique_ptr<File>> source = files.Open(from, OpenMode::kRead);
  if (!source.ok()) return source.status();
  const std::string temporary = to + ".tmp";
  const absl::StatusOr<std::unique_ptr<File>> copy = files.Open(temporary, OpenMode::kAnew);
  if (!copy.ok()) return copy.status();
  std::string buffer(kCopyBytes, '\0');
  absl::Status status;
  for (uint64_t offset = 0; status.ok();) {
    status = CheckCancel(cancel);
    if (!status.ok()) break;
    const absl::StatusOr<size_t> got = ReadFully(**source, offset, buffer.data(), buffer.size());
    if (!got.ok()) status = got.status();
    if (!got.ok() || *got == 0) break;
    status = WriteFully(**copy, offset, std::string_view(buffer).substr(0, *got));
    if (status.ok()) status = (*copy)->Sync();
    offset += *got;
  }
  if (status.ok()) status = (*copy)->Sync();
  if (status.ok()) status = files.RenameToNew(temporary, to);
  if (!status.ok()) files.Remove(temporary).IgnoreError();
  return status;
}

absl::StatusOr<bool> HaveSameBytes(File& one, File& other, const std::atomic<bool>& cancel) {
  std::string bytes(kCopyBytes, '\0');
  std::string others(kCopyBytes, '\0');
  for (uint64_t offset = 0;; offset += kCopyBytes) {
    const absl::Status status = CheckCancel(cancel);
    if (!status.ok()) return status;
    const absl::StatusOr<size_t> got = ReadFully(one, offset, bytes.data(), kCopyBytes);
    if (!got.ok()) return got.status();
    const absl::StatusOr<size_t> got_other = ReadFully(other, offset, others.data(), kCopyBytes);
    if (!got_other.ok()) return got_other.status();
    if (std::string_view(bytes).substr(0, *got) != std::string_view(others).substr(0, *got_other)) {
      return false;
    }
    if (*got < kCopyBytes) return true;
  }
}

// What stands in the archive under this name is the same file, from an earlier try, or another's.
absl::Status CheckArchived(Files& files, const std::string& from, const std::string& to,
                           const std::atomic<bool>& cancel) {
  const absl::StatusOr<std::unique_ptr<File>> ours = files.Open(from, OpenMode::kRead);
  if (!ours.ok()) return ours.status();
  const absl::StatusOr<std::unique_ptr<File>> archived = files.Open(to, OpenMode::kRead);
  if (!archived.ok()) return archived.status();
  const absl::StatusOr<bool> same = HaveSameBytes(**ours, **archived, cancel);
  if (!same.ok()) return same.status();
  if (*same) return (*archived)->Sync();  // whoever put it there
  return absl::AlreadyExistsError(
      to + " is there already, with other bytes than " + from +
      ": it is of another data directory, or was changed, and nothing is replaced. Give each data "
      "directory an archive of its own");
}

// On disk in the archive before it is gone from the directory.
absl::Status Archive(Files& files, const std::string& from, const std::string& archive,
                     const std::string& name, const std::atomic<bool>& cancel) {
  const std::string to = JoinPath(archive, name);
  absl::Status status = files.RenameToNew(from, to);
  if (status.ok()) return files.SyncDirectory(archive);
  bool is_there = ErrnoOf(status) == EEXIST;
  if (ErrnoOf(status) == EXDEV) {
    is_there = files.Open(to, OpenMode::kRead).ok();
    if (!is_there) status = Copy(files, from, to, cancel);
  }
  if (is_there) status = CheckArchived(files, from, to, cancel);
  if (status.ok()) status = files.SyncDirectory(archive);
  return status.ok() ? files.Remove(from) : status;
}

}  // namespace

absl::StatusOr<SnapshotMade> MakeSnapshot(Files& files, const std::string& directory,
                                          uint32_t segment_number, uint64_t index_seed,
                                          const std::atomic<bool>& cancel) {
  Engine engine(EngineOptions{.index_seed = index_seed});
  CancellableReplay replay(&engine, cancel);
  RecoveryOptions options;
  options.until_segment = segment_number;
  const absl::StatusOr<RecoveredLog> log = RecoverLog(files, directory, options, replay);
  if (!log.ok()) return log.status();
  if (log->last_header.segment_number != segment_number) {
    return FailureStatus(FailureKind::kNotFound,
                         "the segment " + SegmentFileName(segment_number) + " is not in use");
  }
  absl::StatusOr<std::unique_ptr<SnapshotWriter>> writer =
      SnapshotWriter::Create(files, JoinPath(directory, SnapshotFileName(segment_number)),
                             SnapshotKind::kSnapshot, log->last_header);
  if (!writer.ok()) return writer.status();
  absl::Status status;
  SaveEngine(engine, [&](std::string_view entry) {
    status = CheckCancel(cancel);
    if (status.ok()) status = (*writer)->Add(entry);
    return status.ok();
  });
  if (status.ok()) status = (*writer)->Finish();
  if (!status.ok()) return status;
  return SnapshotMade{(*writer)->bytes(), log->record_count};
}

absl::Status CheckArchive(Files& files, const std::string& archive) {
  const absl::StatusOr<std::vector<std::string>> names = files.List(archive);
  if (!names.ok()) {
    return absl::FailedPreconditionError("--archive takes a directory that is there: " +
                                         std::string(names.status().message()));
  }
  for (const std::string& name : *names) {
    if (name != kLockName && name != kSecretsName) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("--archive ", archive, " is a data directory, since it holds the file '", name,
                     "': what is archived goes to a directory of its own"));
  }
  return absl::OkStatus();
}

absl::Status RemoveCovered(Files& files, const std::string& directory, uint32_t segment_number,
                           const std::string& archive, const std::atomic<bool>& cancel) {
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory);
  if (!names.ok()) return names.status();
  bool changed = false;
  for (const std::string& name : *names) {  // in the order of their numbers
    const std::optional<uint32_t> segment = ParseSegmentFileName(name);
    const std::optional<uint32_t> snapshot = ParseSnapshotFileName(name);
    const std::string path = JoinPath(directory, name);
    const uint32_t number = segment ? *segment : snapshot.value_or(segment_number);
    if (number >= segment_number) continue;
    absl::Status status = CheckCancel(cancel);
    if (status.ok()) {
      status = archive.empty() ? files.Remove(path) : Archive(files, path, archive, name, cancel);
    }
    if (!status.ok()) return status;
    changed = true;
  }
  return changed ? files.SyncDirectory(directory) : absl::OkStatus();
}

absl::Status PruneArchive(Files& files, const std::string& archive, int64_t keep_s,
                          const std::atomic<bool>& cancel) {
  const absl::StatusOr<std::vector<std::string>> names = files.List(archive);
  if (!names.ok()) return names.status();
  uint32_t keep_from = 0;
  for (const std::string& name : *names) {
    const std::optional<uint32_t> snapshot = ParseSnapshotFileName(name);
    if (!snapshot.has_value()) continue;
    const absl::Status status = CheckCancel(cancel);
    if (!status.ok()) return status;
    const absl::StatusOr<int64_t> age_s = files.AgeSeconds(JoinPath(archive, name));
    if (!age_s.ok()) return age_s.status();
    if (*age_s > keep_s) keep_from = std::max(keep_from, *snapshot);
  }
  return RemoveCovered(files, archive, keep_from, "", cancel);
}

}  // namespace anteroom::storage
