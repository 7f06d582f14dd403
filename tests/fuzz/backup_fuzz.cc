// A backup: one that is made of any log is restored to the same state, the moved log is over, and
// with a byte changed it is refused; one from anywhere is restored or refused for what it is, and
// nothing is begun before all of it is known to be right.
//
//   input = 1 byte: 0 made, 1 sealed (log_directory.h), 2 the rest as it is
//   made  = 1 byte is it moved, 2 bytes place, 1 byte to xor with, commands (command_source.h)

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/base/check.h"
#include "server/engine/engine.h"
#include "server/storage/backup.h"
#include "server/storage/engine_replay.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/command_source.h"
#include "tests/fuzz/log_directory.h"
#include "tests/fuzz/targets.h"
#include "tests/support/engine_entries.h"
#include "tests/support/logged_engine.h"
#include "tests/support/memory_files.h"

namespace anteroom::storage {
namespace {

using fuzz::ByteSource;
using fuzz::CommandSource;

constexpr char kFile[] = "backups/one";
constexpr char kElsewhere[] = "elsewhere";
// What the log of a made backup holds at most, so that an input takes milliseconds.
constexpr size_t kRecordsMax = 1000;

std::function<uint64_t()> SomeNumbers() {
  return [number = uint64_t{0}]() mutable { return ++number; };
}

absl::Status AnySecrets(std::string_view, uint32_t, const Engine&) {
  return absl::OkStatus();
}

absl::StatusOr<BackupContent> Restore(MemoryFiles& files) {
  return RestoreBackup(files, kFile, kElsewhere, kSegmentBytesMin, AnySecrets, SomeNumbers());
}

EngineMark MarkOfLog(MemoryFiles& files, const std::string& directory) {
  Engine engine(EngineOptions{});
  EngineReplay replay(&engine);
  const auto log = RecoverLog(files, directory, {}, replay);
  CHECK(log.ok());
  engine.check_invariants();
  return MarkOf(engine);
}

// It is right, and so is what is restored from it.
void CheckRestored(MemoryFiles& files) {
  const auto content = Restore(files);
  CHECK(content.ok());
  CHECK(MarkOfLog(files, kElsewhere) == content->mark);
  CHECK(ReadSecrets(files, kElsewhere).ok());
}

void CheckRefused(MemoryFiles& files, const absl::Status& status) {
  const FailureKind kind = KindOf(status);
  CHECK(kind == FailureKind::kDamaged || kind == FailureKind::kNewerFormat);
  CHECK(!status.message().empty());
  CHECK(!files.Exists(JoinPath(kElsewhere, "secrets")));
}

// Commands that were taken from an input beforehand.
struct TakenRecords {
  explicit TakenRecords(ByteSource* source) {
    CommandSource commands(source);
    while (!commands.empty() && records.size() < kRecordsMax) records.push_back(commands.Next());
  }
  const std::string& Next() { return records[next++]; }

  std::vector<std::string> records;
  size_t next = 0;
};

void TryMade(ByteSource& source, MemoryFiles& files) {
  const bool moves = source.Flag();
  const size_t place = source.Short();
  const uint8_t damage = source.Byte();
  TakenRecords records(&source);
  if (records.records.empty()) return;
  EngineMark mark;
  {
    LoggedEngine daemon;
    CHECK(daemon.Start(files).ok());
    CHECK(daemon.Run(records, static_cast<int>(records.records.size())).ok());
    mark = daemon.mark();
  }
  const auto make = moves ? MakeMovingBackup : MakeBackup;
  const auto made = make(files, kTestDirectory, kFile, AnySecrets, SomeNumbers());
  CHECK(made.ok());
  CHECK(made->mark == mark);
  CHECK_EQ(made->next_sequence, records.records.size() + 1);
  CHECK_EQ(KindOf(LoggedEngine().Start(files)) == FailureKind::kMoved, moves);

  std::string bytes = files.Content(kFile);
  if (damage != 0 && place < bytes.size()) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ damage);
    files.SetContent(kFile, damaged);
    const auto restored = Restore(files);
    CHECK(!restored.ok());
    CheckRefused(files, restored.status());
    files.SetContent(kFile, bytes);
  }
  CheckRestored(files);
  CHECK(MarkOfLog(files, kElsewhere) == mark);
}

// A file that is right but for its mark, which cannot be guessed, is written once more with the
// one that is.
void MendMark(MemoryFiles& files) {
  std::vector<std::string> entries;
  const auto header = ReadSnapshot(files, kFile, SnapshotKind::kBackup, [&](const auto& some) {
    entries.insert(entries.end(), some.begin(), some.end());
    return absl::OkStatus();
  });
  if (!header.ok()) return;
  Engine engine(EngineOptions{});
  if (!LoadEntries({entries.begin() + 1, entries.end()}, &engine).empty()) return;
  SegmentHeader mended = *header;
  mended.mark = MarkOf(engine);
  const auto writer = SnapshotWriter::Create(files, kFile, SnapshotKind::kBackup, mended);
  CHECK(writer.ok());
  for (const std::string& entry : entries) CHECK((*writer)->Add(entry).ok());
  CHECK((*writer)->Finish().ok());
}

}  // namespace
}  // namespace anteroom::storage

void anteroom::fuzz::TryBackup(std::string_view input) {
  using namespace storage;  // NOLINT(google-build-using-namespace): the whole function
  ByteSource source(input);
  MemoryFiles files(1);
  CHECK(files.MakeDirectory("backups").ok());
  const uint64_t how = source.Below(3);
  if (how == 0) {
    TryMade(source, files);
    return;
  }
  files.SetContent(kFile, how == 1 ? MakeSnapshotFile(&source, SnapshotKind::kBackup)
                                   : std::string(source.rest()));
  const auto restored = Restore(files);
  if (restored.ok()) {
    CHECK(MarkOfLog(files, kElsewhere) == restored->mark);
    return;
  }
  CheckRefused(files, restored.status());
  const std::string before = files.Content(kFile);
  MendMark(files);
  if (files.Content(kFile) == before) return;
  const auto mended = Restore(files);
  if (mended.ok()) {
    CHECK(MarkOfLog(files, kElsewhere) == mended->mark);
  } else {
    CheckRefused(files, mended.status());
  }
}
