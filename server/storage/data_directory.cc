#include "server/storage/data_directory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/base/limits.h"
#include "server/storage/log_format.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

constexpr char kRestoringName[] = "restoring";
constexpr std::string_view kTemporarySuffix = ".tmp";

// Whether a crash of ours may have left this name: secrets, a segment or a snapshot half made.
bool IsLeftover(std::string_view name) {
  if (!name.ends_with(kTemporarySuffix)) return false;
  name.remove_suffix(kTemporarySuffix.size());
  return name == kSecretsName || ParseSegmentFileName(name).has_value() ||
         (name.size() == 13 && name.ends_with(".snap"));
}

}  // namespace

DataDirectory::DataDirectory(Files& files, std::string path, std::unique_ptr<FileLock> lock)
    : files_(files), path_(std::move(path)), lock_(std::move(lock)) {}

absl::Status CheckFinished(const std::vector<std::string>& names, const std::string& directory) {
  if (std::find(names.begin(), names.end(), kRestoringName) == names.end()) {
    return absl::OkStatus();
  }
  return FailureStatus(
      FailureKind::kUnfinished,
      "the restore into " + directory + " was not finished: restore the backup into it once more");
}

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Open(Files& files, std::string path) {
  absl::StatusOr<std::unique_ptr<DataDirectory>> taken = Take(files, std::move(path));
  if (!taken.ok()) return taken;
  const absl::StatusOr<std::vector<std::string>> names = files.List((*taken)->path_);
  if (!names.ok()) return names.status();
  const absl::Status finished = CheckFinished(*names, (*taken)->path_);
  if (!finished.ok()) return finished;
  return taken;
}

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::OpenToRestore(Files& files,
                                                                            std::string path) {
  absl::StatusOr<std::unique_ptr<DataDirectory>> taken = Take(files, std::move(path));
  if (!taken.ok()) return taken;
  DataDirectory& directory = **taken;
  const absl::StatusOr<std::vector<std::string>> names = files.List(directory.path_);
  if (!names.ok()) return names.status();
  if (!CheckFinished(*names, directory.path_).ok()) {
    const absl::Status removed = directory.RemoveRestored();
    if (!removed.ok()) return removed;
  } else if (names->size() > 1) {  // the lock
    return absl::AlreadyExistsError(directory.path_ + " is not empty");
  }
  const auto mark = files.Open(JoinPath(directory.path_, kRestoringName), OpenMode::kAnew);
  if (!mark.ok()) return mark.status();
  const absl::Status status = files.SyncDirectory(directory.path_);
  if (!status.ok()) return status;
  return taken;
}

absl::Status DataDirectory::FinishRestore() {
  const absl::Status status = files_.Remove(JoinPath(path_, kRestoringName));
  return status.ok() ? files_.SyncDirectory(path_) : status;
}

// All that a restore makes, but for the mark that says so. The secrets first: a log without them
// is refused by every daemon.
absl::Status DataDirectory::RemoveRestored() {
  absl::StatusOr<std::vector<std::string>> names = files_.List(path_);
  if (!names.ok()) return names.status();
  std::partition(names->begin(), names->end(),
                 [](const std::string& name) { return name == kSecretsName; });
  for (const std::string& name : *names) {
    const bool restored = name == kSecretsName || IsLeftover(name) ||
                          ParseSegmentFileName(name).has_value() ||
                          ParseSnapshotFileName(name).has_value();
    if (!restored) continue;
    const absl::Status removed = files_.Remove(JoinPath(path_, name));
    if (!removed.ok()) return removed;
  }
  return files_.SyncDirectory(path_);
}

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Take(Files& files, std::string path) {
  const absl::StatusOr<bool> made = files.MakeDirectory(path);
  if (!made.ok()) return made.status();
  absl::StatusOr<std::unique_ptr<FileLock>> lock = files.Lock(JoinPath(path, kLockName));
  if (!lock.ok()) {
    if (KindOf(lock.status()) != FailureKind::kInUse) return lock.status();
    return FailureStatus(FailureKind::kInUse, "the data directory " + path + " is in use: " +
                                                  std::string(lock.status().message()));
  }
  const absl::StatusOr<std::vector<std::string>> names = files.List(path);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!IsLeftover(name)) continue;
    const absl::Status removed = files.Remove(JoinPath(path, name));
    if (!removed.ok()) return removed;
  }
  // Also when the directory was there: the crash may have come between its making and this. And a
  // rename that only the page cache knows of must not be built upon.
  absl::Status status = files.SyncDirectory(ParentDirectory(path));
  if (status.ok()) status = files.SyncDirectory(path);
  if (!status.ok()) return status;
  return std::unique_ptr<DataDirectory>(
      new DataDirectory(files, std::move(path), *std::move(lock)));
}

absl::StatusOr<std::string> ReadSecrets(Files& files, const std::string& directory) {
  const absl::StatusOr<std::unique_ptr<File>> file =
      files.Open(JoinPath(directory, kSecretsName), OpenMode::kRead);
  if (!file.ok()) return file.status();
  const absl::StatusOr<uint64_t> size_bytes = (*file)->SizeBytes();
  if (!size_bytes.ok()) return size_bytes.status();
  if (*size_bytes > limits::kSecretsBytesMax) {
    return DamageStatus(kSecretsName, limits::kSecretsBytesMax, "the file is too large");
  }
  std::string bytes(*size_bytes, '\0');
  const absl::StatusOr<size_t> got = ReadFully(**file, 0, bytes.data(), bytes.size());
  if (!got.ok()) return got.status();
  bytes.resize(*got);
  return bytes;
}

absl::StatusOr<std::string> DataDirectory::ReadSecrets() {
  return storage::ReadSecrets(files_, path_);
}

absl::Status DataDirectory::WriteSecrets(std::string_view bytes) {
  if (bytes.size() > limits::kSecretsBytesMax)
    return absl::InvalidArgumentError("too many secrets");
  const std::string file_path = JoinPath(path_, kSecretsName);
  const std::string temporary_path = file_path + std::string(kTemporarySuffix);
  const absl::StatusOr<std::unique_ptr<File>> file = files_.Open(temporary_path, OpenMode::kAnew);
  if (!file.ok()) return file.status();
  absl::Status status = WriteFully(**file, 0, bytes);
  if (status.ok()) status = (*file)->Sync();
  if (!status.ok()) {
    files_.Remove(temporary_path).IgnoreError();
    return status;
  }
  status = files_.Rename(temporary_path, file_path);
  if (status.ok()) status = files_.SyncDirectory(path_);
  return status;
}

absl::StatusOr<std::string> DataDirectory::LoadOrCreateSecrets(
    const std::function<absl::StatusOr<std::string>()>& make) {
  absl::StatusOr<std::string> stored = ReadSecrets();
  if (stored.ok() || KindOf(stored.status()) != FailureKind::kNotFound) return stored;
  const absl::StatusOr<bool> has_log = HasLog();
  if (!has_log.ok()) return has_log.status();
  if (*has_log) {
    return FailureStatus(FailureKind::kSecretMissing,
                         "the log in " + path_ +
                             " is there but its secrets are not: without them no token that was "
                             "given out is good. Put the file 'secrets' back");
  }
  absl::StatusOr<std::string> made = make();
  if (!made.ok()) return made;
  const absl::Status status = WriteSecrets(*made);
  if (!status.ok()) return status;
  return made;
}

absl::StatusOr<bool> DataDirectory::HasLog() {
  const absl::StatusOr<std::vector<std::string>> names = files_.List(path_);
  if (!names.ok()) return names.status();
  return std::any_of(names->begin(), names->end(), [](const std::string& name) {
    return ParseSegmentFileName(name).has_value();
  });
}

}  // namespace anteroom::storage
