// A directory of segments and snapshots: it is read or refused for what it is; reading changes
// nothing; what was read once is what a start reads, and the log goes on from there, with one more
// record, which the next start finds. An engine takes up what it can of the same directory.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/check.h"
#include "server/engine/engine.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_recovery.h"
#include "server/storage/log_writer.h"
#include "server/storage/storage_status.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/log_directory.h"
#include "tests/fuzz/targets.h"
#include "tests/support/memory_files.h"

namespace anteroom::storage {
namespace {

using fuzz::kLogDirectory;

// A header may ask for a segment of 1 GiB; there is no room for it here.
constexpr uint64_t kDiskBytes = 1u << 20;

// Takes everything and compares nothing.
class Collector : public LogVisitor {
 public:
  absl::Status SnapshotEntries(const std::vector<std::string_view>& entries) override {
    said.insert(said.end(), entries.begin(), entries.end());
    return absl::OkStatus();
  }
  absl::Status Record(uint64_t sequence, std::string_view bytes) override {
    if (last_sequence != 0) CHECK_EQ(sequence, last_sequence + 1);
    last_sequence = sequence;
    said.emplace_back(bytes);
    return absl::OkStatus();
  }
  absl::Status Mark(MarkPlace, uint64_t, const EngineMark&) override { return absl::OkStatus(); }

  std::vector<std::string> said;  // entries, then records
  uint64_t last_sequence = 0;
};

// An engine that takes any mark for right, but works its own out.
class Believer : public EngineReplay {
 public:
  explicit Believer(Engine* engine) : EngineReplay(engine), engine_(*engine) {}
  absl::Status Mark(MarkPlace, uint64_t, const EngineMark&) override {
    engine_.check_invariants();
    return absl::OkStatus();
  }

 private:
  Engine& engine_;
};

// What may be wrong with files that can be read and written.
void CheckRefusal(const absl::Status& status) {
  const FailureKind kind = KindOf(status);
  CHECK(kind == FailureKind::kDamaged || kind == FailureKind::kNewerFormat);
  CHECK(!status.message().empty());
}

std::vector<std::string> AllFiles(MemoryFiles& files) {
  std::vector<std::string> content;
  const auto names = files.List(kLogDirectory);
  CHECK(names.ok());
  for (const std::string& name : *names) {
    content.push_back(name);
    content.push_back(files.Content(JoinPath(kLogDirectory, name)));
  }
  return content;
}

void GoOn(MemoryFiles& files, const RecoveredLog& log, std::vector<std::string> said) {
  uint64_t random = 0;
  LogOptions options;
  options.segment_bytes = kSegmentBytesMin;
  options.random = [&] { return ++random; };
  const auto writer = LogWriter::Open(files, kLogDirectory, log, options);
  if (!writer.ok()) {
    CHECK(KindOf(writer.status()) == FailureKind::kNoSpace);
    return;
  }
  BatchBuilder builder(log.next_sequence, (*writer)->frame_payload_bytes_max());
  said.push_back("one more");
  builder.Stage(EngineMark(), said.back());
  Batch batch = builder.Seal();
  const absl::Status written = (*writer)->Write(batch);
  if (!written.ok()) {
    CHECK(KindOf(written) == FailureKind::kNoSpace);
    return;
  }
  Collector later;
  const auto again = RecoverLog(files, kLogDirectory, {}, later);
  CHECK(again.ok());
  CHECK(!again->torn_end.has_value());
  CHECK_EQ(again->next_sequence, log.next_sequence + 1);
  CHECK(later.said == said);
}

}  // namespace
}  // namespace anteroom::storage

void anteroom::fuzz::TryLog(std::string_view input) {
  using namespace storage;  // NOLINT(google-build-using-namespace): the whole function
  ByteSource source(input);
  MemoryFiles files(1);
  MakeLogDirectory(&source, &files);
  files.set_capacity_bytes(kDiskBytes);
  const std::vector<std::string> before = AllFiles(files);

  Engine engine(EngineOptions{});
  Believer believer(&engine);
  const auto believed = RecoverLog(files, kLogDirectory, {}, believer);
  if (!believed.ok()) CheckRefusal(believed.status());
  if (believed.ok()) engine.check_invariants();

  Collector collector;
  const auto read = RecoverLog(files, kLogDirectory, {}, collector);
  CHECK(AllFiles(files) == before);
  if (!read.ok()) {
    CHECK(!believed.ok());
    CheckRefusal(read.status());
    return;
  }
  CHECK_EQ(collector.said.size(), read->snapshot_entry_count + read->record_count);

  Collector started;
  const auto log = RecoverLog(files, kLogDirectory, {.mode = RecoveryMode::kMend}, started);
  CHECK_EQ(KindOf(log.status()) == FailureKind::kMoved, read->moved_to_epoch != 0);
  if (!log.ok()) {
    const FailureKind kind = KindOf(log.status());
    CHECK(kind == FailureKind::kNoSpace || kind == FailureKind::kMoved);
    return;
  }
  CHECK(started.said == collector.said);
  CHECK_EQ(log->next_sequence, read->next_sequence);
  CHECK_EQ(log->torn_end.has_value(), read->torn_end.has_value());
  GoOn(files, *log, std::move(started.said));
}
