// The archive: what it takes, what it refuses, and that nothing in it or on its way is lost.

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/app/recovery.h"
#include "server/app/snapshots.h"
#include "server/storage/compaction.h"
#include "server/storage/log_format.h"
#include "server/storage/storage_status.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

constexpr char kArchiveDirectory[] = "archive";

std::string PathOfSegment(uint32_t segment) {
  return JoinPath(kTestDirectory, SegmentFileName(segment));
}
std::string ArchivedPath(uint32_t segment) {
  return JoinPath(kArchiveDirectory, SegmentFileName(segment));
}

// A daemon with some closed segments and an empty archive.
struct LoggedDisk {
  LoggedDisk() {
    REQUIRE(disk.MakeDirectory(kArchiveDirectory).ok());
    REQUIRE(daemon.Start(disk).ok());
    while (daemon.open_segment() <= 3) REQUIRE(daemon.Run(commands, 100).ok());
  }
  absl::Status MakeSnapshot() {
    return storage::MakeSnapshot(disk, kTestDirectory, daemon.open_segment(), 3, go_on).status();
  }
  absl::Status ArchiveCovered() {
    return RemoveCovered(disk, kTestDirectory, daemon.open_segment(), kArchiveDirectory, go_on);
  }

  MemoryFiles disk{TestSeed()};
  RandomCommands commands{TestSeed()};
  LoggedEngine daemon;
  std::atomic<bool> go_on = false;
};

TEST_CASE("archive: what is there already is never replaced") {
  LoggedDisk logged;
  MemoryFiles& disk = logged.disk;
  REQUIRE(logged.MakeSnapshot().ok());
  const std::string second = disk.Content(PathOfSegment(2));
  std::string there;
  SUBCASE("with other bytes") {
    there = second.substr(0, second.size() - 1) + '\1';
  }
  SUBCASE("with fewer") {
    there = second.substr(0, 100);
  }
  SUBCASE("with more") {
    there = second + std::string(1, '\0');
  }
  SUBCASE("with none") {}
  disk.SetContent(ArchivedPath(2), there);
  const absl::Status refused = logged.ArchiveCovered();
  CHECK(absl::IsAlreadyExists(refused));
  CHECK(std::string(refused.message()).find(ArchivedPath(2)) != std::string::npos);
  CHECK(disk.Content(ArchivedPath(2)) == there);
  CHECK(disk.Content(PathOfSegment(2)) == second);
  CHECK(disk.Exists(PathOfSegment(3)));  // none is left out
  // Out of the way, it goes on.
  disk.Delete(ArchivedPath(2));
  CHECK(logged.ArchiveCovered().ok());
  CHECK(disk.Content(ArchivedPath(2)) == second);
  CHECK(!disk.Exists(PathOfSegment(2)));
}

TEST_CASE("archive: the copy of an earlier try is taken as it is") {
  LoggedDisk logged;
  REQUIRE(logged.MakeSnapshot().ok());
  const std::string first = logged.disk.Content(PathOfSegment(1));
  logged.disk.SetContent(ArchivedPath(1), first);
  CHECK(logged.ArchiveCovered().ok());
  CHECK(!logged.disk.Exists(PathOfSegment(1)));
  CHECK(logged.disk.Content(ArchivedPath(1)) == first);
  CHECK(*StateOf(logged.disk) == logged.daemon.mark());
}

TEST_CASE("archive: a data directory is none, nor what is not there") {
  LoggedDisk logged;
  CHECK(CheckArchive(logged.disk, kArchiveDirectory).ok());
  for (const char* const name : {"lock", "secrets"}) {
    MemoryFiles disk(TestSeed());
    disk.SetContent(JoinPath(kArchiveDirectory, name), "x");
    const absl::Status refused = CheckArchive(disk, kArchiveDirectory);
    CHECK(absl::IsFailedPrecondition(refused));
    CHECK(std::string(refused.message()).find(name) != std::string::npos);
  }
  MemoryFiles disk(TestSeed());
  CHECK(absl::IsFailedPrecondition(CheckArchive(disk, "nowhere")));
  // A daemon does not start with it: not with its own directory either, though that is new.
  app::RecoveryOptions options{.directory = kTestDirectory, .archive = kTestDirectory};
  CHECK(absl::IsFailedPrecondition(app::Recover(disk, options).status()));
  options.archive = "nowhere";
  CHECK(absl::IsFailedPrecondition(app::Recover(disk, options).status()));
  CHECK(!disk.Exists(JoinPath(kTestDirectory, "secrets")));
  options.archive = kArchiveDirectory;
  REQUIRE(disk.MakeDirectory(kArchiveDirectory).ok());
  CHECK(app::Recover(disk, options).ok());
}

// Stops what is under way when a file of this name ending is opened, or after the first removal.
class StoppingFiles : public MemoryFiles {
 public:
  using MemoryFiles::MemoryFiles;
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (!stop_at_.empty() && path.ends_with(stop_at_)) cancel = true;
    return MemoryFiles::Open(path, mode);
  }
  absl::Status Remove(const std::string& path) override {
    if (stop_at_.empty()) cancel = true;
    return MemoryFiles::Remove(path);
  }
  void StopAt(const std::string& ending) {
    cancel = false;
    stop_at_ = ending;
  }

  std::atomic<bool> cancel = false;

 private:
  std::string stop_at_;
};

TEST_CASE("archive: a daemon that stops waits for one piece of a file at most") {
  StoppingFiles disk(TestSeed());
  const std::string large(10u << 20, 'x');
  REQUIRE(disk.MakeDirectory(kArchiveDirectory).ok());
  for (uint32_t segment = 1; segment <= 3; ++segment) {
    disk.SetContent(PathOfSegment(segment), large);
  }
  const auto remove = [&](const std::string& archive) {
    return RemoveCovered(disk, kTestDirectory, 4, archive, disk.cancel);
  };
  // While the first is copied.
  disk.StopAt(".tmp");
  CHECK(absl::IsCancelled(remove(kArchiveDirectory)));
  CHECK(disk.List(kArchiveDirectory)->empty());
  CHECK(disk.Content(PathOfSegment(1)) == large);
  // While the first is compared with what is there.
  disk.SetContent(ArchivedPath(1), large);
  disk.StopAt(ArchivedPath(1));
  CHECK(absl::IsCancelled(remove(kArchiveDirectory)));
  CHECK(disk.Exists(PathOfSegment(1)));
  // After the first, in either direction; and in the archive.
  disk.StopAt("");
  CHECK(absl::IsCancelled(remove(kArchiveDirectory)));
  CHECK(!disk.Exists(PathOfSegment(1)));
  CHECK(disk.Exists(PathOfSegment(2)));
  disk.StopAt("");
  CHECK(absl::IsCancelled(remove("")));
  CHECK(!disk.Exists(PathOfSegment(2)));
  CHECK(disk.Exists(PathOfSegment(3)));
  disk.SetContent(ArchivedPath(2), large);
  disk.SetContent(JoinPath(kArchiveDirectory, SnapshotFileName(3)), "old");
  disk.set_age_seconds(JoinPath(kArchiveDirectory, SnapshotFileName(3)), 100);
  disk.StopAt("");
  CHECK(absl::IsCancelled(PruneArchive(disk, kArchiveDirectory, 10, disk.cancel)));
  CHECK(*disk.List(kArchiveDirectory) ==
        std::vector<std::string>{SegmentFileName(2), SnapshotFileName(3)});
  // The rest is done the next time.
  disk.StopAt("nothing");
  CHECK(remove(kArchiveDirectory).ok());
  CHECK(PruneArchive(disk, kArchiveDirectory, 10, disk.cancel).ok());
  CHECK(*disk.List(kArchiveDirectory) ==
        std::vector<std::string>{SegmentFileName(3), SnapshotFileName(3)});
}

// One look, and the end of what it begins.
void LookOnce(app::Snapshots& snapshots, uint32_t open_segment, uint64_t now_ms) {
  REQUIRE(!snapshots.working());
  snapshots.Look(open_segment, kSegmentBytesMin, now_ms);
  while (snapshots.working()) snapshots.Look(open_segment, kSegmentBytesMin, now_ms);
}

TEST_CASE("archive: a daemon goes on without it, and comes back to it") {
  LoggedDisk logged;
  MemoryFiles& disk = logged.disk;
  const uint32_t segment = logged.daemon.open_segment();
  const app::Snapshots::Options options{
      .directory = kTestDirectory, .archive = kArchiveDirectory, .archive_keep_s = {}};
  const auto go_on = [&](app::Snapshots& snapshots) {
    LookOnce(snapshots, segment, 0);
    CHECK(snapshots.number() == segment);
    CHECK(snapshots.state() == app::Snapshots::State::kLogStays);
    CHECK(disk.Exists(PathOfSegment(1)));
    // The snapshot is not made anew, which would take writing to it.
    disk.Delete(ArchivedPath(1));
    const uint64_t before = disk.changes();
    LookOnce(snapshots, segment, 59'000);
    CHECK(disk.changes() == before);
    disk.Fail(Call::kWrite, EIO);  // the first one is that of a copy
    LookOnce(snapshots, segment, 60'000);
    CHECK(snapshots.state() == app::Snapshots::State::kLogStays);
    LookOnce(snapshots, segment, 120'000);
    CHECK(snapshots.state() == app::Snapshots::State::kOk);
    CHECK(!disk.Exists(PathOfSegment(1)));
    CHECK(disk.Exists(ArchivedPath(segment - 1)));
  };
  SUBCASE("while it runs") {
    disk.SetContent(ArchivedPath(1), "of another");
    app::Snapshots snapshots(&disk, options, 0, 0);
    go_on(snapshots);
  }
  SUBCASE("at the start") {
    REQUIRE(logged.MakeSnapshot().ok());
    disk.SetContent(ArchivedPath(1), "of another");
    app::Snapshots snapshots(&disk, options, segment, 1);
    go_on(snapshots);
  }
  CHECK(*StateOf(disk) == logged.daemon.mark());
}

TEST_CASE("snapshots: what waits for idle time is begun anew when the log grows too long") {
  LoggedDisk logged;
  const app::Snapshots::Options options{.directory = kTestDirectory,
                                        .log_bytes = 2 * kSegmentBytesMin,
                                        .archive = {},
                                        .archive_keep_s = {}};
  app::Snapshots snapshots(&logged.disk, options, 0, 0);
  const uint32_t first = logged.daemon.open_segment();
  REQUIRE(first == 4);
  // At its first reading the thread stands still until the log is three times as long as was
  // enough.
  std::atomic<uint32_t> open_segment = first;
  std::atomic<bool> looked = false;
  absl::Status ran;
  logged.disk.set_during_reads([&] {
    if (open_segment != first) return;
    while (ran.ok() && logged.daemon.open_segment() <= 7) {
      ran = logged.daemon.Run(logged.commands, 100);
    }
    open_segment = logged.daemon.open_segment();
    while (!looked) std::this_thread::yield();
  });
  snapshots.Look(first, kSegmentBytesMin, 0);
  CHECK(snapshots.working());
  CHECK(snapshots.idle());
  while (open_segment == first) std::this_thread::yield();
  REQUIRE(ran.ok());
  snapshots.Look(open_segment, kSegmentBytesMin, 0);
  looked = true;
  while (snapshots.working()) snapshots.Look(open_segment, kSegmentBytesMin, 0);
  CHECK(snapshots.number() == 0);
  CHECK(snapshots.state() == app::Snapshots::State::kOk);
  snapshots.Look(open_segment, kSegmentBytesMin, 0);
  CHECK(snapshots.working());
  CHECK(!snapshots.idle());
  while (snapshots.working()) snapshots.Look(open_segment, kSegmentBytesMin, 0);
  CHECK(snapshots.number() == open_segment);
  logged.disk.set_during_reads(nullptr);
  CHECK(*StateOf(logged.disk) == logged.daemon.mark());
}

TEST_CASE("archive: it is pruned at the start and by the hour, without a snapshot") {
  MemoryFiles disk(TestSeed());
  REQUIRE(disk.MakeDirectory(kTestDirectory).ok());
  const auto archive_old = [&](uint32_t number) {
    disk.SetContent(ArchivedPath(number - 1), "old");
    disk.SetContent(JoinPath(kArchiveDirectory, SnapshotFileName(number)), "old");
    disk.set_age_seconds(JoinPath(kArchiveDirectory, SnapshotFileName(number)), 100);
  };
  const app::Snapshots::Options options{.directory = kTestDirectory,
                                        .log_bytes = 1u << 30,
                                        .archive = kArchiveDirectory,
                                        .archive_keep_s = 99};
  app::Snapshots snapshots(&disk, options, 0, 0);
  archive_old(5);
  LookOnce(snapshots, 9, 0);
  CHECK(!disk.Exists(ArchivedPath(4)));
  archive_old(8);
  LookOnce(snapshots, 9, 3'599'000);
  CHECK(disk.Exists(ArchivedPath(7)));
  LookOnce(snapshots, 9, 3'600'000);
  CHECK(!disk.Exists(ArchivedPath(7)));
  CHECK(disk.Exists(JoinPath(kArchiveDirectory, SnapshotFileName(8))));
}

}  // namespace
}  // namespace anteroom::storage
