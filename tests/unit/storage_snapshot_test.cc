// Snapshots on disk: made beside a log that goes on, whole or not at all, and what they cover goes.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "server/engine/engine.h"
#include "server/storage/compaction.h"
#include "server/storage/engine_replay.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

constexpr char kArchive[] = "archive";

absl::Status Compact(Files& files, uint32_t segment, const std::string& archive = "") {
  const std::atomic<bool> cancel = false;
  const auto made = MakeSnapshot(files, kTestDirectory, segment, 3, cancel);
  if (!made.ok()) return made.status();
  return RemoveCovered(files, kTestDirectory, segment, archive, cancel);
}

std::string SnapshotPath(uint32_t segment) {
  return JoinPath(kTestDirectory, SnapshotFileName(segment));
}
std::string SegmentPath(uint32_t segment) {
  return JoinPath(kTestDirectory, SegmentFileName(segment));
}

TEST_CASE("snapshot: the log goes on from it as from its first byte, again and again") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  for (int round = 0; round < 6; ++round) {
    LoggedEngine daemon;
    REQUIRE(daemon.Start(disk).ok());
    REQUIRE(daemon.Run(commands, 500).ok());
    while (daemon.open_segment() <= daemon.log().snapshot_number + 2) {
      REQUIRE(daemon.Run(commands, 100).ok());
    }
    const uint32_t segment = daemon.open_segment();
    const auto whole = StateOf(disk);
    REQUIRE(whole.ok());
    CHECK(*whole == daemon.mark());
    REQUIRE(Compact(disk, segment).ok());
    const auto names = disk.List(kTestDirectory);
    REQUIRE(names.ok());
    for (const std::string& name : *names) {
      const auto number = ParseSegmentFileName(name);
      if (number) CHECK(*number >= segment);
      if (const auto snapshot = ParseSnapshotFileName(name)) CHECK(*snapshot == segment);
    }
    REQUIRE(StateOf(disk).ok());
    CHECK(*StateOf(disk) == daemon.mark());
    // The running daemon writes on beside it.
    REQUIRE(daemon.Run(commands, 100).ok());
    CHECK(*StateOf(disk) == daemon.mark());
  }
}

TEST_CASE("snapshot: every flipped byte and every truncation is refused, and named") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  LoggedEngine daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.Run(commands, 300).ok());
  const uint32_t segment = daemon.open_segment();
  REQUIRE(Compact(disk, segment).ok());
  const std::string path = SnapshotPath(segment);
  const std::string right = disk.Content(path);
  const auto refused = [&](std::string bytes) {
    disk.SetContent(path, std::move(bytes));
    const absl::Status status = StateOf(disk).status();
    return KindOf(status) == FailureKind::kDamaged &&
           std::string(status.message()).find(SnapshotFileName(segment)) != std::string::npos;
  };
  for (size_t i = 0; i < right.size(); ++i) {
    if (i >= 8 && i < 12) continue;  // the version, which says of itself what is wrong
    std::string bytes = right;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    INFO("byte ", i);
    REQUIRE(refused(bytes));
  }
  for (size_t size = 0; size < right.size(); size += 7) {
    INFO("cut to ", size);
    REQUIRE(refused(right.substr(0, size)));
  }
  REQUIRE(refused(right + std::string(8, '\0')));
  std::string newer = right;
  newer[8] = 2;
  disk.SetContent(path, newer);
  CHECK(KindOf(StateOf(disk).status()) == FailureKind::kNewerFormat);
  disk.SetContent(path, right);
  CHECK(*StateOf(disk) == daemon.mark());
}

TEST_CASE("snapshot: a crash at every change of making one leaves a state that recovers") {
  for (const Unsynced unsynced : {Unsynced::kDropped, Unsynced::kKept, Unsynced::kRandom}) {
    for (const bool archived : {false, true}) {
      bool was_off = true;
      for (uint64_t stop = 1; was_off; ++stop) {
        MemoryFiles disk(TestSeed() + stop);
        RandomCommands commands(TestSeed());
        REQUIRE(disk.MakeDirectory(kArchive).ok());
        REQUIRE(disk.SyncDirectory(".").ok());
        EngineMark wanted;
        {
          LoggedEngine daemon;
          REQUIRE(daemon.Start(disk).ok());
          REQUIRE(daemon.Run(commands, 200).ok());
          const uint32_t first = daemon.open_segment();
          REQUIRE(Compact(disk, first, archived ? kArchive : "").ok());
          while (daemon.open_segment() <= first + 1) REQUIRE(daemon.Run(commands, 100).ok());
          wanted = daemon.mark();
          disk.StopPowerAfter(stop);
          Compact(disk, daemon.open_segment(), archived ? kArchive : "").IgnoreError();
        }
        was_off = disk.power_is_off();
        disk.LosePower(unsynced);
        LoggedEngine daemon;
        INFO("stopped after ", stop);
        REQUIRE(daemon.Start(disk).ok());
        REQUIRE(daemon.mark() == wanted);
        // And the next one is made as if nothing had been.
        REQUIRE(Compact(disk, daemon.open_segment(), archived ? kArchive : "").ok());
        REQUIRE(*StateOf(disk) == wanted);
        REQUIRE(!disk.Exists(SegmentPath(1)));
        if (archived) REQUIRE(StateOf(disk, kArchive, true).ok());
      }
    }
  }
}

TEST_CASE("snapshot: without space for it nothing changes") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  LoggedEngine daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.Run(commands, 300).ok());
  const uint32_t segment = daemon.open_segment();
  for (const auto call : {Call::kWrite, Call::kSync, Call::kRename, Call::kOpen}) {
    disk.Fail(call, ENOSPC, call == Call::kOpen ? segment : 0, true);
    const absl::Status status = Compact(disk, segment);
    disk.ClearFaults();
    CHECK(KindOf(status) == FailureKind::kNoSpace);
    CHECK(!disk.Exists(SnapshotPath(segment)));
    CHECK(!disk.Exists(SnapshotPath(segment) + ".tmp"));
    CHECK(disk.Exists(SegmentPath(1)));
    CHECK(*StateOf(disk) == daemon.mark());
  }
  CHECK(Compact(disk, segment).ok());
}

TEST_CASE("snapshot: a daemon that stops does not wait for it") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  LoggedEngine daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.Run(commands, 300).ok());
  const std::atomic<bool> cancel = true;
  const auto made = MakeSnapshot(disk, kTestDirectory, daemon.open_segment(), 3, cancel);
  CHECK(absl::IsCancelled(made.status()));
  CHECK(!disk.Exists(SnapshotPath(daemon.open_segment())));
}

TEST_CASE("snapshot: what does not belong to it is refused") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  LoggedEngine daemon;
  REQUIRE(daemon.Start(disk).ok());
  while (daemon.open_segment() <= 4) REQUIRE(daemon.Run(commands, 100).ok());
  const uint32_t segment = daemon.open_segment();
  const std::string before = disk.Content(SegmentPath(segment - 1));
  REQUIRE(Compact(disk, segment - 1).ok());
  const std::string older = disk.Content(SnapshotPath(segment - 1));

  SUBCASE("the segment is missing") {
    disk.Delete(SegmentPath(segment - 1));
    const absl::Status status = StateOf(disk).status();
    CHECK(KindOf(status) == FailureKind::kDamaged);
    CHECK(std::string(status.message()).find("missing") != std::string::npos);
  }
  SUBCASE("no segment is there") {
    disk.Delete(SegmentPath(segment - 1));
    disk.Delete(SegmentPath(segment));
    if (disk.Exists(SegmentPath(segment + 1))) disk.Delete(SegmentPath(segment + 1));
    CHECK(KindOf(StateOf(disk).status()) == FailureKind::kDamaged);
  }
  SUBCASE("a snapshot under another's name") {
    disk.SetContent(SnapshotPath(segment), older);
    CHECK(KindOf(StateOf(disk).status()) == FailureKind::kDamaged);
  }
  SUBCASE("an older one is not looked at, nor a segment that is covered") {
    disk.SetContent(SnapshotPath(1), "rubbish");
    disk.SetContent(SegmentPath(1), "rubbish");
    CHECK(*StateOf(disk) == daemon.mark());
  }
  SUBCASE("the segment of another log") {
    MemoryFiles other(TestSeed());
    LoggedEngine stranger;
    REQUIRE(stranger.Start(other).ok());
    RandomCommands again(TestSeed());
    REQUIRE(stranger.Run(again, 10).ok());
    disk.SetContent(SegmentPath(segment - 1), other.Content(SegmentPath(1)));
    CHECK(KindOf(StateOf(disk).status()) == FailureKind::kDamaged);
  }
}

TEST_CASE("snapshot: the archive keeps what is covered, reads from its beginning, and is pruned") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  REQUIRE(disk.MakeDirectory(kArchive).ok());
  LoggedEngine daemon;
  REQUIRE(daemon.Start(disk).ok());
  std::vector<uint32_t> snapshots;
  EngineMark at_last;
  for (int round = 0; round < 4; ++round) {
    REQUIRE(daemon.Run(commands, 200).ok());
    snapshots.push_back(daemon.open_segment());
    const std::atomic<bool> cancel = false;
    REQUIRE(MakeSnapshot(disk, kTestDirectory, snapshots.back(), 3, cancel).ok());
    REQUIRE(RemoveCovered(disk, kTestDirectory, snapshots.back(), kArchive, cancel).ok());
    Engine engine(EngineOptions{});
    EngineReplay replay(&engine);
    const auto header =
        ReadSnapshot(disk, SnapshotPath(snapshots.back()), SnapshotKind::kSnapshot,
                     [&](const auto& entries) { return replay.SnapshotEntries(entries); });
    REQUIRE(header.ok());
    at_last = header->mark;
  }
  REQUIRE(disk.Exists(JoinPath(kArchive, SegmentFileName(1))));
  const auto past = StateOf(disk, kArchive, true);
  REQUIRE(past.ok());
  CHECK(*past == at_last);

  // What is older than the newest old snapshot goes.
  disk.set_age_seconds(JoinPath(kArchive, SnapshotFileName(snapshots[0])), 100);
  disk.set_age_seconds(JoinPath(kArchive, SnapshotFileName(snapshots[1])), 50);
  const std::atomic<bool> cancel = false;
  REQUIRE(PruneArchive(disk, kArchive, 100, cancel).ok());
  CHECK(disk.Exists(JoinPath(kArchive, SegmentFileName(1))));
  REQUIRE(PruneArchive(disk, kArchive, 49, cancel).ok());
  CHECK(!disk.Exists(JoinPath(kArchive, SegmentFileName(snapshots[1] - 1))));
  CHECK(!disk.Exists(JoinPath(kArchive, SnapshotFileName(snapshots[0]))));
  CHECK(disk.Exists(JoinPath(kArchive, SegmentFileName(snapshots[1]))));
  CHECK(*StateOf(disk, kArchive, true) == at_last);
}

}  // namespace
}  // namespace anteroom::storage
