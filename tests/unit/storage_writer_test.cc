// The writer's promises under errors, full disks and short writes; how records become batches.
#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "tests/support/log_harness.h"
#include "tests/support/memory_files.h"

namespace anteroom::storage {
namespace {

TEST_CASE("staged records get consecutive sequences and fill frames") {
  BatchBuilder builder(5, 100);
  REQUIRE(builder.empty());
  REQUIRE(builder.record_bytes_max() == 96);
  REQUIRE(builder.Seal().empty());
  Tally tally;
  for (uint64_t i = 0; i < 10; ++i) {
    REQUIRE(builder.next_sequence() == 5 + i);
    REQUIRE(builder.Stage(tally.mark(), std::string(i * 9, 'x')) == 5 + i);
    builder.check_invariants();
  }
  REQUIRE(builder.staged_records() == 10);
  Batch batch = builder.Seal();
  batch.check_invariants();
  builder.check_invariants();
  REQUIRE(builder.empty());
  REQUIRE(builder.staged_bytes() == 0);
  REQUIRE(batch.first_sequence() == 5);
  REQUIRE(batch.next_sequence() == 15);
  REQUIRE(batch.record_count() == 10);
  builder.Recycle(std::move(batch));
  REQUIRE(builder.Stage(tally.mark(), "more") == 15);
  builder.check_invariants();
}

TEST_CASE("a batch of many frames is written in one call") {
  MemoryFiles disk(1);
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  std::vector<std::string> records;
  for (size_t i = 0; i < 100; ++i) records.emplace_back(i * 20, 'r');
  REQUIRE(daemon.Append(records).ok());
  REQUIRE(daemon.writer->next_sequence() == 101);
  REQUIRE(daemon.Append({}).ok());
  // The largest that fits.
  REQUIRE(daemon.Append({std::string(daemon.builder->record_bytes_max(), 'm')}).ok());
  disk.LosePower(Unsynced::kDropped);
  TestDaemon next;
  REQUIRE(next.Start(disk).ok());
  records.emplace_back(next.builder->record_bytes_max(), 'm');
  REQUIRE(next.replay.records == records);
}

TEST_CASE("short writes are finished") {
  MemoryFiles disk(3);
  disk.set_short_writes(true);
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  for (int i = 0; i < 50; ++i) REQUIRE(daemon.Append({std::string(300, 's')}).ok());
  disk.LosePower(Unsynced::kDropped);
  TestDaemon next;
  REQUIRE(next.Start(disk).ok());
  REQUIRE(next.replay.records.size() == 50);
}

TEST_CASE("a failed write or sync poisons the writer for good") {
  for (const Call call : {Call::kWrite, Call::kSync}) {
    for (const int error : {EIO, ENOSPC}) {
      MemoryFiles disk(1);
      TestDaemon daemon;
      REQUIRE(daemon.Start(disk).ok());
      REQUIRE(daemon.Append({"acknowledged"}).ok());
      disk.Fail(call, error);
      const absl::Status failed = daemon.Append({"lost"});
      REQUIRE(KindOf(failed) == FailureKind::kIo);
      const uint64_t changes = disk.changes();
      REQUIRE(daemon.Append({"later"}) == failed);
      REQUIRE(daemon.writer->PrepareNext() == failed);
      REQUIRE(daemon.Stop() == failed);
      REQUIRE(disk.changes() == changes);
      disk.LosePower(Unsynced::kDropped);
      TestDaemon next;
      REQUIRE(next.Start(disk).ok());
      REQUIRE(next.replay.records.at(0) == "acknowledged");
    }
  }
}

TEST_CASE("an error while the next segment is made ready poisons it too") {
  for (const Call call : {Call::kOpen, Call::kReserve, Call::kSync, Call::kSyncDirectory}) {
    MemoryFiles disk(1);
    TestDaemon daemon;
    REQUIRE(daemon.Start(disk).ok());
    disk.Fail(call, EIO);
    const absl::Status failed = daemon.writer->PrepareNext();
    REQUIRE(KindOf(failed) == FailureKind::kIo);
    REQUIRE(daemon.Append({"later"}) == failed);
  }
}

TEST_CASE("a full disk: what is reserved is used up, then it waits, then it goes on") {
  MemoryFiles disk(1);
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.writer->needs_prepare());
  REQUIRE(daemon.writer->PrepareNext().ok());
  REQUIRE(!daemon.writer->needs_prepare());
  disk.set_capacity_bytes(disk.used_bytes() + 1000);
  REQUIRE(daemon.writer->reserved_bytes_left() > kSegmentBytesMin);

  int written = 0;
  absl::Status status;
  while (true) {
    daemon.Stage(std::string(200, 'd'));
    Batch batch = daemon.builder->Seal();
    status = daemon.writer->Write(batch);
    if (daemon.writer->needs_prepare()) {
      REQUIRE(KindOf(daemon.writer->PrepareNext()) == FailureKind::kNoSpace);
      REQUIRE(ErrnoOf(daemon.writer->PrepareNext()) == ENOSPC);
    }
    if (status.ok()) {
      ++written;
      continue;
    }
    REQUIRE(KindOf(status) == FailureKind::kNoSpace);
    REQUIRE(daemon.writer->reserved_bytes_left() < 300);
    // It took back what the failed reservation got.
    REQUIRE(!disk.Exists("data/00000003.log"));
    const uint64_t next_sequence = daemon.writer->next_sequence();
    REQUIRE(KindOf(daemon.writer->Write(batch)) == FailureKind::kNoSpace);
    REQUIRE(daemon.writer->next_sequence() == next_sequence);
    disk.set_capacity_bytes(~uint64_t{0});
    REQUIRE(daemon.writer->Write(batch).ok());
    break;
  }
  REQUIRE(written > 20);
  daemon.writer->check_invariants();
  disk.LosePower(Unsynced::kDropped);
  TestDaemon next;
  REQUIRE(next.Start(disk).ok());
  REQUIRE(next.replay.records.size() == static_cast<size_t>(written) + 1);
}

TEST_CASE("a batch that stops at a full disk goes on where it stopped") {
  MemoryFiles disk(1);
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  for (int i = 0; i < 10; ++i) daemon.Stage(std::string(1500, static_cast<char>('a' + i)));
  disk.set_capacity_bytes(disk.used_bytes() + kSegmentBytesMin);
  Batch batch = daemon.builder->Seal();
  REQUIRE(KindOf(daemon.writer->Write(batch)) == FailureKind::kNoSpace);
  REQUIRE(daemon.writer->next_sequence() > 1);
  REQUIRE(daemon.writer->next_sequence() < 11);
  disk.set_capacity_bytes(~uint64_t{0});
  REQUIRE(daemon.writer->Write(batch).ok());
  REQUIRE(daemon.writer->next_sequence() == 11);
  Replay replay;
  REQUIRE(Inspect(disk, replay).ok());
  REQUIRE(replay.records == daemon.replay.records);
}

TEST_CASE("a disk too full for a first segment leaves an empty directory") {
  MemoryFiles disk(1);
  disk.set_capacity_bytes(2000);
  {
    TestDaemon daemon;
    REQUIRE(KindOf(daemon.Start(disk)) == FailureKind::kNoSpace);
    REQUIRE(!disk.Exists("data/00000001.log.tmp"));
  }
  disk.set_capacity_bytes(~uint64_t{0});
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
}

TEST_CASE("the size of segments may change from run to run") {
  MemoryFiles disk(1);
  std::vector<std::string> written;
  for (const uint64_t segment_bytes : {8192, 4096, 16384, 4096, 65536}) {
    TestDaemon daemon;
    LogOptions options = SmallLog(segment_bytes);
    options.segment_bytes = segment_bytes;
    REQUIRE(daemon.Start(disk, options).ok());
    REQUIRE(daemon.replay.records == written);
    for (int i = 0; i < 12; ++i) {
      written.emplace_back(daemon.builder->record_bytes_max() / 3, static_cast<char>('a' + i));
      REQUIRE(daemon.Append({written.back()}).ok());
    }
    REQUIRE(daemon.writer->PrepareNext().ok());
    disk.LosePower(Unsynced::kDropped);
  }
  MemoryFiles other(1);
  TestDaemon daemon;
  LogOptions options = SmallLog();
  options.segment_bytes = 5000;
  REQUIRE(absl::IsInvalidArgument(daemon.Start(other, options)));
}

TEST_CASE("a spare that a closed segment leads to survives a full disk") {
  for (uint64_t stop = 1;; ++stop) {
    MemoryFiles disk(1);
    TestDaemon daemon;
    REQUIRE(daemon.Start(disk).ok());
    REQUIRE(daemon.writer->PrepareNext().ok());
    REQUIRE(daemon.Append({std::string(2000, 'a')}).ok());
    disk.StopPowerAfter(stop);
    daemon.Append({std::string(2000, 'b')}).IgnoreError();
    // It only gets to the crash that this test wants to see: after the closing, before the header.
    REQUIRE(disk.power_is_off());
    disk.LosePower(Unsynced::kKept);
    Replay replay;
    const auto log = Inspect(disk, replay);
    REQUIRE(log.ok());
    if (!log->segment_closed) continue;
    LogOptions larger = SmallLog(2);
    larger.segment_bytes = 65536;
    {
      TestDaemon full;
      disk.set_capacity_bytes(disk.used_bytes() + 100);
      REQUIRE(full.Start(disk, larger).ok());
      REQUIRE(KindOf(full.writer->PrepareNext()) == FailureKind::kNoSpace);
      REQUIRE(KindOf(full.Append({"waits"})) == FailureKind::kNoSpace);
    }
    disk.LosePower(Unsynced::kKept);
    disk.set_capacity_bytes(~uint64_t{0});
    TestDaemon next;
    REQUIRE(next.Start(disk, larger).ok());
    REQUIRE(next.Append({"goes on"}).ok());
    return;
  }
}

TEST_CASE("one sync per batch while nothing else happens") {
  MemoryFiles disk(1);
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  const uint64_t before = disk.changes();
  REQUIRE(daemon.Append({"a", "b", "c"}).ok());
  REQUIRE(disk.changes() == before + 2);
}

}  // namespace
}  // namespace anteroom::storage
