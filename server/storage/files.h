// The only door to files. Everything in storage goes through `Files` and `File`, so that tests can
// replace the disk by one that fails, tears writes and loses power (tests/support/memory_files.h).
//
// All calls block. Errors are those of storage_status.h, with the errno kept; EINTR is retried
// within. Nothing but AgeSeconds reads a clock.
//
// Threads: distinct `File` objects may be used from different threads at the same time, and so may
// the methods of one `Files`; one `File` belongs to one thread at a time.
#ifndef ANTEROOM_SERVER_STORAGE_FILES_H_
#define ANTEROOM_SERVER_STORAGE_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace anteroom::storage {

enum class OpenMode {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // read and write; made (0600) when it is not there
  kAnew,       // read and write; made (0600), whatever had the name before is removed
};

// An open file. Closed by its destructor.
class File {
 public:
  virtual ~File() = default;

  // Both may be short, as pwrite and pread are; a read of 0 bytes is the end of the file.
  // Use WriteFully and ReadFully, which finish them.
  virtual absl::StatusOr<size_t> WriteAt(uint64_t offset_bytes, std::string_view bytes) = 0;
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset_bytes, char* buffer, size_t bytes) = 0;

  virtual absl::StatusOr<uint64_t> SizeBytes() = 0;
  // Allocates blocks so that writes within the first `size_bytes` cannot run out of space; grows
  // the file to that size, with zeros, never shrinks it. kNoSpace when they cannot be had.
  virtual absl::Status Reserve(uint64_t size_bytes) = 0;
  virtual absl::Status Truncate(uint64_t size_bytes) = 0;
  // Data and size are on disk when it returns (fdatasync). After an error nobody knows what is.
  virtual absl::Status Sync() = 0;
};

// Held until destroyed, or until the process dies in whatever way.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class Files {
 public:
  virtual ~Files() = default;

  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  // Replaces `to` in one step. On disk only after SyncDirectory.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // The same, but replaces nothing: EEXIST when `to` is there.
  virtual absl::Status RenameToNew(const std::string& from, const std::string& to) = 0;
  virtual absl::Status Remove(const std::string& path) = 0;
  // Seconds since it was last written, by the wall clock; negative when that was set back.
  virtual absl::StatusOr<int64_t> AgeSeconds(const std::string& path) = 0;
  // Names, not paths, of what stands in the directory, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;
  // Made with mode 0700. False when it was there already.
  virtual absl::StatusOr<bool> MakeDirectory(const std::string& directory) = 0;
  // What was created, renamed and removed in the directory is on disk when it returns.
  virtual absl::Status SyncDirectory(const std::string& directory) = 0;
  // Takes the kernel's lock on the file, made when it is not there; a file left behind by a dead
  // process is no obstacle. kInUse, naming the holder's process id, when another holds it.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
  // Whether somebody holds it. False when it is not there.
  virtual absl::StatusOr<bool> IsLocked(const std::string& path) = 0;
};

// Writes all of it, however short the single writes are.
absl::Status WriteFully(File& file, uint64_t offset_bytes, std::string_view bytes);
// Reads up to `bytes`; fewer only at the end of the file.
absl::StatusOr<size_t> ReadFully(File& file, uint64_t offset_bytes, char* buffer, size_t bytes);
// "directory/name"
std::string JoinPath(std::string_view directory, std::string_view name);
// The directory that holds `path`: "." when it names none.
std::string ParentDirectory(std::string_view path);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_FILES_H_
