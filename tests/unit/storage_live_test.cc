// A log that is read while a daemon writes to it: every read sees half of the file before some of
// the daemon's work and half after it.

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>

#include "server/storage/backup.h"
#include "server/storage/compaction.h"
#include "tests/support/log_harness.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

absl::Status TakeAnySecrets(std::string_view, uint32_t, const Engine&) {
  return absl::OkStatus();
}

class Busy {
 public:
  Busy() : random(TestSeed()), disk(random()) {
    REQUIRE(daemon.Start(disk).ok());
    Write(20);
  }

  void Write(int batches) {
    for (int i = 0; i < batches; ++i) {
      REQUIRE(daemon.Append({std::string(1 + random() % 600, 'r')}).ok());
    }
  }
  void StartWriting(int batches_max) {
    disk.set_during_reads([this, batches_max] { Write(static_cast<int>(random() % batches_max)); });
  }

  std::mt19937_64 random;
  MemoryFiles disk;
  TestDaemon daemon;
};

TEST_CASE("live log: it is whole, up to a moment after the call") {
  Busy busy;
  for (const int batches_max : {2, 4, 30}) {
    for (int round = 0; round < 200; ++round) {
      const size_t before = busy.daemon.replay.records.size();
      Replay replay;
      busy.StartWriting(batches_max);
      const auto log = Inspect(busy.disk, replay);
      busy.disk.set_during_reads(nullptr);
      INFO(log.status().ToString());
      REQUIRE(log.ok());
      REQUIRE(replay.records.size() >= before);
      REQUIRE(!log->torn_end.has_value());
      REQUIRE(!log->clean_stop);
      if (busy.daemon.replay.records.size() > 20'000) return;
    }
  }
}

TEST_CASE("live log: a batch that is being written is no torn end") {
  Busy busy;
  Replay before;
  const auto log = Inspect(busy.disk, before);
  REQUIRE(log.ok());
  const std::string path = "data/" + SegmentFileName(log->last_header.segment_number);
  std::string bytes = busy.disk.Content(path);
  bytes[log->end_offset_bytes] = 'x';
  busy.disk.SetContent(path, bytes);
  Replay replay;
  const auto running = Inspect(busy.disk, replay);
  REQUIRE(running.ok());
  REQUIRE(!running->torn_end.has_value());
  busy.daemon.directory.reset();  // and with it the lock
  Replay again;
  const auto stopped = Inspect(busy.disk, again);
  REQUIRE(stopped.ok());
  REQUIRE(stopped->torn_end.has_value());
}

TEST_CASE("live log: damage is named beside a writing daemon too") {
  for (int round = 0; round < 60; ++round) {
    Busy busy;
    Replay whole;
    const auto log = Inspect(busy.disk, whole);
    REQUIRE(log.ok());
    const uint32_t number = 1 + busy.random() % log->last_header.segment_number;
    const bool last = number == log->last_header.segment_number;
    const std::string path = "data/" + SegmentFileName(number);
    std::string bytes = busy.disk.Content(path);
    const uint64_t end = last ? log->end_offset_bytes : 3000;
    // What is the last batch of all could be a torn end: it is followed by others soon.
    bytes[busy.random() % end] ^= 0x10;
    // In place, for the daemon has the file open.
    {
      auto file = busy.disk.Open(path, OpenMode::kReadWrite);
      REQUIRE(file.ok());
      REQUIRE(WriteFully(**file, 0, bytes).ok());
    }
    busy.Write(1);
    busy.StartWriting(3);
    Replay replay;
    const auto read = Inspect(busy.disk, replay);
    busy.disk.set_during_reads(nullptr);
    INFO("segment ", number, " of ", log->last_header.segment_number);
    REQUIRE(KindOf(read.status()) == FailureKind::kDamaged);
  }
}

TEST_CASE("live log: bytes in a spare are named beside a writing daemon too") {
  Busy busy;
  // In a segment with room for all that comes: taken into use, the spare would be no spare.
  const uint32_t before = busy.daemon.writer->segment_number();
  while (busy.daemon.writer->segment_number() == before) busy.Write(1);
  const uint32_t current = busy.daemon.writer->segment_number();
  REQUIRE(busy.daemon.writer->PrepareNext().ok());
  const std::string path = "data/" + SegmentFileName(current + 1);
  {
    auto file = busy.disk.Open(path, OpenMode::kReadWrite);
    REQUIRE(file.ok());
    REQUIRE(WriteFully(**file, 2000, "x").ok());
  }
  busy.disk.set_during_reads([&] { REQUIRE(busy.daemon.Append({"r"}).ok()); });
  Replay replay;
  const auto read = Inspect(busy.disk, replay);
  busy.disk.set_during_reads(nullptr);
  REQUIRE(busy.daemon.writer->segment_number() == current);
  REQUIRE(KindOf(read.status()) == FailureKind::kDamaged);
}

TEST_CASE("live log: a backup while snapshots take segments away") {
  MemoryFiles disk(TestSeed());
  RandomCommands commands(TestSeed());
  std::mt19937_64 random(TestSeed());
  REQUIRE(disk.MakeDirectory("backups").ok());
  LoggedEngine daemon;
  REQUIRE(daemon.Start(disk).ok());
  const std::atomic<bool> cancel{false};
  for (int round = 0; round < 20; ++round) {
    REQUIRE(daemon.Run(commands, 200).ok());
    int reads = 0;
    disk.set_during_reads([&] {
      if (++reads > 40) return;
      REQUIRE(daemon.Run(commands, 30).ok());
      const uint32_t number = daemon.open_segment();
      REQUIRE(MakeSnapshot(disk, kTestDirectory, number, 1, cancel).ok());
      REQUIRE(RemoveCovered(disk, kTestDirectory, number, "", cancel).ok());
    });
    const auto made = MakeBackup(disk, kTestDirectory, "backups/" + std::to_string(round),
                                 TakeAnySecrets, [&] { return random(); });
    disk.set_during_reads(nullptr);
    INFO(made.status().ToString());
    REQUIRE(made.ok());
  }
}

}  // namespace
}  // namespace anteroom::storage
