// The real files, and the data directory on both kinds.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "server/storage/posix_files.h"
#include "tests/support/log_harness.h"
#include "tests/support/memory_files.h"

namespace anteroom::storage {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "anteroom_storage_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

mode_t ModeOf(const std::string& path) {
  struct stat info;
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

TEST_CASE("a file made anew is nobody else's, whatever had its name") {
  const TemporaryDirectory directory;
  PosixFiles files;
  const std::string other = directory / "other";
  const std::string path = directory / "secrets.tmp";
  REQUIRE(files.Open(other, OpenMode::kCreate).ok());
  int reader = -1;
  SUBCASE("a link") {
    REQUIRE(::symlink(other.c_str(), path.c_str()) == 0);
  }
  SUBCASE("a file that is open already") {
    REQUIRE(files.Open(path, OpenMode::kCreate).ok());
    REQUIRE(::chmod(path.c_str(), 0666) == 0);
    reader = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(reader >= 0);
  }
  auto file = files.Open(path, OpenMode::kAnew);
  REQUIRE(file.ok());
  REQUIRE(WriteFully(**file, 0, "secret").ok());
  REQUIRE(std::filesystem::file_size(other) == 0);
  struct stat info;
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  REQUIRE(S_ISREG(info.st_mode));
  REQUIRE((info.st_mode & 0777) == 0600);
  if (reader >= 0) {
    char byte = 0;
    REQUIRE(::read(reader, &byte, 1) == 0);
    ::close(reader);
  }
}

TEST_CASE("a pipe with the name of a segment is refused and not waited for") {
  const TemporaryDirectory directory;
  PosixFiles files;
  REQUIRE(::mkfifo((directory / "00000001.log").c_str(), 0600) == 0);
  Replay replay;
  const auto log = RecoverLog(files, directory / "", {}, replay);
  REQUIRE(KindOf(log.status()) == FailureKind::kDamaged);
}

TEST_CASE("a spare of any size is refused before it is read") {
  const TemporaryDirectory directory;
  PosixFiles files;
  const std::string path = directory / "00000001.log";
  REQUIRE(files.Open(path, OpenMode::kCreate).ok());
  std::filesystem::resize_file(path, uint64_t{1} << 42);
  Replay replay;
  const auto log = RecoverLog(files, directory / "", {}, replay);
  REQUIRE(KindOf(log.status()) == FailureKind::kDamaged);
}

TEST_CASE("whether a lock is held") {
  const TemporaryDirectory directory;
  PosixFiles files;
  const std::string path = directory / "lock";
  REQUIRE_FALSE(*files.IsLocked(path));
  {
    const auto lock = files.Lock(path);
    REQUIRE(lock.ok());
    REQUIRE(*files.IsLocked(path));
  }
  REQUIRE_FALSE(*files.IsLocked(path));
}

TEST_CASE("posix files do what they say") {
  TemporaryDirectory temporary;
  PosixFiles files;
  REQUIRE(*files.MakeDirectory(temporary / "d"));
  REQUIRE(!*files.MakeDirectory(temporary / "d"));
  REQUIRE(ModeOf(temporary / "d") == 0700);
  const std::string path = temporary / "d/file";
  REQUIRE(KindOf(files.Open(path, OpenMode::kRead).status()) == FailureKind::kNotFound);
  {
    auto file = files.Open(path, OpenMode::kCreate);
    REQUIRE(file.ok());
    REQUIRE(WriteFully(**file, 3, "abc").ok());
    REQUIRE((*file)->Reserve(10000).ok());
    REQUIRE((*file)->Reserve(100).ok());
    REQUIRE(*(*file)->SizeBytes() == 10000);
    REQUIRE((*file)->Sync().ok());
    REQUIRE((*file)->Truncate(5).ok());
  }
  REQUIRE(ModeOf(path) == 0600);
  auto file = files.Open(path, OpenMode::kRead);
  char buffer[16];
  REQUIRE(*ReadFully(**file, 0, buffer, sizeof(buffer)) == 5);
  REQUIRE(std::string(buffer, 5) == std::string("\0\0\0ab", 5));
  REQUIRE(ErrnoOf(WriteFully(**file, 0, "x")) == EBADF);
  REQUIRE(files.Rename(path, temporary / "d/other").ok());
  REQUIRE(files.SyncDirectory(temporary / "d").ok());
  REQUIRE(*files.List(temporary / "d") == std::vector<std::string>{"other"});
  REQUIRE(files.Remove(temporary / "d/other").ok());
  REQUIRE(KindOf(files.Remove(temporary / "d/other")) == FailureKind::kNotFound);
  REQUIRE(KindOf(files.List(temporary / "none").status()) == FailureKind::kNotFound);
  REQUIRE(ErrnoOf(files.MakeDirectory(temporary / "none/d").status()) == ENOENT);
}

TEST_CASE("a file that moves to a new name replaces nothing") {
  TemporaryDirectory temporary;
  PosixFiles files;
  REQUIRE(WriteFully(**files.Open(temporary / "from", OpenMode::kCreate), 0, "ours").ok());
  REQUIRE(WriteFully(**files.Open(temporary / "to", OpenMode::kCreate), 0, "theirs").ok());
  REQUIRE(ErrnoOf(files.RenameToNew(temporary / "from", temporary / "to")) == EEXIST);
  CHECK(*(*files.Open(temporary / "from", OpenMode::kRead))->SizeBytes() == 4);
  CHECK(*(*files.Open(temporary / "to", OpenMode::kRead))->SizeBytes() == 6);
  CHECK(files.RenameToNew(temporary / "from", temporary / "new").ok());
  CHECK(*(*files.Open(temporary / "new", OpenMode::kRead))->SizeBytes() == 4);
  CHECK(KindOf(files.RenameToNew(temporary / "from", temporary / "x")) == FailureKind::kNotFound);
}

TEST_CASE("a full device is told from a broken one") {
  PosixFiles files;
  auto file = files.Open("/dev/full", OpenMode::kReadWrite);
  if (!file.ok()) return;
  const absl::Status status = WriteFully(**file, 0, "x");
  REQUIRE(KindOf(status) == FailureKind::kNoSpace);
  REQUIRE(ErrnoOf(status) == ENOSPC);
}

TEST_CASE("paths") {
  REQUIRE(JoinPath("a", "b") == "a/b");
  REQUIRE(JoinPath("a/", "b") == "a/b");
  REQUIRE(ParentDirectory("a/b") == "a");
  REQUIRE(ParentDirectory("a") == ".");
  REQUIRE(ParentDirectory("./a/") == ".");
  REQUIRE(ParentDirectory("/a") == "/");
}

TEST_CASE("the second to open a directory is refused, and told by whom it is held") {
  TemporaryDirectory temporary;
  PosixFiles files;
  const std::string path = temporary / "data";
  auto first = DataDirectory::Open(files, path);
  REQUIRE(first.ok());
  const auto second = DataDirectory::Open(files, path);
  REQUIRE(KindOf(second.status()) == FailureKind::kInUse);
  REQUIRE(std::string(second.status().message()).find("process " + std::to_string(::getpid())) !=
          std::string::npos);
  first->reset();
  REQUIRE(DataDirectory::Open(files, path).ok());
}

TEST_CASE("the lock of a process that was killed is no obstacle") {
  TemporaryDirectory temporary;
  PosixFiles files;
  const std::string path = temporary / "data";
  int ready[2];
  REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto directory = DataDirectory::Open(files, path);
    const char byte = directory.ok() ? '1' : '0';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  REQUIRE(byte == '1');
  const auto refused = DataDirectory::Open(files, path);
  REQUIRE(KindOf(refused.status()) == FailureKind::kInUse);
  REQUIRE(std::string(refused.status().message()).find("process " + std::to_string(child)) !=
          std::string::npos);
  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  REQUIRE(DataDirectory::Open(files, path).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a log on real files comes back") {
  TemporaryDirectory temporary;
  PosixFiles files;
  const std::string path = temporary / "data";
  LogOptions options = SmallLog();
  std::vector<std::string> written;
  for (int run = 0; run < 3; ++run) {
    auto directory = DataDirectory::Open(files, path);
    REQUIRE(directory.ok());
    REQUIRE((*directory)->LoadOrCreateSecrets([] { return std::string("s"); }).ok());
    REQUIRE(ModeOf(path + "/secrets") == 0600);
    Replay replay;
    const auto log = RecoverLog(files, path, {RecoveryMode::kMend, {}}, replay);
    REQUIRE(log.ok());
    REQUIRE(log->clean_stop == (run > 0));
    REQUIRE(replay.records == written);
    auto writer = LogWriter::Open(files, path, *log, options);
    REQUIRE(writer.ok());
    BatchBuilder builder(log->next_sequence, (*writer)->frame_payload_bytes_max());
    for (int i = 0; i < 20; ++i) {
      written.push_back("record " + std::to_string(i) + std::string(500, 'x'));
      builder.Stage(replay.tally.mark(), written.back());
      replay.tally.Apply(written.back());
      Batch batch = builder.Seal();
      REQUIRE((*writer)->Write(batch).ok());
      if ((*writer)->needs_prepare()) REQUIRE((*writer)->PrepareNext().ok());
    }
    (*writer)->check_invariants();
    REQUIRE((*writer)->WriteEnd(replay.tally.mark()).ok());
  }
}

TEST_CASE("the next segment is prepared beside a write") {
  TemporaryDirectory temporary;
  PosixFiles files;
  const std::string path = temporary / "data";
  REQUIRE(files.MakeDirectory(path).ok());
  auto writer = LogWriter::Open(files, path, RecoveredLog(), SmallLog());
  REQUIRE(writer.ok());
  std::atomic<bool> done{false};
  std::thread preparing([&] {
    while (!done.load()) {
      if (!(*writer)->PrepareNext().ok()) return;
      (*writer)->reserved_bytes_left();
      std::this_thread::yield();
    }
  });
  BatchBuilder builder(1, (*writer)->frame_payload_bytes_max());
  Replay written;
  absl::Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    const std::string record(900, static_cast<char>('a' + i % 26));
    builder.Stage(written.tally.mark(), record);
    REQUIRE(written.Record(static_cast<uint64_t>(i) + 1, record).ok());
    Batch batch = builder.Seal();
    status = (*writer)->Write(batch);
  }
  done.store(true);
  preparing.join();
  REQUIRE(status.ok());
  (*writer)->check_invariants();
  Replay replay;
  REQUIRE(RecoverLog(files, path, {}, replay).ok());
  REQUIRE(replay.records == written.records);
}

TEST_CASE("a log without its secrets is never begun anew") {
  MemoryFiles disk(1);
  {
    TestDaemon daemon;
    REQUIRE(daemon.Start(disk).ok());
  }
  disk.Delete("data/secrets");
  TestDaemon daemon;
  REQUIRE(KindOf(daemon.Start(disk)) == FailureKind::kSecretMissing);
  REQUIRE(!disk.Exists("data/secrets"));
}

TEST_CASE("a log that cannot be read is never begun anew") {
  MemoryFiles disk(1);
  {
    TestDaemon daemon;
    REQUIRE(daemon.Start(disk).ok());
  }
  for (const std::string content : {"", "rubbish"}) {
    disk.SetContent("data/00000001.log", content);
    TestDaemon daemon;
    REQUIRE(KindOf(daemon.Start(disk)) == FailureKind::kDamaged);
    REQUIRE(disk.Content("data/00000001.log") == content);
  }
}

TEST_CASE("secrets change in one step, whenever the power goes") {
  for (uint64_t stop = 1;; ++stop) {
    MemoryFiles disk(stop);
    {
      auto directory = DataDirectory::Open(disk, "data");
      REQUIRE(directory.ok());
      REQUIRE(KindOf((*directory)->ReadSecrets().status()) == FailureKind::kNotFound);
      REQUIRE((*directory)->WriteSecrets(std::string("old\0secret", 10)).ok());
    }
    disk.StopPowerAfter(stop);
    bool stored = false;
    {
      auto directory = DataDirectory::Open(disk, "data");
      stored = directory.ok() && (*directory)->WriteSecrets("new").ok();
    }
    const bool was_off = disk.power_is_off();
    disk.LosePower(Unsynced::kRandom);
    auto directory = DataDirectory::Open(disk, "data");
    REQUIRE(directory.ok());
    const auto secrets = (*directory)->ReadSecrets();
    REQUIRE(secrets.ok());
    REQUIRE((*secrets == "new" || (!stored && *secrets == std::string("old\0secret", 10))));
    REQUIRE(!disk.Exists("data/secrets.tmp"));
    if (!was_off) break;
  }
}

TEST_CASE("leftovers of a crash are removed, a stranger's files are not") {
  MemoryFiles disk(1);
  for (const char* name : {"secrets.tmp", "00000001.log.tmp", "00000001.snap.tmp", "notes.tmp"}) {
    disk.SetContent(std::string("data/") + name, "x");
  }
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(*disk.List("data") ==
          std::vector<std::string>{"00000001.log", "lock", "notes.tmp", "secrets"});
}

}  // namespace
}  // namespace anteroom::storage
