// The archive: what it takes, what it refuses, and that nothing in it or on its way is lost.

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "server/app/recovery.h"
#include "server/storage/compaction.h"
#include "server/storage/log_format.h"
#include "server/storage/storage_status.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

constexpr char kArchive[] = "archive";

std::string SegmentPath(uint32_t segment) {
  return JoinPath(kTestDirectory, SegmentFileName(segment));
}
std::string ArchivedPath(uint32_t segment) {
  return JoinPath(kArchive, SegmentFileName(segment));
}

// A daemon with some closed segments and an empty archive.
struct LoggedDisk {
  LoggedDisk() {
    REQUIRE(disk.MakeDirectory(kArchive).ok());
    REQUIRE(daemon.Start(disk).ok());
    RandomCommands commands(TestSeed());
    REQUIRE(daemon.Run(commands, 300).ok());
    REQUIRE(daemon.open_segment() > 3);
  }
  absl::Status MakeSnapshot() {
    return storage::MakeSnapshot(disk, kTestDirectory, daemon.open_segment(), 3, go_on).status();
  }
  absl::Status ArchiveCovered() {
    return RemoveCovered(disk, kTestDirectory, daemon.open_segment(), kArchive, go_on);
  }

  MemoryFiles disk{TestSeed()};
  LoggedEngine daemon;
  std::atomic<bool> go_on = false;
};

TEST_CASE("archive: what is there already is never replaced") {
  LoggedDisk logged;
  MemoryFiles& disk = logged.disk;
  REQUIRE(logged.MakeSnapshot().ok());
  const std::string second = disk.Content(SegmentPath(2));
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
  CHECK(disk.Content(SegmentPath(2)) == second);
  CHECK(disk.Exists(SegmentPath(3)));  // none is left out
  // Out of the way, it goes on.
  disk.Delete(ArchivedPath(2));
  CHECK(logged.ArchiveCovered().ok());
  CHECK(disk.Content(ArchivedPath(2)) == second);
  CHECK(!disk.Exists(SegmentPath(2)));
}

TEST_CASE("archive: the copy of an earlier try is taken as it is") {
  LoggedDisk logged;
  REQUIRE(logged.MakeSnapshot().ok());
  const std::string first = logged.disk.Content(SegmentPath(1));
  logged.disk.SetContent(ArchivedPath(1), first);
  CHECK(logged.ArchiveCovered().ok());
  CHECK(!logged.disk.Exists(SegmentPath(1)));
  CHECK(logged.disk.Content(ArchivedPath(1)) == first);
  CHECK(*StateOf(logged.disk) == logged.daemon.mark());
}

TEST_CASE("archive: a data directory is none, nor what is not there") {
  LoggedDisk logged;
  CHECK(CheckArchive(logged.disk, kArchive).ok());
  for (const char* const name : {"lock", "secrets"}) {
    MemoryFiles disk(TestSeed());
    disk.SetContent(JoinPath(kArchive, name), "x");
    const absl::Status refused = CheckArchive(disk, kArchive);
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
  options.archive = kArchive;
  REQUIRE(disk.MakeDirectory(kArchive).ok());
  CHECK(app::Recover(disk, options).ok());
}

}  // namespace
}  // namespace anteroom::storage
