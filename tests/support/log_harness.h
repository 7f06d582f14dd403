// What the tests of the log share: a stand-in for the engine, and a stand-in for the daemon that
// starts, appends and stops on any `Files`.
#ifndef ANTEROOM_TESTS_SUPPORT_LOG_HARNESS_H_
#define ANTEROOM_TESTS_SUPPORT_LOG_HARNESS_H_

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/storage/data_directory.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_recovery.h"
#include "server/storage/log_writer.h"
#include "server/storage/storage_status.h"
#include "tests/support/sampled.h"

namespace anteroom::storage {

// A state with a digest: all that the log knows of an engine.
class Tally {
 public:
  void Apply(std::string_view record) {
    mark_.digest_low += XXH3_64bits(record.data(), record.size());
    mark_.digest_high = mark_.digest_high * 31 + mark_.digest_low;
    ++mark_.engine_time_ms;
  }
  const EngineMark& mark() const { return mark_; }

 private:
  EngineMark mark_;
};

// Collects the records and compares every mark.
class Replay : public LogVisitor {
 public:
  absl::Status Record(uint64_t sequence, std::string_view bytes) override {
    if (sequence != records.size() + 1) return absl::InternalError("records out of sequence");
    records.emplace_back(bytes);
    tally.Apply(bytes);
    return absl::OkStatus();
  }
  absl::Status Mark(MarkPlace place, uint64_t next_sequence, const EngineMark& mark) override {
    if (next_sequence != records.size() + 1) return absl::InternalError("mark out of sequence");
    if (!(mark == tally.mark())) return absl::DataLossError("the digest differs");
    ++(place == MarkPlace::kSegmentStart ? segment_marks : stop_marks);
    return absl::OkStatus();
  }

  std::vector<std::string> records;
  Tally tally;
  int segment_marks = 0;
  int stop_marks = 0;
};

inline constexpr char kTestDirectory[] = "data";

inline LogOptions SmallLog(uint64_t seed = 7) {
  LogOptions options;
  options.segment_bytes = kSegmentBytesMin;
  auto random = std::make_shared<std::mt19937_64>(seed);
  options.random = [random] { return (*random)(); };
  return options;
}

// Invariant: `replay.records` is what the engine has applied, written or not.
struct TestDaemon {
  // Everything a daemon does before it answers.
  absl::Status Start(Files& files, LogOptions options = SmallLog()) {
    absl::StatusOr<std::unique_ptr<DataDirectory>> opened =
        DataDirectory::Open(files, kTestDirectory);
    if (!opened.ok()) return opened.status();
    directory = *std::move(opened);
    const auto made = directory->LoadOrCreateSecrets([] { return std::string("secret"); });
    if (!made.ok()) return made.status();
    if (*made != "secret") return absl::DataLossError("other secrets");
    const auto recovery =
        RecoverLog(files, kTestDirectory, {RecoveryMode::kMend, options.kind}, replay);
    if (!recovery.ok()) return recovery.status();
    log = *recovery;
    auto opened_writer = LogWriter::Open(files, kTestDirectory, log, std::move(options));
    if (!opened_writer.ok()) return opened_writer.status();
    writer = *std::move(opened_writer);
    builder.emplace(log.next_sequence, writer->frame_payload_bytes_max());
    return absl::OkStatus();
  }

  void Stage(const std::string& record) {
    builder->Stage(replay.tally.mark(), record);
    replay.records.push_back(record);
    replay.tally.Apply(record);
  }

  // One batch of these records, written and synced.
  absl::Status Append(const std::vector<std::string>& records) {
    for (const std::string& record : records) Stage(record);
    Batch batch = builder->Seal();
    const absl::Status status = writer->Write(batch);
    builder->Recycle(std::move(batch));
    return status;
  }

  absl::Status Stop() { return writer->WriteEnd(replay.tally.mark()); }

  Replay replay;
  std::unique_ptr<DataDirectory> directory;
  RecoveredLog log;
  std::unique_ptr<LogWriter> writer;
  std::optional<BatchBuilder> builder;
};

// What a reader that changes nothing says.
inline absl::StatusOr<RecoveredLog> Inspect(Files& files, Replay& replay) {
  return RecoverLog(files, kTestDirectory, {RecoveryMode::kInspect, std::nullopt}, replay);
}

}  // namespace anteroom::storage

#endif  // ANTEROOM_TESTS_SUPPORT_LOG_HARNESS_H_
