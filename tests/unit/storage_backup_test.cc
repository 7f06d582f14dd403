// A whole state in one file, and a directory made of it.

#include <doctest/doctest.h>

#include <cerrno>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "server/storage/backup.h"
#include "server/storage/storage_status.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

constexpr char kFile[] = "backups/sale";
constexpr char kElsewhere[] = "elsewhere";

absl::Status AnySecrets(std::string_view, uint32_t, const Engine&) {
  return absl::OkStatus();
}

absl::Status WrongSecrets(std::string_view secrets, uint32_t, const Engine&) {
  return secrets == "secret" ? absl::DataLossError("no") : absl::OkStatus();
}

// Nothing is in the directory but what keeps daemons away.
bool IsUnfinished(MemoryFiles& disk) {
  LoggedEngine daemon;
  return *disk.List(kElsewhere) == std::vector<std::string>{"lock", "restoring"} &&
         KindOf(daemon.Start(disk, kElsewhere)) == FailureKind::kUnfinished;
}

class Backups {
 public:
  Backups() : disk(TestSeed()), commands(TestSeed()), random_(TestSeed()) {
    REQUIRE(disk.MakeDirectory("backups").ok());
    REQUIRE(daemon->Start(disk).ok());
    REQUIRE(daemon->Run(commands, 300).ok());
  }

  auto Random() {
    return [this] { return random_(); };
  }
  absl::StatusOr<BackupContent> Restore() {
    return RestoreBackup(disk, kFile, kElsewhere, kSegmentBytesMin, AnySecrets, Random());
  }

  MemoryFiles disk;
  RandomCommands commands;
  std::unique_ptr<LoggedEngine> daemon = std::make_unique<LoggedEngine>();

 private:
  std::mt19937_64 random_;
};

TEST_CASE("backup: beside a running daemon, and a directory from it that goes on") {
  Backups backups;
  const auto made = MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random());
  REQUIRE(made.ok());
  CHECK(made->mark == backups.daemon->mark());
  CHECK_EQ(made->epoch, 1);
  REQUIRE(backups.daemon->Run(backups.commands, 50).ok());

  const auto restored = backups.Restore();
  REQUIRE(restored.ok());
  CHECK(restored->mark == made->mark);
  CHECK_EQ(restored->entries, made->entries);
  CHECK(*StateOf(backups.disk, kElsewhere) == made->mark);
  CHECK_EQ(*ReadSecrets(backups.disk, kElsewhere), "secret");

  LoggedEngine elsewhere;
  REQUIRE(elsewhere.Start(backups.disk, kElsewhere).ok());
  CHECK_EQ(elsewhere.log().last_header.epoch, 1);
  CHECK_EQ(elsewhere.log().next_sequence, made->next_sequence);
  REQUIRE(elsewhere.Run(backups.commands, 200).ok());
  CHECK(*StateOf(backups.disk, kElsewhere) == elsewhere.mark());
}

TEST_CASE("backup: neither a backup nor a directory that is there is written over") {
  Backups backups;
  REQUIRE(MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random()).ok());
  const std::string right = backups.disk.Content(kFile);
  CHECK(absl::IsAlreadyExists(
      MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random()).status()));
  CHECK_EQ(backups.disk.Content(kFile), right);
  REQUIRE(backups.Restore().ok());
  const auto before = StateOf(backups.disk, kElsewhere);
  CHECK(absl::IsAlreadyExists(backups.Restore().status()));
  CHECK(*StateOf(backups.disk, kElsewhere) == *before);
}

TEST_CASE("backup: after a move no daemon starts from the old directory") {
  Backups backups;
  const auto running =
      MakeMovingBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random()).status();
  CHECK(KindOf(running) == FailureKind::kInUse);
  const EngineMark at_stop = backups.daemon->mark();
  backups.daemon.reset();
  const auto moved =
      MakeMovingBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random());
  REQUIRE(moved.ok());
  CHECK(moved->mark == at_stop);
  LoggedEngine again;
  const absl::Status refused = again.Start(backups.disk);
  CHECK(KindOf(refused) == FailureKind::kMoved);
  CHECK(std::string(refused.message()).find("epoch 1") != std::string::npos);
  // It can still be looked at.
  CHECK(*StateOf(backups.disk) == at_stop);
  REQUIRE(backups.Restore().ok());
  CHECK(*StateOf(backups.disk, kElsewhere) == at_stop);
}

TEST_CASE("backup: a restore that stops anywhere leaves nothing that a daemon starts from") {
  Backups backups;
  const auto made = MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random());
  REQUIRE(made.ok());
  const std::string backup = backups.disk.Content(kFile);
  bool done = false;
  for (uint64_t changes = 1; !done; ++changes) {
    for (const Unsynced unsynced : {Unsynced::kDropped, Unsynced::kKept, Unsynced::kRandom}) {
      INFO("change ", changes);
      MemoryFiles disk(TestSeed() + changes);
      disk.SetContent(kFile, backup);
      disk.StopPowerAfter(changes);
      const auto restore = [&] {
        return RestoreBackup(disk, kFile, kElsewhere, kSegmentBytesMin, AnySecrets,
                             backups.Random());
      };
      done = restore().ok();
      disk.LosePower(unsynced);
      const bool begun = disk.Exists(std::string(kElsewhere) + "/restoring");
      {
        // Without a trace of the restore it is any empty directory.
        LoggedEngine daemon;
        const absl::Status started = daemon.Start(disk, kElsewhere);
        if (begun) {
          REQUIRE(KindOf(started) == FailureKind::kUnfinished);
          REQUIRE(KindOf(StateOf(disk, kElsewhere).status()) == FailureKind::kUnfinished);
        } else if (started.ok()) {
          REQUIRE((daemon.log().empty || daemon.mark() == made->mark));
          if (done) REQUIRE(daemon.mark() == made->mark);
          continue;
        }
      }
      const auto again = restore();
      INFO(again.status().ToString());
      REQUIRE(again.ok());
      REQUIRE(*StateOf(disk, kElsewhere) == made->mark);
      LoggedEngine daemon;
      REQUIRE(daemon.Start(disk, kElsewhere).ok());
    }
  }
}

TEST_CASE("backup: a restore that fails takes away what it made, and no daemon begins anew there") {
  Backups backups;
  REQUIRE(MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random()).ok());
  for (const Call call : {Call::kWrite, Call::kSync, Call::kReserve, Call::kRename}) {
    for (uint64_t skipped = 0; skipped < 3; ++skipped) {
      if (call == Call::kReserve && skipped > 0) continue;
      MemoryFiles disk(TestSeed());
      disk.SetContent(kFile, backups.disk.Content(kFile));
      disk.Fail(call, ENOSPC, skipped);
      const auto failed =
          RestoreBackup(disk, kFile, kElsewhere, kSegmentBytesMin, AnySecrets, backups.Random());
      REQUIRE(KindOf(failed.status()) == FailureKind::kNoSpace);
      REQUIRE(IsUnfinished(disk));
    }
  }
}

TEST_CASE("backup: with secrets that are none nothing is made") {
  Backups backups;
  REQUIRE(MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random()).ok());
  const auto refused = RestoreBackup(backups.disk, kFile, kElsewhere, kSegmentBytesMin,
                                     WrongSecrets, backups.Random());
  CHECK(absl::IsDataLoss(refused.status()));
  CHECK(IsUnfinished(backups.disk));
}

TEST_CASE("backup: wrong secrets are not backed up, and a daemon that has them is not moved") {
  Backups backups;
  const auto make = [&](auto how) {
    return how(backups.disk, kTestDirectory, kFile, WrongSecrets, backups.Random()).status();
  };
  CHECK(absl::IsDataLoss(make(MakeBackup)));
  backups.daemon.reset();
  CHECK(absl::IsDataLoss(make(MakeMovingBackup)));
  CHECK(backups.disk.List("backups")->empty());
  LoggedEngine again;
  CHECK(again.Start(backups.disk).ok());
}

TEST_CASE("backup: every flipped byte is refused before anything is made of it") {
  Backups backups;
  REQUIRE(MakeBackup(backups.disk, kTestDirectory, kFile, AnySecrets, backups.Random()).ok());
  const std::string right = backups.disk.Content(kFile);
  for (size_t i = 0; i < right.size(); i += 3) {
    std::string bytes = right;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    backups.disk.SetContent(kFile, bytes);
    INFO("byte ", i);
    REQUIRE(!backups.Restore().ok());
    REQUIRE(IsUnfinished(backups.disk));
  }
  backups.disk.SetContent(kFile, right.substr(0, right.size() - 1));
  CHECK(KindOf(backups.Restore().status()) == FailureKind::kDamaged);
  backups.disk.SetContent(kFile, right);
  CHECK(backups.Restore().ok());
}

}  // namespace
}  // namespace anteroom::storage
