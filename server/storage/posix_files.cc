#include "server/storage/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <utility>

#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    // Linux frees the descriptor even when close reports EINTR: never retried.
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::StatusOr<Descriptor> OpenDescriptor(const std::string& path, int flags) {
  const int fd =
      RetryInterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, 0600); });
  if (fd < 0) return ErrnoStatus(errno, "open " + path);
  return Descriptor(fd);
}

class PosixFile : public File {
 public:
  PosixFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  absl::StatusOr<size_t> WriteAt(uint64_t offset_bytes, std::string_view bytes) override {
    const ssize_t written = RetryInterrupted([&] {
      return ::pwrite(descriptor_.get(), bytes.data(), bytes.size(),
                      static_cast<off_t>(offset_bytes));
    });
    if (written < 0) return ErrnoStatus(errno, "write " + path_);
    return static_cast<size_t>(written);
  }

  absl::StatusOr<size_t> ReadAt(uint64_t offset_bytes, char* buffer, size_t bytes) override {
    const ssize_t got = RetryInterrupted([&] {
      return ::pread(descriptor_.get(), buffer, bytes, static_cast<off_t>(offset_bytes));
    });
    if (got < 0) return ErrnoStatus(errno, "read " + path_);
    return static_cast<size_t>(got);
  }

  absl::StatusOr<uint64_t> SizeBytes() override {
    struct stat info;
    if (::fstat(descriptor_.get(), &info) != 0) return ErrnoStatus(errno, "stat " + path_);
    return static_cast<uint64_t>(info.st_size);
  }

  absl::Status Reserve(uint64_t size_bytes) override {
    // posix_fallocate returns the error and leaves errno alone.
    int error = EINTR;
    while (error == EINTR) {
      error = ::posix_fallocate(descriptor_.get(), 0, static_cast<off_t>(size_bytes));
    }
    return error == 0 ? absl::OkStatus() : ErrnoStatus(error, "reserve space for " + path_);
  }

  absl::Status Truncate(uint64_t size_bytes) override {
    const int result = RetryInterrupted(
        [&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size_bytes)); });
    return result == 0 ? absl::OkStatus() : ErrnoStatus(errno, "truncate " + path_);
  }

  absl::Status Sync() override {
    const int result = RetryInterrupted([&] { return ::fdatasync(descriptor_.get()); });
    return result == 0 ? absl::OkStatus() : ErrnoStatus(errno, "sync " + path_);
  }

 private:
  const std::string path_;
  const Descriptor descriptor_;
};

class PosixLock : public FileLock {
 public:
  explicit PosixLock(std::unique_ptr<PosixFile> file) : file_(std::move(file)) {}

 private:
  const std::unique_ptr<PosixFile> file_;
};

// The process id in a lock file, for people: the lock itself is the kernel's.
std::string HolderIn(int fd) {
  char text[24];
  const ssize_t got = ::pread(fd, text, sizeof(text), 0);
  std::string digits;
  for (ssize_t i = 0; i < got && std::isdigit(static_cast<unsigned char>(text[i])); ++i) {
    digits += text[i];
  }
  return digits.empty() ? "another process" : "process " + digits;
}

}  // namespace

absl::StatusOr<std::unique_ptr<File>> PosixFiles::Open(const std::string& path, OpenMode mode) {
  int flags = O_RDONLY;
  if (mode == OpenMode::kReadWrite) flags = O_RDWR;
  if (mode == OpenMode::kCreate) flags = O_RDWR | O_CREAT;
  if (mode == OpenMode::kAnew) {
    // Somebody may have prepared a file that others can read, or a link to one.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "remove " + path);
    flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
  }
  // A pipe would be waited for until somebody opens its other end.
  absl::StatusOr<Descriptor> descriptor = OpenDescriptor(path, flags | O_NONBLOCK);
  if (!descriptor.ok()) return descriptor.status();
  struct stat info;
  if (::fstat(descriptor->get(), &info) != 0) return ErrnoStatus(errno, "stat " + path);
  if (!S_ISREG(info.st_mode)) {
    return FailureStatus(FailureKind::kDamaged, "damaged: " + path + " is no regular file");
  }
  if (mode == OpenMode::kAnew && ::fchmod(descriptor->get(), 0600) != 0) {
    return ErrnoStatus(errno, "set the mode of " + path);
  }
  return std::make_unique<PosixFile>(path, *std::move(descriptor));
}

absl::Status PosixFiles::Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "rename " + from + " to " + to);
}

absl::Status PosixFiles::RenameToNew(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  if (errno == EINVAL || errno == ENOSYS) {
    // A file system that cannot promise it (NFS is one): nearly as good, unless somebody makes the
    // file between these two calls.
    struct stat found {};
    if (::lstat(to.c_str(), &found) != 0 && errno == ENOENT) return Rename(from, to);
    if (errno != ENOENT) errno = EEXIST;
  }
  return ErrnoStatus(errno, "rename " + from + " to " + to);
}

absl::Status PosixFiles::Remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "remove " + path);
}

absl::StatusOr<int64_t> PosixFiles::AgeSeconds(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return ErrnoStatus(errno, "look at " + path);
  return static_cast<int64_t>(::time(nullptr) - found.st_mtime);
}

absl::StatusOr<std::vector<std::string>> PosixFiles::List(const std::string& directory) {
  DIR* stream = ::opendir(directory.c_str());
  if (stream == nullptr) return ErrnoStatus(errno, "list " + directory);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(stream);
  if (error != 0) return ErrnoStatus(error, "list " + directory);
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<bool> PosixFiles::MakeDirectory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0) return true;
  if (errno == EEXIST) return false;
  return ErrnoStatus(errno, "make directory " + directory);
}

absl::Status PosixFiles::SyncDirectory(const std::string& directory) {
  const absl::StatusOr<Descriptor> descriptor = OpenDescriptor(directory, O_RDONLY | O_DIRECTORY);
  if (!descriptor.ok()) return descriptor.status();
  const int result = RetryInterrupted([&] { return ::fsync(descriptor->get()); });
  return result == 0 ? absl::OkStatus() : ErrnoStatus(errno, "sync directory " + directory);
}

absl::StatusOr<std::unique_ptr<FileLock>> PosixFiles::Lock(const std::string& path) {
  absl::StatusOr<Descriptor> descriptor = OpenDescriptor(path, O_RDWR | O_CREAT);
  if (!descriptor.ok()) return descriptor.status();
  const int fd = descriptor->get();
  const auto take = [&] {
    return RetryInterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); });
  };
  // Who only asks (IsLocked) holds it for a moment.
  int result = take();
  for (int left = 20; result != 0 && errno == EWOULDBLOCK && left > 0; --left) {
    ::usleep(1000);
    result = take();
  }
  if (result != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "lock " + path);
    return FailureStatus(FailureKind::kInUse, path + " is held by " + HolderIn(fd));
  }
  auto file = std::make_unique<PosixFile>(path, *std::move(descriptor));
  absl::Status status = file->Truncate(0);
  if (status.ok()) status = WriteFully(*file, 0, std::to_string(::getpid()) + "\n");
  // The text only helps people; on a full disk the lock holds without it.
  if (!status.ok() && KindOf(status) != FailureKind::kNoSpace) return status;
  return std::make_unique<PosixLock>(std::move(file));
}

absl::StatusOr<bool> PosixFiles::IsLocked(const std::string& path) {
  const absl::StatusOr<Descriptor> descriptor = OpenDescriptor(path, O_RDONLY | O_NONBLOCK);
  if (!descriptor.ok()) {
    if (KindOf(descriptor.status()) == FailureKind::kNotFound) return false;
    return descriptor.status();
  }
  const int fd = descriptor->get();
  if (RetryInterrupted([&] { return ::flock(fd, LOCK_SH | LOCK_NB); }) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return ErrnoStatus(errno, "look at the lock " + path);
}

}  // namespace anteroom::storage
