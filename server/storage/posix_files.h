// `Files` on the operating system: close-on-exec descriptors, EINTR retried, flock(2) for the lock.
//
// Linux releases a flock with the last descriptor of its open file description, so a killed daemon
// never leaves one behind, whatever text its lock file still holds.
//
// Thread-safe, as files.h says.
#ifndef ANTEROOM_SERVER_STORAGE_POSIX_FILES_H_
#define ANTEROOM_SERVER_STORAGE_POSIX_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "server/storage/files.h"

namespace anteroom::storage {

class PosixFiles : public Files {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status RenameToNew(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<int64_t> AgeSeconds(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::StatusOr<bool> MakeDirectory(const std::string& directory) override;
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  absl::StatusOr<bool> IsLocked(const std::string& path) override;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_POSIX_FILES_H_
