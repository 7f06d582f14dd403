// A whole state in one file, and a directory made of it.

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>

#include "server/storage/backup.h"
#include "server/storage/storage_status.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

constexpr char kFile[] = "backups/sale";
constexpr char kElsewhere[] = "elsewhere";

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
    return RestoreBackup(disk, kFile, kElsewhere, kSegmentBytesMin, Random());
  }

  MemoryFiles disk;
  RandomCommands commands;
  std::unique_ptr<LoggedEngine> daemon = std::make_unique<LoggedEngine>();

 private:
  std::mt19937_64 random_;
};

TEST_CASE("backup: beside a running daemon, and a directory from it that goes on") {
  Backups backups;
  const auto made = MakeBackup(backups.disk, kTestDirectory, kFile, backups.Random());
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
  REQUIRE(MakeBackup(backups.disk, kTestDirectory, kFile, backups.Random()).ok());
  const std::string right = backups.disk.Content(kFile);
  CHECK(absl::IsAlreadyExists(
      MakeBackup(backups.disk, kTestDirectory, kFile, backups.Random()).status()));
  CHECK_EQ(backups.disk.Content(kFile), right);
  REQUIRE(backups.Restore().ok());
  const auto before = StateOf(backups.disk, kElsewhere);
  CHECK(absl::IsAlreadyExists(backups.Restore().status()));
  CHECK(*StateOf(backups.disk, kElsewhere) == *before);
}

TEST_CASE("backup: after a move no daemon starts from the old directory") {
  Backups backups;
  const auto running =
      MakeMovingBackup(backups.disk, kTestDirectory, kFile, backups.Random()).status();
  CHECK(KindOf(running) == FailureKind::kInUse);
  const EngineMark at_stop = backups.daemon->mark();
  backups.daemon.reset();
  const auto moved = MakeMovingBackup(backups.disk, kTestDirectory, kFile, backups.Random());
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

TEST_CASE("backup: every flipped byte is refused before anything is made of it") {
  Backups backups;
  REQUIRE(MakeBackup(backups.disk, kTestDirectory, kFile, backups.Random()).ok());
  const std::string right = backups.disk.Content(kFile);
  for (size_t i = 0; i < right.size(); i += 3) {
    std::string bytes = right;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
    backups.disk.SetContent(kFile, bytes);
    INFO("byte ", i);
    REQUIRE(!backups.Restore().ok());
    REQUIRE(!backups.disk.Exists(std::string(kElsewhere) + "/lock"));
  }
  backups.disk.SetContent(kFile, right.substr(0, right.size() - 1));
  CHECK(KindOf(backups.Restore().status()) == FailureKind::kDamaged);
}

}  // namespace
}  // namespace anteroom::storage
