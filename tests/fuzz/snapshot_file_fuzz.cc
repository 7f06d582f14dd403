// The file of a snapshot: its entries are read, or it is refused and named; written once more they
// are read as the same.

#include <string>
#include <utility>
#include <vector>

#include "server/base/check.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/log_directory.h"
#include "tests/fuzz/targets.h"
#include "tests/support/memory_files.h"

void anteroom::fuzz::TrySnapshotFile(std::string_view input) {
  using namespace anteroom::storage;  // NOLINT(google-build-using-namespace): the whole function
  ByteSource source(input);
  MemoryFiles files(1);
  CHECK(files.MakeDirectory(kLogDirectory).ok());
  const std::string path = JoinPath(kLogDirectory, SnapshotFileName(1));
  // The first byte: as it is, or sealed.
  constexpr SnapshotKind kKind = SnapshotKind::kSnapshot;
  files.SetContent(path,
                   source.Flag() ? std::string(source.rest()) : MakeSnapshotFile(&source, kKind));
  std::vector<std::string> entries;
  const TakeEntries take = [&](const std::vector<std::string_view>& some) {
    entries.insert(entries.end(), some.begin(), some.end());
    return absl::OkStatus();
  };
  const auto header = ReadSnapshot(files, path, kKind, take);
  if (!header.ok()) {
    const FailureKind kind = KindOf(header.status());
    CHECK(kind == FailureKind::kDamaged || kind == FailureKind::kNewerFormat);
    CHECK(header.status().message().find("00000001.snap") != absl::string_view::npos);
    return;
  }
  const auto writer = SnapshotWriter::Create(files, path, kKind, *header);
  CHECK(writer.ok());
  for (const std::string& entry : entries) CHECK((*writer)->Add(entry).ok());
  CHECK((*writer)->Finish().ok());
  const std::vector<std::string> before = std::exchange(entries, {});
  CHECK(ReadSnapshot(files, path, kKind, take).ok());
  CHECK(entries == before);
}
