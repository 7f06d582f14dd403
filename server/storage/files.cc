#include "server/storage/files.h"

#include <cerrno>

#include "server/storage/storage_status.h"

namespace anteroom::storage {

absl::Status WriteFully(File& file, uint64_t offset_bytes, std::string_view bytes) {
  while (!bytes.empty()) {
    const absl::StatusOr<size_t> written = file.WriteAt(offset_bytes, bytes);
    if (!written.ok()) return written.status();
    // A write that takes nothing and reports nothing would be repeated for ever.
    if (*written == 0) return ErrnoStatus(EIO, "write of no bytes");
    offset_bytes += *written;
    bytes.remove_prefix(*written);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReadFully(File& file, uint64_t offset_bytes, char* buffer, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const absl::StatusOr<size_t> got =
        file.ReadAt(offset_bytes + done, buffer + done, bytes - done);
    if (!got.ok()) return got.status();
    if (*got == 0) break;
    done += *got;
  }
  return done;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string ParentDirectory(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

}  // namespace anteroom::storage
