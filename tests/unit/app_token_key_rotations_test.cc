// A new key of tokens on its way into the file, and what a start makes of that file.

#include <doctest/doctest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/app/recovery.h"
#include "server/app/token_key_rotations.h"
#include "server/base/limits.h"
#include "server/engine/command.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_batch.h"
#include "server/storage/storage_status.h"
#include "tests/support/memory_files.h"
#include "tests/support/test_loop.h"

namespace anteroom::app {
namespace {

using storage::FailureKind;
using storage::KindOf;
using storage::MemoryFiles;

constexpr char kData[] = "data";
constexpr char kFile[] = "data/secrets";

auth::Secrets StoredIn(const MemoryFiles& disk) {
  auto secrets = auth::ParseSecrets(disk.Content(kFile));
  REQUIRE(secrets.ok());
  return *std::move(secrets);
}

// Connections are told apart here, and never looked into.
net::Arrival From(uintptr_t connection) {
  return {reinterpret_cast<net::Connection*>(connection), static_cast<uint32_t>(connection)};
}

class Rotating {
 public:
  explicit Rotating(MemoryFiles& disk, auth::Secrets secrets = auth::NewSecrets())
      : tokens_(secrets) {
    auto opened = storage::DataDirectory::Open(disk, kData);
    REQUIRE(opened.ok());
    directory_ = *std::move(opened);
    REQUIRE(directory_->WriteSecrets(auth::FormatSecrets(secrets)).ok());
    rotations.emplace(loop_.get(), directory_.get(), std::move(secrets), &tokens_);
  }

  TokenKeyRotations::Written Next() {
    std::optional<TokenKeyRotations::Written> written;
    loop_.RunUntil([&] {
      rotations->check_invariants();
      written = rotations->TakeWritten();
      return written.has_value();
    });
    return *std::move(written);
  }
  void Finish() {
    loop_.RunUntil([&] { return !rotations->busy(); });
  }
  protocol::Token Make(uint32_t key_id) const { return tokens_.Make(key_id, 1, "sale", "ann"); }

 private:
  TestLoop loop_;
  std::unique_ptr<storage::DataDirectory> directory_;
  auth::TokenAuthority tokens_;

 public:
  std::optional<TokenKeyRotations> rotations;
};

TEST_CASE("rotations: a new key is on disk for good before anybody hears of it") {
  MemoryFiles disk(1);
  const auth::Secrets before = auth::NewSecrets();
  Rotating rotating(disk, before);
  const protocol::Token old_token = rotating.Make(kFirstTokenKey);
  REQUIRE_FALSE(rotating.rotations->Add(From(3), "anna"));
  REQUIRE_FALSE(rotating.rotations->Add(From(4), ""));
  const auto first = rotating.Next();
  CHECK(first.status.ok());
  CHECK(first.arrival.connection == From(3).connection);
  CHECK_EQ(first.by, "anna");
  const auto second = rotating.Next();
  CHECK_EQ(second.by, "");
  CHECK_NE(first.key_id, second.key_id);
  disk.LosePower(storage::Unsynced::kDropped);
  const auth::Secrets after = StoredIn(disk);
  REQUIRE_EQ(after.token_keys.size(), 3);
  CHECK(after.token_keys[0] == before.token_keys[0]);
  CHECK_EQ(after.token_keys[1].id, first.key_id);
  CHECK_EQ(after.token_keys[2].id, second.key_id);
  CHECK(rotating.Make(kFirstTokenKey) == old_token);
  CHECK(rotating.Make(first.key_id) ==
        auth::TokenAuthority(after).Make(first.key_id, 1, "sale", "ann"));
  CHECK_FALSE(rotating.Make(first.key_id) == old_token);
}

TEST_CASE("rotations: whenever the power goes, the old keys are there, and a new one or none") {
  for (uint64_t stop = 1;; ++stop) {
    MemoryFiles disk(stop);
    const auth::Secrets before = auth::NewSecrets();
    bool written = false;
    {
      Rotating rotating(disk, before);
      disk.StopPowerAfter(stop);
      REQUIRE_FALSE(rotating.rotations->Add(From(3), ""));
      written = rotating.Next().status.ok();
    }
    const bool was_off = disk.power_is_off();
    CHECK_NE(written, was_off);
    disk.LosePower(storage::Unsynced::kRandom);
    const auth::Secrets after = StoredIn(disk);
    CHECK(after.token_keys.front() == before.token_keys.front());
    CHECK_LE(after.token_keys.size(), 2);
    if (written) CHECK_EQ(after.token_keys.size(), 2);
    if (!was_off) break;
  }
}

TEST_CASE("rotations: what the disk did not take is said, and the next one goes on from what was") {
  MemoryFiles disk(1);
  Rotating rotating(disk);
  disk.Fail(storage::Call::kSync, EIO);
  REQUIRE_FALSE(rotating.rotations->Add(From(3), ""));
  CHECK_FALSE(rotating.Next().status.ok());
  CHECK_EQ(StoredIn(disk).token_keys.size(), 1);
  // In the file, perhaps, and perhaps not.
  disk.Fail(storage::Call::kSyncDirectory, EIO);
  REQUIRE_FALSE(rotating.rotations->Add(From(3), ""));
  CHECK_FALSE(rotating.Next().status.ok());
  REQUIRE_FALSE(rotating.rotations->Add(From(3), ""));
  const auto written = rotating.Next();
  CHECK(written.status.ok());
  const auth::Secrets after = StoredIn(disk);
  REQUIRE_EQ(after.token_keys.size(), 2);
  CHECK_EQ(after.token_keys[1].id, written.key_id);
}

TEST_CASE("rotations: of who is gone, what was begun is done and the rest is not") {
  MemoryFiles disk(1);
  Rotating rotating(disk);
  for (const uintptr_t connection : {3, 4, 5}) {
    REQUIRE_FALSE(rotating.rotations->Add(From(connection), ""));
  }
  rotating.rotations->OnGone(From(3).connection);
  rotating.rotations->OnGone(From(4).connection);
  const auto first = rotating.Next();
  CHECK(first.status.ok());
  CHECK(first.arrival.connection == nullptr);
  // The stop: those who are there are told, what a thread has is waited for.
  const std::vector<net::Arrival> left = rotating.rotations->TakeAll();
  REQUIRE_EQ(left.size(), 1);
  CHECK(left[0].connection == From(5).connection);
  rotating.Finish();
  CHECK_EQ(StoredIn(disk).token_keys.size(), 3);
}

TEST_CASE("rotations: so many may wait, and so many keys may be") {
  MemoryFiles disk(1);
  auth::Secrets secrets = auth::NewSecrets();
  while (secrets.token_keys.size() < limits::kTokenKeysMax - 2) auth::AddNewTokenKey(&secrets);
  Rotating rotating(disk, std::move(secrets));
  REQUIRE_FALSE(rotating.rotations->Add(From(3), ""));
  REQUIRE_FALSE(rotating.rotations->Add(From(4), ""));
  const auto full = rotating.rotations->Add(From(5), "");
  REQUIRE(full);
  CHECK(full->error == protocol::ErrorCode::kConflict);
  CHECK(rotating.Next().status.ok());
  CHECK(rotating.Next().status.ok());
  CHECK(rotating.rotations->Add(From(5), ""));
  CHECK_EQ(StoredIn(disk).token_keys.size(), limits::kTokenKeysMax);

  MemoryFiles other(1);
  Rotating fresh(other);
  for (size_t i = 0; i < limits::kTokenKeyRotationsWaitingMax; ++i) {
    REQUIRE_FALSE(fresh.rotations->Add(From(3), ""));
  }
  const auto busy = fresh.rotations->Add(From(3), "");
  REQUIRE(busy);
  CHECK(busy->error == protocol::ErrorCode::kUnavailable);
  for (size_t i = 0; i < limits::kTokenKeyRotationsWaitingMax; ++i) CHECK(fresh.Next().status.ok());
}

// ---- starts ----

absl::StatusOr<Recovered> Start(MemoryFiles& disk) {
  RecoveryOptions options;
  options.directory = kData;
  options.segment_bytes = storage::kSegmentBytesMin;
  return Recover(disk, options);
}

void Use(Recovered& daemon, uint32_t key_id) {
  const command::UseTokenKey use{key_id};
  std::string record;
  EncodeRecord(1, use, &record);
  storage::BatchBuilder builder(daemon.writer->next_sequence(),
                                daemon.writer->frame_payload_bytes_max());
  builder.Stage(storage::MarkOf(*daemon.engine), record);
  Effects effects;
  daemon.engine->Apply(1, use, &effects);
  storage::Batch batch = builder.Seal();
  REQUIRE(daemon.writer->Write(batch).ok());
}

TEST_CASE("recovery: a key that no record names is one that a crash came after") {
  MemoryFiles disk(1);
  REQUIRE(Start(disk).ok());
  auth::Secrets secrets = StoredIn(disk);
  auth::AddNewTokenKey(&secrets);
  disk.SetContent(kFile, auth::FormatSecrets(secrets));
  auto again = Start(disk);
  REQUIRE(again.ok());
  CHECK(again->secrets.token_keys == secrets.token_keys);
  CHECK(again->engine->token_keys().empty());
}

TEST_CASE("recovery: secrets without a key that a record names are refused") {
  MemoryFiles disk(1);
  uint32_t key_id = 0;
  std::string without;
  {
    auto daemon = Start(disk);
    REQUIRE(daemon.ok());
    without = disk.Content(kFile);
    auth::AddNewTokenKey(&daemon->secrets);
    key_id = daemon->secrets.token_keys.back().id;
    disk.SetContent(kFile, auth::FormatSecrets(daemon->secrets));
    Use(*daemon, key_id);
  }
  const std::string with = disk.Content(kFile);
  disk.SetContent(kFile, without);
  const absl::Status refused = Start(disk).status();
  CHECK(KindOf(refused) == FailureKind::kSecretMissing);
  CHECK(std::string(refused.message()).find("token key " + std::to_string(key_id)) !=
        std::string::npos);
  CHECK_EQ(disk.Content(kFile), without);
  disk.SetContent(kFile, with);
  auto again = Start(disk);
  REQUIRE(again.ok());
  CHECK_EQ(again->engine->TokenKeyOf(1), key_id);
}

TEST_CASE("recovery: the first key is the one that the log names, in whatever company") {
  MemoryFiles disk(1);
  REQUIRE(Start(disk).ok());
  auth::Secrets secrets = StoredIn(disk);
  auth::AddNewTokenKey(&secrets);
  std::swap(secrets.token_keys[0], secrets.token_keys[1]);
  disk.SetContent(kFile, auth::FormatSecrets(secrets));
  CHECK(storage::KindOf(Start(disk).status()) == storage::FailureKind::kSecretMissing);
}

}  // namespace
}  // namespace anteroom::app
