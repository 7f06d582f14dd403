// The log: what a record costs the loop, what a batch costs the pool, how fast a log is read again.
//
//   build/bin/log_bench                    files in /var/tmp, which is seldom a disk in memory
//   TMPDIR=. build/bin/log_bench           files elsewhere
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "server/storage/log_batch.h"
#include "server/storage/log_format.h"
#include "server/storage/log_recovery.h"
#include "server/storage/log_writer.h"
#include "server/storage/posix_files.h"

namespace anteroom::storage {
namespace {

// A join of a 16-byte id.
constexpr size_t kRecordBytes = 44;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* parent = std::getenv("TMPDIR");
    std::string pattern =
        std::string(parent != nullptr ? parent : "/var/tmp") + "/log_bench_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

LogOptions Options() {
  LogOptions options;
  options.random = [random = std::mt19937_64(1)]() mutable { return random(); };
  return options;
}

std::unique_ptr<LogWriter> OpenWriter(Files& files, const std::string& path) {
  auto writer = LogWriter::Open(files, path, RecoveredLog(), Options());
  if (!writer.ok()) std::abort();
  return *std::move(writer);
}

class Ignoring : public LogVisitor {
 public:
  absl::Status Record(uint64_t, std::string_view bytes) override {
    bytes_ += bytes.size();
    return absl::OkStatus();
  }
  absl::Status Mark(MarkPlace, uint64_t, const EngineMark&) override { return absl::OkStatus(); }
  uint64_t bytes_ = 0;
};

// On the loop.
void BM_Stage(benchmark::State& state) {
  BatchBuilder builder(1, kFramePayloadBytesMax);
  const std::string record(kRecordBytes, 'r');
  const EngineMark mark;
  for (auto _ : state) {
    benchmark::DoNotOptimize(builder.Stage(mark, record));
    if (builder.staged_records() == 4096) builder.Recycle(builder.Seal());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Stage);

// On the pool, without the disk.
void BM_SealBatch(benchmark::State& state) {
  std::string bytes(kBatchHeaderBytes + static_cast<size_t>(state.range(0)), 'b');
  for (auto _ : state) {
    SealBatch(bytes, BatchType::kRecords, 1, 1, 12345);
    benchmark::DoNotOptimize(bytes.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SealBatch)->Arg(48)->Arg(4096)->Arg(1 << 20);

// A batch of so many records, written and synced.
void BM_Write(benchmark::State& state) {
  const TemporaryDirectory directory;
  PosixFiles files;
  const auto writer = OpenWriter(files, directory.path());
  BatchBuilder builder(1, writer->frame_payload_bytes_max());
  const std::string record(kRecordBytes, 'r');
  for (auto _ : state) {
    for (int64_t i = 0; i < state.range(0); ++i) builder.Stage(EngineMark(), record);
    Batch batch = builder.Seal();
    if (!writer->Write(batch).ok()) std::abort();
    builder.Recycle(std::move(batch));
    if (writer->needs_prepare() && !writer->PrepareNext().ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Write)->ArgName("records")->Arg(1)->Arg(100)->Arg(10000)->UseRealTime()->Unit(
    benchmark::kMicrosecond);

void BM_PrepareNext(benchmark::State& state) {
  const TemporaryDirectory directory;
  PosixFiles files;
  for (auto _ : state) {
    const auto writer = OpenWriter(files, directory.path());
    if (!writer->PrepareNext().ok()) std::abort();
    state.PauseTiming();
    std::filesystem::remove(directory.path() + "/00000001.log");
    std::filesystem::remove(directory.path() + "/00000002.log");
    state.ResumeTiming();
  }
}
BENCHMARK(BM_PrepareNext)->UseRealTime()->Unit(benchmark::kMicrosecond);

// Reading without an engine behind it.
void BM_Recover(benchmark::State& state) {
  const TemporaryDirectory directory;
  PosixFiles files;
  {
    const auto writer = OpenWriter(files, directory.path());
    BatchBuilder builder(1, writer->frame_payload_bytes_max());
    const std::string record(kRecordBytes, 'r');
    for (int64_t i = 0; i < state.range(0); ++i) builder.Stage(EngineMark(), record);
    Batch batch = builder.Seal();
    if (!writer->Write(batch).ok()) std::abort();
  }
  for (auto _ : state) {
    Ignoring visitor;
    if (!RecoverLog(files, directory.path(), {}, visitor).ok()) std::abort();
    benchmark::DoNotOptimize(visitor.bytes_);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Recover)->Arg(1)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace anteroom::storage
