// Appends batches to the log.
//
//   absl::StatusOr<std::unique_ptr<LogWriter>> writer = LogWriter::Open(...);  // before the loop
//   writer->Write(batch)      pool job: returns when all of it is on disk
//   writer->PrepareNext()     pool job: whenever needs_prepare()
//   writer->WriteEnd(mark)    the last job of a clean stop
//
// Threads: it knows nothing of libuv; its calls block and are meant for a thread pool.
//   Write, WriteEnd        any thread, one of them at a time
//   PrepareNext            any thread, one at a time; may run beside a Write
//   needs_prepare, segment_number and the other numbers   any thread, at any time
//   check_invariants       while no job runs
// `options.random` is called by Write when it goes over to the next segment.
//
// Errors: kNoSpace from PrepareNext or Write means that the next segment cannot be reserved. No
// byte of what was asked is half done: PrepareNext may be called again, and so may Write with the
// same batch, which goes on with what is not written yet. Any other error poisons the writer:
// every later call returns it, nothing more is written, and the daemon has to end.
#ifndef ANTEROOM_SERVER_STORAGE_LOG_WRITER_H_
#define ANTEROOM_SERVER_STORAGE_LOG_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_format.h"
#include "server/storage/log_recovery.h"

namespace anteroom::storage {

struct LogOptions {
  // Of segments made from now on; kSegmentBytesMin to kSegmentBytesMax, a multiple of 4096.
  uint64_t segment_bytes = kSegmentBytesDefault;
  // 64 unpredictable bits; salts of segments come from it.
  std::function<uint64_t()> random;
  // Written into the headers of new segments.
  uint64_t epoch = 0;
  uint32_t token_key_id = 0;
  // For an empty directory only; later the log itself knows.
  DirectoryKind kind = DirectoryKind::kReal;
  EngineMark initial_mark;
};

// A first segment appears under its name only when it is complete: from then on one without a
// header is damage and never a beginning. Blocks.
absl::StatusOr<std::unique_ptr<File>> MakeSegment(Files& files, const std::string& directory,
                                                  const SegmentHeader& header);

// Invariants: 1. what is before `offset_bytes_` in the segment is on disk and valid, what is after
// it is zero; 2. room for a `next` batch is always left; 3. at most one spare is kept, it is of
// full size, all zero and on disk; 4. once `failure_` is set no file is touched again.
class LogWriter {
 public:
  // Goes on where recovery (kMend) ended, or begins a log. Blocks.
  static absl::StatusOr<std::unique_ptr<LogWriter>> Open(Files& files, std::string directory,
                                                         const RecoveredLog& recovered,
                                                         LogOptions options);
  ~LogWriter();

  // Writes the batch, frame by frame, each synced before the next, in every durability: a lost
  // write before a kept one would read as damage.
  absl::Status Write(Batch& batch);

  // Writes and syncs the end record; `mark` is the engine's final state. Nothing may be written
  // after it.
  absl::Status WriteEnd(const EngineMark& mark);

  // Writes and syncs that this log goes on elsewhere, as `epoch`. Nothing may be written after it,
  // and no daemon starts from it.
  absl::Status WriteMoved(uint64_t epoch, const EngineMark& mark);

  // Reserves the segment after the current one, unless that is done.
  absl::Status PrepareNext();
  bool needs_prepare() const { return spare_bytes_left_.load(std::memory_order_acquire) == 0; }

  // Bytes that batches can still take before a new segment must be had, headers and the gap at a
  // segment's end counted off as far as they are known beforehand.
  uint64_t reserved_bytes_left() const;
  // Of segments made from now on.
  uint64_t segment_bytes() const { return options_.segment_bytes; }
  size_t frame_payload_bytes_max() const { return frame_payload_bytes_max_; }
  // Of the segment that is written to. Those before it are closed, and its header is on disk.
  uint32_t segment_number() const { return segment_number_.load(std::memory_order_acquire); }
  uint64_t next_sequence() const { return next_sequence_.load(std::memory_order_acquire); }

  void check_invariants();

 private:
  LogWriter(Files& files, std::string directory, LogOptions options);

  absl::Status BeginLog();
  absl::Status ContinueLog(const RecoveredLog& recovered);
  absl::Status WriteFrame(std::string& bytes, BatchType type, uint64_t first_sequence,
                          uint32_t record_count, const EngineMark& mark);
  absl::Status WriteLast(BatchType type, std::string_view payload, const EngineMark& mark);
  absl::Status RollOver(const EngineMark& mark);
  absl::Status PrepareNextLocked();
  absl::Status Poison(absl::Status failure);
  absl::Status failure();
  SegmentHeader NewHeader(uint32_t segment_number, uint64_t segment_bytes, const EngineMark& mark);

  Files& files_;
  const std::string directory_;
  const LogOptions options_;
  const size_t frame_payload_bytes_max_;

  // Of the writing thread.
  std::unique_ptr<File> file_;
  SegmentHeader header_;
  uint64_t offset_bytes_ = 0;
  bool segment_closed_ = false;
  bool ended_ = false;

  // The next segment; under `spare_mutex_`, which PrepareNext holds while it works.
  std::mutex spare_mutex_;
  std::unique_ptr<File> spare_;
  uint64_t spare_bytes_ = 0;  // its size

  std::mutex failure_mutex_;
  absl::Status failure_;

  std::atomic<uint32_t> segment_number_{0};
  std::atomic<uint64_t> next_sequence_{1};
  std::atomic<uint64_t> current_bytes_left_{0};
  std::atomic<uint64_t> spare_bytes_left_{0};
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_LOG_WRITER_H_
