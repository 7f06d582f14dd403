// Group commit on a disk in memory: what is said to be durable is, a full disk is waited out, an
// error of the disk ends the process before anything more is said.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "server/app/group_commit.h"
#include "server/storage/data_directory.h"
#include "server/storage/log_recovery.h"
#include "tests/support/memory_files.h"
#include "tests/support/test_loop.h"

namespace anteroom::app {
namespace {

using storage::MemoryFiles;

constexpr char kDirectory[] = "data";

// MemoryFiles is for one thread, and the pool has several.
class LockedFiles : public storage::Files {
 public:
  explicit LockedFiles(MemoryFiles* files) : files_(*files) {}

  absl::StatusOr<std::unique_ptr<storage::File>> Open(const std::string& path,
                                                      storage::OpenMode mode) override {
    const std::lock_guard lock(mutex_);
    auto file = files_.Open(path, mode);
    if (!file.ok()) return file.status();
    return std::make_unique<LockedFile>(&mutex_, *std::move(file));
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    return files_.Rename(from, to);
  }
  absl::Status RenameToNew(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    return files_.RenameToNew(from, to);
  }
  absl::Status Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.Remove(path);
  }
  absl::StatusOr<int64_t> AgeSeconds(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.AgeSeconds(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    return files_.List(directory);
  }
  absl::StatusOr<bool> MakeDirectory(const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    return files_.MakeDirectory(directory);
  }
  absl::Status SyncDirectory(const std::string& directory) override {
    const std::lock_guard lock(mutex_);
    return files_.SyncDirectory(directory);
  }
  absl::StatusOr<std::unique_ptr<storage::FileLock>> Lock(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.Lock(path);
  }
  absl::StatusOr<bool> IsLocked(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.IsLocked(path);
  }

 private:
  class LockedFile : public storage::File {
   public:
    LockedFile(std::mutex* mutex, std::unique_ptr<storage::File> file)
        : mutex_(*mutex), file_(std::move(file)) {}
    ~LockedFile() override {
      const std::lock_guard lock(mutex_);
      file_.reset();
    }
    absl::StatusOr<size_t> WriteAt(uint64_t offset, std::string_view bytes) override {
      const std::lock_guard lock(mutex_);
      return file_->WriteAt(offset, bytes);
    }
    absl::StatusOr<size_t> ReadAt(uint64_t offset, char* buffer, size_t bytes) override {
      const std::lock_guard lock(mutex_);
      return file_->ReadAt(offset, buffer, bytes);
    }
    absl::StatusOr<uint64_t> SizeBytes() override {
      const std::lock_guard lock(mutex_);
      return file_->SizeBytes();
    }
    absl::Status Reserve(uint64_t bytes) override {
      const std::lock_guard lock(mutex_);
      return file_->Reserve(bytes);
    }
    absl::Status Truncate(uint64_t bytes) override {
      const std::lock_guard lock(mutex_);
      return file_->Truncate(bytes);
    }
    absl::Status Sync() override {
      const std::lock_guard lock(mutex_);
      return file_->Sync();
    }

   private:
    std::mutex& mutex_;
    std::unique_ptr<storage::File> file_;
  };

  MemoryFiles& files_;
  std::mutex mutex_;
};

class Replay : public storage::LogVisitor {
 public:
  absl::Status Record(uint64_t, std::string_view) override {
    ++records;
    return absl::OkStatus();
  }
  absl::Status Mark(storage::MarkPlace place, uint64_t, const storage::EngineMark&) override {
    ended |= place == storage::MarkPlace::kCleanStop;
    return absl::OkStatus();
  }
  uint64_t records = 0;
  bool ended = false;
};

Replay ReadLog(MemoryFiles* disk) {
  Replay replay;
  const auto log =
      storage::RecoverLog(*disk, kDirectory, {storage::RecoveryMode::kMend, std::nullopt}, replay);
  INFO(log.status().ToString());
  REQUIRE(log.ok());
  return replay;
}

struct Log {
  explicit Log(MemoryFiles* disk, GroupCommit::Options options = {}) : files(disk) {
    REQUIRE(files.MakeDirectory(kDirectory).ok());
    REQUIRE(files.SyncDirectory(".").ok());
    storage::LogOptions log_options;
    log_options.segment_bytes = storage::kSegmentBytesMin;
    log_options.random = [] { return uint64_t{4711}; };
    auto opened = storage::LogWriter::Open(files, kDirectory, storage::RecoveredLog(), log_options);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    writer = *std::move(opened);
    commit = std::make_unique<GroupCommit>(loop.get(), &engine, writer.get(), options);
  }
  void Append(size_t records) {
    for (size_t i = 0; i < records; ++i) commit->Append(std::string(50, 'r'));
  }
  // Turns of the loop until `condition`.
  template <typename Condition>
  void RunUntil(Condition condition) {
    loop.RunUntil([&] {
      commit->SetTime(now_ms);
      commit->Start();
      commit->check_invariants();
      return condition();
    });
  }

  LockedFiles files;
  TestLoop loop;
  Engine engine{EngineOptions{}};
  std::unique_ptr<storage::LogWriter> writer;
  std::unique_ptr<GroupCommit> commit;
  uint64_t now_ms = 1000;
};

TEST_CASE("what is durable outlives a loss of power") {
  MemoryFiles disk(1);
  uint64_t durable = 0;
  {
    Log log(&disk);
    for (int round = 0; round < 50; ++round) {
      log.Append(1 + static_cast<size_t>(round) % 20);
      REQUIRE(log.commit->durable_sequence() < log.commit->last_sequence());
      REQUIRE(log.commit->released_sequence() == log.commit->durable_sequence());
      log.RunUntil([&] { return log.commit->idle(); });
      REQUIRE(log.commit->durable_sequence() == log.commit->last_sequence());
    }
    durable = log.commit->durable_sequence();
    REQUIRE(log.commit->sync_times().Percentile(50));
  }
  disk.LosePower(storage::Unsynced::kDropped);
  const Replay replay = ReadLog(&disk);
  REQUIRE(replay.records == durable);
  REQUIRE_FALSE(replay.ended);
}

TEST_CASE("a batch that is done is taken in within a turn, and the next one starts") {
  MemoryFiles disk(1);
  {
    Log log(&disk);
    // The loop does not turn meanwhile.
    log.Append(1);
    log.commit->Start();
    const uint64_t limit_ns = uv_hrtime() + 60'000'000'000;
    while (log.commit->durable_sequence() < 1 && uv_hrtime() < limit_ns) {
      log.commit->Advance();
      log.commit->check_invariants();
    }
    REQUIRE(log.commit->durable_sequence() == 1);
    // As long as it has not heard of the first one's end, the second one's is not taken in.
    log.Append(1);
    log.commit->Start();
    for (int i = 0; i < 1000; ++i) log.commit->Advance();
    REQUIRE(log.commit->durable_sequence() == 1);
    REQUIRE_FALSE(log.commit->idle());
    log.Append(1);
    log.RunUntil([&] { return log.commit->idle(); });
    REQUIRE(log.commit->durable_sequence() == 3);
  }
  disk.LosePower(storage::Unsynced::kDropped);
  REQUIRE(ReadLog(&disk).records == 3);
}

TEST_CASE("a clean stop writes the end") {
  MemoryFiles disk(1);
  {
    Log log(&disk);
    log.Append(3);
    log.RunUntil([&] { return log.commit->idle(); });
    log.commit->StartEnd();
    log.loop.RunUntil([&] { return log.commit->ended(); });
  }
  disk.LosePower(storage::Unsynced::kDropped);
  const Replay replay = ReadLog(&disk);
  REQUIRE(replay.records == 3);
  REQUIRE(replay.ended);
}

TEST_CASE("without commit nothing waits, and it is written all the same") {
  MemoryFiles disk(1);
  Log log(&disk, {.durability = Durability::kNone});
  log.Append(1);
  REQUIRE(log.commit->released_sequence() >= log.commit->last_sequence());
  log.RunUntil([&] { return log.commit->idle(); });
  // The next batch lets a moment pass.
  log.Append(1);
  log.commit->Start();
  log.loop.Turn();
  REQUIRE_FALSE(log.commit->idle());
  REQUIRE(log.commit->next_start_ms() > log.now_ms);
  log.now_ms = *log.commit->next_start_ms();
  log.RunUntil([&] { return log.commit->idle(); });
  REQUIRE(log.commit->durable_sequence() == 2);
}

TEST_CASE("an interval: what is said is on its way to the disk within half of it") {
  constexpr uint64_t kIntervalMs = 30;
  MemoryFiles disk(1);
  Log log(&disk, {.durability = Durability::kInterval, .interval_ms = kIntervalMs});
  for (uint64_t round = 1; round <= 20; ++round) {
    log.now_ms += round * 7 % 50;
    log.commit->SetTime(log.now_ms);
    log.Append(1);
    REQUIRE(log.commit->released_sequence() >= log.commit->last_sequence());
    const auto start_ms = log.commit->next_start_ms();
    REQUIRE(start_ms);
    REQUIRE(*start_ms <= log.now_ms + kIntervalMs / 2);
    log.now_ms = std::max(log.now_ms, *start_ms);
    log.RunUntil([&] { return log.commit->idle(); });
    REQUIRE(log.commit->durable_sequence() == round);
  }
}

TEST_CASE("a full disk is waited out") {
  MemoryFiles disk(1);
  Log log(&disk);
  log.RunUntil([&] { return log.commit->idle(); });
  REQUIRE(log.commit->space() == GroupCommit::Space{});
  disk.set_capacity_bytes(disk.used_bytes());
  // The segment that is reserved already becomes the current one, and a next one is not to be had.
  uint64_t newcomers_refused = 0;
  while (log.commit->space().space != LogSpace::kNone) {
    REQUIRE(newcomers_refused < 1000);
    newcomers_refused += log.commit->space().space == LogSpace::kShort;
    log.Append(1);
    log.commit->SetTime(log.now_ms);
    log.commit->Start();
    log.loop.RunUntil([&] {
      return log.commit->durable_sequence() == log.commit->last_sequence() ||
             log.commit->space().space == LogSpace::kNone;
    });
  }
  REQUIRE(newcomers_refused > 0);
  REQUIRE(log.commit->space().reason == protocol::Reason::kDiskFull);
  // Nothing is lost even if somebody does not heed that.
  log.Append(100);
  const uint64_t last = log.commit->last_sequence();
  log.commit->Start();
  for (int turn = 0; turn < 100; ++turn) log.loop.Turn();
  REQUIRE(log.commit->durable_sequence() < last);
  disk.set_capacity_bytes(UINT64_MAX);
  log.now_ms += limits::kPrepareRetryMs;
  log.RunUntil([&] { return log.commit->idle(); });
  REQUIRE(log.commit->durable_sequence() == last);
  REQUIRE(log.commit->space() == GroupCommit::Space{});
}

TEST_CASE("when the reserve is used up all that was said can still be written") {
  MemoryFiles disk(1);
  Log log(&disk);
  log.Append(1);
  log.RunUntil([&] { return log.commit->idle(); });
  disk.set_capacity_bytes(disk.used_bytes());
  uint64_t records = 1;
  while (log.commit->space().space != LogSpace::kNone) {
    REQUIRE(++records < 1000);
    log.Append(1);
    log.RunUntil([&] { return log.commit->durable_sequence() == log.commit->last_sequence(); });
  }
  REQUIRE(log.commit->durable_sequence() == records);
  REQUIRE(records > 10);
  disk.set_capacity_bytes(UINT64_MAX);
  log.now_ms += limits::kPrepareRetryMs;
  log.RunUntil([&] { return log.commit->space().space == LogSpace::kPlenty; });
  log.Append(1);
  log.RunUntil([&] { return log.commit->idle(); });
}

TEST_CASE("too much that is not on disk stops changes, until half of it is") {
  MemoryFiles disk(1);
  Log log(&disk, {.undurable_bytes_max = 10'000});
  log.Append(100);
  REQUIRE(log.commit->space().space == LogSpace::kPlenty);
  log.Append(100);
  REQUIRE(log.commit->space().space == LogSpace::kNone);
  REQUIRE(log.commit->space().reason == protocol::Reason::kDiskSlow);
  log.RunUntil([&] { return log.commit->idle(); });
  REQUIRE(log.commit->space().space == LogSpace::kPlenty);
}

TEST_CASE("an error of the disk ends the process at once") {
  for (const storage::Call call : {storage::Call::kWrite, storage::Call::kSync}) {
    const pid_t child = fork();
    if (child == 0) {
      std::fclose(stderr);
      MemoryFiles disk(1);
      Log log(&disk);
      log.RunUntil([&] { return log.commit->idle(); });
      disk.Fail(call, EIO);
      log.Append(1);
      log.RunUntil([&] { return log.commit->durable_sequence() == 1; });
      _exit(77);  // acknowledged what is not on disk
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 1);
  }
}

}  // namespace
}  // namespace anteroom::app
