// Power loss and kills at every point of a daemon's life with its log: nothing that was synced is
// ever missing, and a start always succeeds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/support/log_harness.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

std::string RandomRecord(std::mt19937_64& random) {
  // Some nearly fill a segment, most are as small as a join.
  const size_t bytes = random() % 20 == 0 ? random() % 2500 : random() % 120;
  std::string record(bytes, '\0');
  for (char& c : record) c = random() % 4 == 0 ? '\0' : static_cast<char>(random());
  return record;
}

// What was written, as the outside world knows it.
// Invariant: everything up to `durable` was acknowledged or shown, and must come back for ever.
struct Journal {
  std::vector<std::string> records;
  size_t durable = 0;

  // The records that came back take the place of those attempted.
  void Check(const std::vector<std::string>& recovered) {
    REQUIRE(recovered.size() >= durable);
    REQUIRE(recovered.size() <= records.size());
    REQUIRE(std::equal(recovered.begin(), recovered.end(), records.begin()));
    records = recovered;
    durable = recovered.size();
  }
};

// Runs a daemon until the power goes or it is done. Any failure while the power is on and no fault
// was asked for is a failed test.
void Live(MemoryFiles& disk, Journal& journal, std::mt19937_64& random, int steps, bool faults) {
  TestDaemon daemon;
  const absl::Status started = daemon.Start(disk, SmallLog(random()));
  if (!started.ok()) {
    INFO(started.ToString());
    REQUIRE((disk.power_is_off() || faults));
    return;
  }
  journal.Check(daemon.replay.records);
  for (int step = 0; step < steps; ++step) {
    absl::Status status;
    switch (random() % 8) {
      case 0:
        status = daemon.writer->PrepareNext();
        break;
      default: {
        const size_t count = 1 + random() % 3;
        std::vector<std::string> records;
        for (size_t i = 0; i < count; ++i) records.push_back(RandomRecord(random));
        journal.records.insert(journal.records.end(), records.begin(), records.end());
        status = daemon.Append(records);
        if (status.ok()) journal.durable = journal.records.size();
      }
    }
    if (!status.ok()) {
      REQUIRE((disk.power_is_off() || faults));
      return;
    }
  }
  daemon.writer->check_invariants();
  if (random() % 2 == 0 && daemon.Stop().ok()) {
    Replay replay;
    const auto log = Inspect(disk, replay);
    REQUIRE(log.ok());
    REQUIRE(log->clean_stop);
  }
}

TEST_CASE("crash at every change, every way of losing what was not synced") {
  for (const Unsynced unsynced : {Unsynced::kDropped, Unsynced::kKept, Unsynced::kRandom}) {
    for (uint64_t stop = 1;; ++stop) {
      MemoryFiles disk(TestSeed() + stop);
      std::mt19937_64 random(TestSeed());
      Journal journal;
      disk.StopPowerAfter(stop);
      Live(disk, journal, random, 30, false);
      const bool was_off = disk.power_is_off();
      disk.LosePower(unsynced);
      Live(disk, journal, random, 3, false);
      if (!was_off) break;
    }
  }
}

TEST_CASE("crash during recovery, again and again, gives the same records") {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < (kSampled ? 40 : 200); ++round) {
    MemoryFiles disk(random());
    Journal journal;
    disk.StopPowerAfter(10 + random() % 60);
    Live(disk, journal, random, 40, false);
    disk.LosePower(Unsynced::kRandom);
    // What the first recovery reads is what all later ones must.
    Replay first;
    if (!disk.Exists("data/00000001.log")) continue;
    REQUIRE(Inspect(disk, first).ok());
    for (uint64_t stop = 1; stop < 12; ++stop) {
      disk.StopPowerAfter(stop);
      TestDaemon daemon;
      daemon.Start(disk).IgnoreError();
      disk.LosePower(Unsynced::kRandom);
      Replay again;
      REQUIRE(Inspect(disk, again).ok());
      REQUIRE(again.records == first.records);
    }
  }
}

// The zeros of a cut whose sync failed are in the page cache only. The next start finds nothing to
// cut; what it appends is shorter than what was torn, and the segment ends there.
TEST_CASE("pieces of a torn batch whose cut failed never come back") {
  for (uint64_t round = 0; round < 50; ++round) {
    MemoryFiles disk(TestSeed() + round);
    Journal journal;
    {
      TestDaemon daemon;
      REQUIRE(daemon.Start(disk).ok());
      journal.records = {"kept"};
      REQUIRE(daemon.Append(journal.records).ok());
      journal.durable = 1;
      disk.StopPowerAfter(1);
      disk.set_short_writes(true);
      journal.records.emplace_back(2800, 'x');
      REQUIRE(!daemon.Append({journal.records.back()}).ok());
    }
    disk.set_short_writes(false);
    disk.LosePower(Unsynced::kKept);
    {
      disk.Fail(Call::kSync, EIO, 0, true);
      TestDaemon daemon;
      REQUIRE(!daemon.Start(disk).ok());
      disk.ClearFaults();
      disk.KillProcess();
    }
    {
      TestDaemon daemon;
      REQUIRE(daemon.Start(disk).ok());
      journal.Check(daemon.replay.records);
      // The second does not fit any more.
      for (const size_t bytes : {size_t{8}, size_t{3480}}) {
        journal.records.emplace_back(bytes, 'y');
        REQUIRE(daemon.Append({journal.records.back()}).ok());
        journal.durable = journal.records.size();
      }
      REQUIRE(disk.Exists("data/00000002.log"));
    }
    disk.LosePower(Unsynced::kDropped);
    TestDaemon daemon;
    const absl::Status started = daemon.Start(disk);
    INFO(started.ToString());
    REQUIRE(started.ok());
    journal.Check(daemon.replay.records);
  }
}

TEST_CASE("random crashes, kills, failed syncs and full disks") {
  constexpr int kCycles = kSampled ? 5'000 : 25'000;
  std::mt19937_64 random(TestSeed());
  auto disk = std::make_unique<MemoryFiles>(random());
  Journal journal;
  int crashes = 0;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    if (cycle % 40 == 0) {
      disk = std::make_unique<MemoryFiles>(random());
      journal = Journal();
    }
    disk->set_short_writes(random() % 2 == 0);
    bool faults = false;
    disk->set_capacity_bytes(~uint64_t{0});
    switch (random() % 6) {
      case 0:
        disk->Fail(Call::kSync, EIO, random() % 20);
        faults = true;
        break;
      case 1:
        disk->set_capacity_bytes(disk->used_bytes() + random() % 8192);
        faults = true;
        break;
      case 2:
        disk->Fail(Call::kWrite, EIO, random() % 20);
        faults = true;
        break;
      default:
        break;
    }
    if (random() % 8 != 0) disk->StopPowerAfter(1 + random() % 60);
    Live(*disk, journal, random, static_cast<int>(random() % 12), faults);
    disk->check_invariants();
    disk->ClearFaults();
    if (random() % 4 == 0) {
      disk->KillProcess();
    } else {
      ++crashes;
      disk->LosePower(random() % 4 == 0 ? Unsynced::kDropped : Unsynced::kRandom);
    }
  }
  REQUIRE(crashes > kCycles / 2);
}

TEST_CASE("the simulation loses what was not synced") {
  MemoryFiles disk(TestSeed());
  REQUIRE(disk.MakeDirectory("data").ok());
  REQUIRE(disk.SyncDirectory(".").ok());
  {
    auto file = disk.Open("data/a", OpenMode::kCreate);
    REQUIRE(file.ok());
    REQUIRE(WriteFully(**file, 0, "abc").ok());
    REQUIRE((*file)->Sync().ok());
  }
  SUBCASE("a file without its directory entry") {
    disk.LosePower(Unsynced::kDropped);
    REQUIRE(!disk.Exists("data/a"));
  }
  SUBCASE("a rename") {
    REQUIRE(disk.SyncDirectory("data").ok());
    REQUIRE(disk.Rename("data/a", "data/b").ok());
    REQUIRE(disk.Exists("data/b"));
    disk.LosePower(Unsynced::kDropped);
    REQUIRE(disk.Exists("data/a"));
    REQUIRE(!disk.Exists("data/b"));
  }
  SUBCASE("a write, and one whose sync failed") {
    REQUIRE(disk.SyncDirectory("data").ok());
    auto file = disk.Open("data/a", OpenMode::kReadWrite);
    REQUIRE(WriteFully(**file, 0, "xyz").ok());
    disk.LosePower(Unsynced::kDropped);
    REQUIRE(disk.Content("data/a") == "abc");
    file = disk.Open("data/a", OpenMode::kReadWrite);
    int lost = 0;
    for (int i = 0; i < 100; ++i) {
      REQUIRE(WriteFully(**file, 0, "xyz").ok());
      disk.Fail(Call::kSync, EIO);
      REQUIRE(!(*file)->Sync().ok());
      REQUIRE((*file)->Sync().ok());
      REQUIRE(disk.Content("data/a") == "xyz");
      disk.LosePower(Unsynced::kDropped);
      if (disk.Content("data/a") == "abc") ++lost;
      file = disk.Open("data/a", OpenMode::kReadWrite);
      REQUIRE(WriteFully(**file, 0, "abc").ok());
      REQUIRE((*file)->Sync().ok());
    }
    REQUIRE(lost > 10);
  }
}

}  // namespace
}  // namespace anteroom::storage
