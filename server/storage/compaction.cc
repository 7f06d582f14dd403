#include "server/storage/compaction.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/snapshot.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_format.h"
#include "server/storage/log_recovery.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

constexpr size_t kCopyBytes = 1u << 20;

// A replay that can be told to stop.
class CancellableReplay : public EngineReplay {
 public:
  CancellableReplay(Engine* engine, const std::atomic<bool>& cancel)
      : EngineReplay(engine), cancel_(cancel) {}

  absl::Status SnapshotEntries(const std::vector<std::string_view>& entries) override {
    return cancel_.load(std::memory_order_relaxed) ? absl::CancelledError("the daemon stops")
                                                   : EngineReplay::SnapshotEntries(entries);
  }
  absl::Status Record(uint64_t sequence, std::string_view bytes) override {
    return cancel_.load(std::memory_order_relaxed) ? absl::CancelledError("the daemon stops")
                                                   : EngineReplay::Record(sequence, bytes);
  }

 private:
  const std::atomic<bool>& cancel_;
};

// Into another file system, where a rename does not reach.
absl::Status Copy(Files& files, const std::string& from, const std::string& to) {
  const absl::StatusOr<std::unique_ptr<File>> source = files.Open(from, OpenMode::kRead);
  if (!source.ok()) return source.status();
  const std::string temporary = to + ".tmp";
  const absl::StatusOr<std::unique_ptr<File>> copy = files.Open(temporary, OpenMode::kCreate);
  if (!copy.ok()) return copy.status();
  std::string buffer(kCopyBytes, '\0');
  absl::Status status = (*copy)->Truncate(0);
  for (uint64_t offset = 0; status.ok();) {
    const absl::StatusOr<size_t> got = ReadFully(**source, offset, buffer.data(), buffer.size());
    if (!got.ok()) status = got.status();
    if (!got.ok() || *got == 0) break;
    status = WriteFully(**copy, offset, std::string_view(buffer).substr(0, *got));
    offset += *got;
  }
  if (status.ok()) status = (*copy)->Sync();
  if (status.ok()) status = files.Rename(temporary, to);
  if (!status.ok()) files.Remove(temporary).IgnoreError();
  return status;
}

// On disk in the archive before it is gone from the directory.
absl::Status Archive(Files& files, const std::string& from, const std::string& archive,
                     const std::string& name) {
  const std::string to = JoinPath(archive, name);
  absl::Status status = files.Rename(from, to);
  if (ErrnoOf(status) != EXDEV) {
    return status.ok() ? files.SyncDirectory(archive) : status;
  }
  status = Copy(files, from, to);
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
    status = cancel.load(std::memory_order_relaxed) ? absl::CancelledError("the daemon stops")
                                                    : (*writer)->Add(entry);
    return status.ok();
  });
  if (status.ok()) status = (*writer)->Finish();
  if (!status.ok()) return status;
  return SnapshotMade{(*writer)->bytes(), log->record_count};
}

absl::Status RemoveCovered(Files& files, const std::string& directory, uint32_t segment_number,
                           const std::string& archive) {
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory);
  if (!names.ok()) return names.status();
  bool changed = false;
  for (const std::string& name : *names) {  // in the order of their numbers
    const std::optional<uint32_t> segment = ParseSegmentFileName(name);
    const std::optional<uint32_t> snapshot = ParseSnapshotFileName(name);
    const std::string path = JoinPath(directory, name);
    const uint32_t number = segment ? *segment : snapshot.value_or(segment_number);
    if (number >= segment_number) continue;
    const absl::Status status =
        archive.empty() ? files.Remove(path) : Archive(files, path, archive, name);
    if (!status.ok()) return status;
    changed = true;
  }
  return changed ? files.SyncDirectory(directory) : absl::OkStatus();
}

absl::Status PruneArchive(Files& files, const std::string& archive, int64_t keep_s) {
  const absl::StatusOr<std::vector<std::string>> names = files.List(archive);
  if (!names.ok()) return names.status();
  uint32_t keep_from = 0;
  for (const std::string& name : *names) {
    const std::optional<uint32_t> snapshot = ParseSnapshotFileName(name);
    if (!snapshot.has_value()) continue;
    const absl::StatusOr<int64_t> age_s = files.AgeSeconds(JoinPath(archive, name));
    if (!age_s.ok()) return age_s.status();
    if (*age_s > keep_s) keep_from = std::max(keep_from, *snapshot);
  }
  return RemoveCovered(files, archive, keep_from, "");
}

}  // namespace anteroom::storage
