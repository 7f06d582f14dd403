// A daemon's data directory: its lock, its secrets, and what is left over from a crash.
//
//   auto directory = DataDirectory::Open(files, "anteroom-data");           // takes the lock
//   auto secrets = (*directory)->LoadOrCreateSecrets([] { return NewSecretBytes(); });
//   auto log = RecoverLog(files, (*directory)->path(), {RecoveryMode::kMend, kind}, replay);
//   auto writer = LogWriter::Open(files, (*directory)->path(), *log, options);
//
// In this order: the secrets are on disk before the first byte of a log, so that a log without
// secrets is always a loss and never a beginning.
//
// Threads: one at a time; blocks. Once the loop runs WriteSecrets alone is called, beside it.
// Whether a directory is a test's or real stands in the log's headers (RecoveryOptions::kind).
#ifndef ANTEROOM_SERVER_STORAGE_DATA_DIRECTORY_H_
#define ANTEROOM_SERVER_STORAGE_DATA_DIRECTORY_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"

namespace anteroom::storage {

// What every data directory holds.
inline constexpr char kLockName[] = "lock";
inline constexpr char kSecretsName[] = "secrets";

// kUnfinished when these names of a directory's files are of a restore that stopped half-way.
absl::Status CheckFinished(const std::vector<std::string>& names, const std::string& directory);

// The secrets of a directory, exactly as they were stored; kNotFound when there are none. Takes no
// lock.
absl::StatusOr<std::string> ReadSecrets(Files& files, const std::string& directory);

// Invariant: the lock is held from Open to the destructor.
class DataDirectory {
 public:
  // Makes the directory (0700; its parent must exist) when it is not there, takes the lock, and
  // removes the temporary files that a crash left. kInUse when another process holds it.
  // kUnfinished when a restore stopped half-way there.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Open(Files& files, std::string path);

  // For a restore: the same, and the directory is empty but for the lock, made so when a restore
  // did not succeed there. From here to FinishRestore it is unfinished, on disk.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> OpenToRestore(Files& files,
                                                                      std::string path);
  absl::Status FinishRestore();
  // Takes all away that a restore has made; it is unfinished still.
  absl::Status RemoveRestored();

  const std::string& path() const { return path_; }

  // The bytes last stored, exactly; kNotFound when there are none.
  absl::StatusOr<std::string> ReadSecrets();
  // Replaces them in one step: after a crash there are the old ones or the new ones.
  absl::Status WriteSecrets(std::string_view bytes);
  // Those stored; when there are none and no log either, the ones that `make` returns, stored
  // first. A log without secrets is kSecretMissing.
  absl::StatusOr<std::string> LoadOrCreateSecrets(
      const std::function<absl::StatusOr<std::string>()>& make);
  // Whether any log segment is there, readable or not.
  absl::StatusOr<bool> HasLog();

 private:
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Take(Files& files, std::string path);
  DataDirectory(Files& files, std::string path, std::unique_ptr<FileLock> lock);

  Files& files_;
  const std::string path_;
  std::unique_ptr<FileLock> lock_;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_DATA_DIRECTORY_H_
