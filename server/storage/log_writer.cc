#include "server/storage/log_writer.h"

#include <algorithm>
#include <utility>

#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

constexpr uint32_t kFirstSegmentNumber = 1;

uint64_t RoundUp(uint64_t bytes) {
  return (bytes + kSegmentBytesMultiple - 1) / kSegmentBytesMultiple * kSegmentBytesMultiple;
}

uint64_t AlignedBatchBytes(size_t bytes) {
  return (bytes + kBatchAlignmentBytes - 1) / kBatchAlignmentBytes * kBatchAlignmentBytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<File>> MakeSegment(Files& files, const std::string& directory,
                                                  const SegmentHeader& header) {
  const std::string path = JoinPath(directory, SegmentFileName(header.segment_number));
  const std::string temporary_path = path + ".tmp";
  absl::StatusOr<std::unique_ptr<File>> file = files.Open(temporary_path, OpenMode::kAnew);
  if (!file.ok()) return file.status();
  absl::Status status = (*file)->Reserve(header.segment_bytes);
  if (status.ok()) status = WriteFully(**file, 0, EncodeSegmentHeader(header));
  if (status.ok()) status = (*file)->Sync();
  if (!status.ok()) {
    // Blocks that a failed reservation got are of use to others. It fails at worst.
    files.Remove(temporary_path).IgnoreError();
    return status;
  }
  status = files.Rename(temporary_path, path);
  if (status.ok()) status = files.SyncDirectory(directory);
  if (!status.ok()) return status;
  return file;
}

absl::StatusOr<std::unique_ptr<LogWriter>> LogWriter::Open(Files& files, std::string directory,
                                                           const RecoveredLog& recovered,
                                                           LogOptions options) {
  if (options.segment_bytes < kSegmentBytesMin || options.segment_bytes > kSegmentBytesMax ||
      options.segment_bytes % kSegmentBytesMultiple != 0) {
    return absl::InvalidArgumentError("the segment size must be a multiple of " +
                                      std::to_string(kSegmentBytesMultiple) + " from " +
                                      std::to_string(kSegmentBytesMin) + " to " +
                                      std::to_string(kSegmentBytesMax) + " bytes");
  }
  CHECK(options.random != nullptr);
  std::unique_ptr<LogWriter> writer(new LogWriter(files, std::move(directory), std::move(options)));
  const absl::Status status = recovered.empty ? writer->BeginLog() : writer->ContinueLog(recovered);
  if (!status.ok()) return status;
  return writer;
}

LogWriter::LogWriter(Files& files, std::string directory, LogOptions options)
    : files_(files),
      directory_(std::move(directory)),
      options_(std::move(options)),
      frame_payload_bytes_max_(FramePayloadBytesMax(options_.segment_bytes)) {}

LogWriter::~LogWriter() = default;

SegmentHeader LogWriter::NewHeader(uint32_t segment_number, uint64_t segment_bytes,
                                   const EngineMark& mark) {
  SegmentHeader header;
  header.salt = options_.random();
  header.segment_number = segment_number;
  header.kind = segment_number == kFirstSegmentNumber ? options_.kind : header_.kind;
  header.segment_bytes = segment_bytes;
  header.first_sequence = next_sequence();
  header.mark = mark;
  header.epoch = options_.epoch;
  header.log_id = segment_number == kFirstSegmentNumber ? options_.random() : header_.log_id;
  header.token_key_id = options_.token_key_id;
  return header;
}

absl::Status LogWriter::BeginLog() {
  header_ = NewHeader(kFirstSegmentNumber, options_.segment_bytes, options_.initial_mark);
  absl::StatusOr<std::unique_ptr<File>> file = MakeSegment(files_, directory_, header_);
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  offset_bytes_ = kSegmentHeaderBytes;
  segment_number_.store(kFirstSegmentNumber);
  current_bytes_left_.store(header_.segment_bytes - offset_bytes_ - kNextBatchBytes);
  return absl::OkStatus();
}

absl::Status LogWriter::ContinueLog(const RecoveredLog& recovered) {
  const std::string name = SegmentFileName(recovered.last_header.segment_number);
  absl::StatusOr<std::unique_ptr<File>> file =
      files_.Open(JoinPath(directory_, name), OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  file_ = *std::move(file);
  header_ = recovered.last_header;
  offset_bytes_ = recovered.end_offset_bytes;
  segment_closed_ = recovered.segment_closed;
  segment_number_.store(header_.segment_number);
  next_sequence_.store(recovered.next_sequence);
  current_bytes_left_.store(
      segment_closed_ ? 0 : header_.segment_bytes - offset_bytes_ - kNextBatchBytes);
  return absl::OkStatus();
}

absl::Status LogWriter::Write(Batch& batch) {
  CHECK(!ended_);
  const absl::Status earlier = failure();
  if (!earlier.ok()) return earlier;
  for (; batch.written_ < batch.frames_.size(); ++batch.written_) {
    Frame& frame = batch.frames_[batch.written_];
    const absl::Status status = WriteFrame(frame.bytes, BatchType::kRecords, frame.first_sequence,
                                           frame.record_count, frame.mark);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LogWriter::WriteEnd(const EngineMark& mark) {
  return WriteLast(BatchType::kEnd, EncodeEndPayload(mark), mark);
}

absl::Status LogWriter::WriteMoved(uint64_t epoch, const EngineMark& mark) {
  return WriteLast(BatchType::kMoved, EncodeNumberPayload(epoch), mark);
}

absl::Status LogWriter::WriteLast(BatchType type, std::string_view payload,
                                  const EngineMark& mark) {
  CHECK(!ended_);
  const absl::Status earlier = failure();
  if (!earlier.ok()) return earlier;
  std::string bytes(kBatchHeaderBytes, '\0');
  bytes += payload;
  const absl::Status status = WriteFrame(bytes, type, next_sequence(), 0, mark);
  if (status.ok()) ended_ = true;
  return status;
}

absl::Status LogWriter::WriteFrame(std::string& bytes, BatchType type, uint64_t first_sequence,
                                   uint32_t record_count, const EngineMark& mark) {
  CHECK_EQ(first_sequence, next_sequence());
  const uint64_t size_bytes = AlignedBatchBytes(bytes.size());
  if (segment_closed_ || offset_bytes_ + size_bytes + kNextBatchBytes > header_.segment_bytes) {
    const absl::Status status = RollOver(mark);
    if (!status.ok()) return status;
  }
  CHECK(offset_bytes_ + size_bytes + kNextBatchBytes <= header_.segment_bytes);
  SealBatch(bytes, type, first_sequence, record_count, header_.salt);
  CHECK_EQ(bytes.size(), size_bytes);
  absl::Status status = WriteFully(*file_, offset_bytes_, bytes);
  if (status.ok()) status = file_->Sync();
  if (!status.ok() && !ANTEROOM_CANARY(kFailedSyncIgnored)) return Poison(std::move(status));
  offset_bytes_ += size_bytes;
  next_sequence_.store(first_sequence + record_count, std::memory_order_release);
  current_bytes_left_.store(header_.segment_bytes - offset_bytes_ - kNextBatchBytes,
                            std::memory_order_release);
  return absl::OkStatus();
}

// The order of the writes is FORMAT.md's table "going over to the next segment".
absl::Status LogWriter::RollOver(const EngineMark& mark) {
  const std::lock_guard<std::mutex> lock(spare_mutex_);
  absl::Status status = PrepareNextLocked();
  if (!status.ok()) return status;
  if (!segment_closed_) {
    std::string next(kBatchHeaderBytes, '\0');
    next += EncodeNumberPayload(spare_bytes_);
    SealBatch(next, BatchType::kNext, next_sequence(), 0, header_.salt);
    status = WriteFully(*file_, offset_bytes_, next);
    if (status.ok()) status = file_->Sync();
    if (!status.ok()) return Poison(std::move(status));
    offset_bytes_ += next.size();
    segment_closed_ = true;
  }
  const SegmentHeader header = NewHeader(header_.segment_number + 1, spare_bytes_, mark);
  // Synced before the first batch: a segment without a header holds nothing, ever.
  status = WriteFully(*spare_, 0, EncodeSegmentHeader(header));
  if (status.ok()) status = spare_->Sync();
  if (!status.ok()) return Poison(std::move(status));
  file_ = std::move(spare_);
  header_ = header;
  offset_bytes_ = kSegmentHeaderBytes;
  segment_closed_ = false;
  spare_bytes_ = 0;
  spare_bytes_left_.store(0, std::memory_order_release);
  segment_number_.store(header_.segment_number, std::memory_order_release);
  return absl::OkStatus();
}

absl::Status LogWriter::PrepareNext() {
  const absl::Status earlier = failure();
  if (!earlier.ok()) return earlier;
  const std::lock_guard<std::mutex> lock(spare_mutex_);
  return PrepareNextLocked();
}

absl::Status LogWriter::PrepareNextLocked() {
  if (spare_ != nullptr) return absl::OkStatus();
  const uint32_t number = segment_number_.load() + 1;
  if (number > kSegmentNumberMax) {
    return Poison(FailureStatus(FailureKind::kIo, "no segment number is left"));
  }
  const std::string path = JoinPath(directory_, SegmentFileName(number));
  absl::StatusOr<std::unique_ptr<File>> file = files_.Open(path, OpenMode::kCreate);
  if (!file.ok()) {
    return KindOf(file.status()) == FailureKind::kNoSpace ? file.status() : Poison(file.status());
  }
  const absl::StatusOr<uint64_t> found_bytes = (*file)->SizeBytes();
  if (!found_bytes.ok()) return Poison(found_bytes.status());
  // One that an earlier run prepared is never made shorter: a `next` batch may state its size.
  const uint64_t size_bytes = std::max(options_.segment_bytes, RoundUp(*found_bytes));
  absl::Status status = (*file)->Reserve(size_bytes);
  if (KindOf(status) == FailureKind::kNoSpace) {
    // What it did get is given back, unless the file is an earlier run's, which may be needed.
    if (*found_bytes == 0) files_.Remove(path).IgnoreError();
    return status;
  }
  if (status.ok()) status = (*file)->Sync();
  const bool sync = !ANTEROOM_CANARY(kLostDirectorySync);
  if (status.ok() && sync) status = files_.SyncDirectory(directory_);
  if (!status.ok()) return Poison(std::move(status));
  spare_ = *std::move(file);
  spare_bytes_ = size_bytes;
  spare_bytes_left_.store(size_bytes - kSegmentHeaderBytes - kNextBatchBytes,
                          std::memory_order_release);
  return absl::OkStatus();
}

// A write or a sync that ran out of space is no more harmless than any other: part of it may be in
// the file. So its kind becomes kIo.
absl::Status LogWriter::Poison(absl::Status failure) {
  if (KindOf(failure) == FailureKind::kNoSpace || KindOf(failure) == FailureKind::kNotFound) {
    failure = FailureStatus(FailureKind::kIo, std::string(failure.message()));
  }
  const std::lock_guard<std::mutex> lock(failure_mutex_);
  if (failure_.ok()) failure_ = std::move(failure);
  return failure_;
}

absl::Status LogWriter::failure() {
  const std::lock_guard<std::mutex> lock(failure_mutex_);
  return failure_;
}

uint64_t LogWriter::reserved_bytes_left() const {
  return current_bytes_left_.load(std::memory_order_acquire) +
         spare_bytes_left_.load(std::memory_order_acquire);
}

void LogWriter::check_invariants() {
  const std::lock_guard<std::mutex> lock(spare_mutex_);
  CHECK(file_ != nullptr);
  CHECK_EQ(header_.segment_number, segment_number_.load());
  CHECK(offset_bytes_ >= kSegmentHeaderBytes);
  CHECK(offset_bytes_ % kBatchAlignmentBytes == 0);
  const uint64_t needed_bytes = segment_closed_ ? 0 : kNextBatchBytes;
  CHECK(offset_bytes_ + needed_bytes <= header_.segment_bytes);
  CHECK_EQ(spare_ == nullptr, spare_bytes_ == 0);
  CHECK_EQ(spare_ == nullptr, needs_prepare());
  if (failure().ok()) {
    char tail[kSegmentBytesMultiple];
    const absl::StatusOr<size_t> got = ReadFully(*file_, offset_bytes_, tail, sizeof(tail));
    if (got.ok()) CHECK(IsAllZero(std::string_view(tail, *got)));
  }
}

}  // namespace anteroom::storage
