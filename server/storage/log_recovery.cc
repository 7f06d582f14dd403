#include "server/storage/log_recovery.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/storage/data_directory.h"
#include "server/storage/log_files.h"
#include "server/storage/log_reader.h"
#include "server/storage/snapshot_file.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

constexpr size_t kZeroBytesAtOnce = 1u << 20;

absl::Status WriteZeros(File& file, uint64_t from, uint64_t to) {
  const std::string zeros(std::min<uint64_t>(kZeroBytesAtOnce, to - from), '\0');
  while (from < to) {
    const size_t bytes = std::min<uint64_t>(zeros.size(), to - from);
    const absl::Status status = WriteFully(file, from, std::string_view(zeros).substr(0, bytes));
    if (!status.ok()) return status;
    from += bytes;
  }
  return absl::OkStatus();
}

// One reading of a log. Single letters in comments are the rows of FORMAT.md's decision table.
class Recovery {
 public:
  Recovery(Files& files, const std::string& directory, const RecoveryOptions& options,
           LogVisitor& visitor)
      : files_(files),
        directory_(directory),
        options_(options),
        visitor_(visitor),
        log_files_(files, directory) {}

  absl::StatusOr<RecoveredLog> Run();

 private:
  absl::Status ReadNewestSnapshot();
  absl::Status FindLastInUse();
  absl::Status ReadSegment(uint32_t number);
  absl::Status ReadHeader(uint32_t number, SegmentReader& reader);
  absl::Status ReadBatches(SegmentReader& reader);
  absl::Status TakeBatch(const ParsedBatch& batch);
  absl::Status TakeRecords(const ParsedBatch& batch);
  absl::Status JudgeTail(SegmentReader& reader);
  absl::Status JudgeBytesAfterEnd(SegmentReader& reader, const SegmentReader::NonZeroRange& rest);
  absl::StatusOr<bool> GoesOn();
  absl::StatusOr<bool> GoesOnIn(SegmentReader& spare, uint32_t number);
  absl::StatusOr<bool> IsRunning();
  absl::Status CheckSpare(uint32_t number);
  absl::Status CheckAfterClosed();
  absl::Status CutTornHeader();
  uint64_t TailEndBytes() const;
  absl::Status Mend();
  absl::Status Moved() const;

  const std::vector<uint32_t>& segments() const { return log_files_.segments(); }
  bool in_last() const { return header_.segment_number == last_in_use_; }
  std::string path(const std::string& name) const { return JoinPath(directory_, name); }
  absl::Status Damage(std::string_view why) const { return DamageStatus(name_, offset_, why); }

  Files& files_;
  const std::string directory_;
  const RecoveryOptions options_;
  LogVisitor& visitor_;

  LogFiles log_files_;
  SegmentHeader snapshot_header_;
  uint32_t last_in_use_ = 0;
  uint32_t torn_header_ = 0;           // number of a spare whose header is torn
  std::vector<uint64_t> spare_bytes_;  // sizes of the files after the last in use

  // Of the segment being read.
  std::string name_;
  SegmentHeader header_;
  uint64_t offset_ = 0;             // after the last valid batch
  uint64_t last_batch_offset_ = 0;  // of that batch; 0 when there is none
  bool closed_ = false;             // by a `next` batch
  uint64_t next_segment_bytes_ = 0;

  RecoveredLog log_;
};

absl::StatusOr<RecoveredLog> Recovery::Run() {
  absl::Status status = log_files_.Open(options_.until_segment.value_or(kSegmentNumberMax),
                                        options_.archive);  // A
  if (!status.ok()) return status;
  if (segments().empty()) return log_;
  log_.snapshot_number = log_files_.snapshot();
  status = FindLastInUse();
  if (status.ok()) status = ReadNewestSnapshot();
  for (const uint32_t number : segments()) {
    if (!status.ok()) return status;
    status = number <= last_in_use_ ? ReadSegment(number) : CheckSpare(number);
  }
  if (status.ok() && !options_.until_segment && !options_.archive) status = CheckAfterClosed();
  if (status.ok() && options_.mode == RecoveryMode::kMend) {
    status = log_.moved_to_epoch == 0 ? Mend() : Moved();
  }
  if (!status.ok()) return status;
  log_.empty = false;
  log_.last_header = header_;
  log_.end_offset_bytes = offset_;
  log_.segment_closed = closed_;
  return log_;
}

// U: every byte of the newest snapshot is right, or it is damage; older ones are not looked at.
absl::Status Recovery::ReadNewestSnapshot() {
  const uint32_t number = log_files_.snapshot();
  if (number == 0) return absl::OkStatus();
  const std::string name = SnapshotFileName(number);
  absl::StatusOr<SegmentHeader> header = ReadSnapshot(
      log_files_.snapshot_reader(), name, SnapshotKind::kSnapshot, [this](const auto& entries) {
        log_.snapshot_entry_count += entries.size();
        return visitor_.SnapshotEntries(entries);
      });
  if (!header.ok()) return header.status();
  if (header->segment_number != number) {
    return DamageStatus(name, 0,
                        "the snapshot is number " + std::to_string(header->segment_number));
  }
  snapshot_header_ = *header;
  log_.next_sequence = header->first_sequence;
  log_.snapshot_bytes = header->segment_bytes;
  absl::Status status = visitor_.SnapshotEnd();
  if (status.ok()) {
    status = visitor_.Mark(MarkPlace::kSnapshotEnd, log_.next_sequence, header->mark);
  }
  return status.ok() ? status : PlacedStatus(status, name, header->segment_bytes);
}

// A segment is in use when its header is not all zero; those after the last are spares. One whose
// header was being written at a crash is still a spare: its header is synced before anything else.
absl::Status Recovery::FindLastInUse() {
  for (const uint32_t number : segments()) {
    const absl::StatusOr<SegmentReader*> reader = log_files_.Segment(number);
    if (!reader.ok()) return reader.status();
    const absl::StatusOr<std::string_view> header = (*reader)->Read(0, kSegmentHeaderBytes);
    if (!header.ok()) return header.status();
    if (!IsAllZero(*header)) {
      last_in_use_ = number;
      torn_header_ = 0;
      const absl::Status decoded = DecodeSegmentHeader(*header, SegmentFileName(number)).status();
      if (number != segments().front() && KindOf(decoded) == FailureKind::kDamaged) {
        const absl::StatusOr<SegmentReader::NonZeroRange> rest =
            (*reader)->FindNonZero(kSegmentHeaderBytes);
        if (!rest.ok()) return rest.status();
        if (rest->empty()) torn_header_ = number;
      }
    }
    const absl::Status forgotten = (*reader)->LookAgain();
    if (!forgotten.ok()) return forgotten;
  }
  if (torn_header_ != 0) --last_in_use_;
  // B: the very first segment has its header from the moment it has its name, and that with which a
  // snapshot goes on had it before the snapshot was made.
  if (last_in_use_ == 0) {
    return DamageStatus(SegmentFileName(segments().front()), 0, "the segment has no header");
  }
  return absl::OkStatus();
}

absl::Status Recovery::ReadSegment(uint32_t number) {
  const bool after_closed = closed_;
  name_ = SegmentFileName(number);
  offset_ = 0;
  last_batch_offset_ = 0;
  const absl::StatusOr<SegmentReader*> reader = log_files_.Segment(number);
  if (!reader.ok()) return reader.status();
  absl::Status status = ReadHeader(number, **reader);
  if (!status.ok()) return status;
  // G: the one before says that it goes on here.
  if (number > segments().front() &&
      (!after_closed || header_.segment_bytes < next_segment_bytes_)) {
    return Damage("the segment before it does not lead to it");
  }
  closed_ = false;
  ++log_.segment_count;
  status = visitor_.Mark(MarkPlace::kSegmentStart, log_.next_sequence, header_.mark);
  if (!status.ok()) return PlacedStatus(status, name_, 0);
  offset_ = kSegmentHeaderBytes;
  if (options_.until_segment == number) return absl::OkStatus();
  status = ReadBatches(**reader);
  if (status.ok()) status = JudgeTail(**reader);
  if (!in_last()) log_files_.Close(number);
  return status;
}

absl::Status Recovery::ReadHeader(uint32_t number, SegmentReader& reader) {
  const absl::StatusOr<std::string_view> bytes = reader.Read(0, kSegmentHeaderBytes);
  if (!bytes.ok()) return bytes.status();
  // C: the log goes on in a later segment, so this one had a header.
  if (IsAllZero(*bytes)) return Damage("the segment has no header, a later one has");
  const SegmentHeader previous = header_;
  const absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(*bytes, name_);  // D
  if (!header.ok()) return header.status();
  header_ = *header;
  // E: it belongs at this place of this log.
  if (header_.segment_number != number) {
    return Damage("the segment is number " + std::to_string(header_.segment_number));
  }
  if (header_.first_sequence != log_.next_sequence) {
    return Damage("the segment begins at record " + std::to_string(header_.first_sequence) + ", " +
                  std::to_string(log_.next_sequence) + " is the next");
  }
  if (number > segments().front() &&
      (header_.log_id != previous.log_id || header_.kind != previous.kind)) {
    return Damage("the segment belongs to another log");
  }
  // V: it is the very segment with which the snapshot goes on.
  if (number == log_files_.snapshot() &&
      (header_.salt != snapshot_header_.salt || header_.log_id != snapshot_header_.log_id ||
       header_.kind != snapshot_header_.kind || header_.epoch != snapshot_header_.epoch ||
       header_.token_key_id != snapshot_header_.token_key_id ||
       header_.mark != snapshot_header_.mark)) {
    return Damage("it is not the segment with which " + SnapshotFileName(number) + " goes on");
  }
  // F: a cut-short file can only be the last; a longer one was not written by this program.
  const bool right_size = reader.file_bytes() == header_.segment_bytes ||
                          (in_last() && reader.file_bytes() < header_.segment_bytes);
  if (!right_size) {
    return Damage("the file has " + std::to_string(reader.file_bytes()) +
                  " bytes, its header says " + std::to_string(header_.segment_bytes));
  }
  if (options_.kind.has_value() && *options_.kind != header_.kind) {
    return FailureStatus(FailureKind::kWrongKind,
                         header_.kind == DirectoryKind::kTest
                             ? directory_ + " was made on a virtual clock, for tests"
                             : directory_ + " holds real data, not a test's");
  }
  return absl::OkStatus();
}

absl::Status Recovery::ReadBatches(SegmentReader& reader) {
  while (!closed_) {
    const absl::StatusOr<std::optional<ParsedBatch>> batch =
        reader.ReadBatch(offset_, header_.segment_bytes, header_.salt);
    if (!batch.ok()) return batch.status();
    if (!batch->has_value()) return absl::OkStatus();
    const absl::Status status = TakeBatch(**batch);
    if (!status.ok()) return status;
    last_batch_offset_ = offset_;
    offset_ += (*batch)->size_bytes;
    ++log_.batch_count;
  }
  return absl::OkStatus();
}

// The checksum is right, so whatever is wrong here is no torn write.
absl::Status Recovery::TakeBatch(const ParsedBatch& batch) {
  // H: a batch repeated, left out or in another's place.
  if (batch.first_sequence != log_.next_sequence) {
    return Damage("the batch begins at record " + std::to_string(batch.first_sequence) + ", " +
                  std::to_string(log_.next_sequence) + " is the next");
  }
  if (log_.moved_to_epoch != 0) return Damage("the log goes on, and had moved to another place");
  log_.clean_stop = false;
  switch (batch.type) {
    case BatchType::kRecords:  // I
      return TakeRecords(batch);
    case BatchType::kEnd: {  // J
      const std::optional<EngineMark> mark = DecodeEndPayload(batch.payload);
      if (!mark.has_value() || batch.record_count != 0)
        return Damage("the end record is malformed");
      log_.clean_stop = true;
      const absl::Status status = visitor_.Mark(MarkPlace::kCleanStop, log_.next_sequence, *mark);
      return status.ok() ? status : PlacedStatus(status, name_, offset_);
    }
    case BatchType::kNext: {  // K
      const std::optional<uint64_t> bytes = DecodeNumberPayload(batch.payload);
      if (!bytes.has_value() || batch.record_count != 0) return Damage("the batch is malformed");
      closed_ = true;
      next_segment_bytes_ = *bytes;
      return absl::OkStatus();
    }
    case BatchType::kMoved: {  // W
      const std::optional<uint64_t> epoch = DecodeNumberPayload(batch.payload);
      if (!epoch.has_value() || *epoch == 0 || batch.record_count != 0) {
        return Damage("the batch is malformed");
      }
      log_.moved_to_epoch = *epoch;
      return absl::OkStatus();
    }
    case BatchType::kEntries:  // only a snapshot has them
      break;
  }
  return Damage("the batch is of unknown type " +
                std::to_string(static_cast<uint32_t>(batch.type)));
}

absl::Status Recovery::TakeRecords(const ParsedBatch& batch) {
  std::string_view payload = batch.payload;
  std::string_view record;
  for (uint32_t i = 0; i < batch.record_count; ++i) {
    if (!TakeRecord(&payload, &record)) return Damage("the batch is malformed");
    const absl::Status status = visitor_.Record(log_.next_sequence, record);
    if (!status.ok()) return PlacedStatus(status, name_, offset_);
    ++log_.next_sequence;
    ++log_.record_count;
  }
  if (!payload.empty() || batch.record_count == 0) return Damage("the batch is malformed");
  return absl::OkStatus();
}

// What follows the last valid batch of a segment.
absl::Status Recovery::JudgeTail(SegmentReader& reader) {
  const absl::StatusOr<SegmentReader::NonZeroRange> rest = reader.FindNonZero(offset_);
  if (!rest.ok()) return rest.status();
  if (closed_) {
    // L: nothing is ever written after a `next` batch, and nothing taken away.
    if (reader.file_bytes() < header_.segment_bytes) return Damage("the file is cut short");
    return rest->empty() ? absl::OkStatus()
                         : DamageStatus(name_, rest->begin_bytes, "bytes after the segment's end");
  }
  // M: the log goes on in the next segment, so this one was complete.
  if (!in_last()) return Damage("invalid bytes, and the log goes on after them");
  const bool short_file = reader.file_bytes() < header_.segment_bytes;
  if (rest->empty()) {
    if (short_file) log_.torn_end = TornEnd{name_, offset_, 0};  // O
    return absl::OkStatus();                                     // N
  }
  return JudgeBytesAfterEnd(reader, *rest);
}

// Beside a daemon that is writing, what was read of a batch in flight is in pieces. It writes one
// after the other, so where a later one was found all of this one is there by now. And when it is
// whole now, it was no damage and no torn end, but what came after the log's end of a moment ago.
absl::Status Recovery::JudgeBytesAfterEnd(SegmentReader& reader,
                                          const SegmentReader::NonZeroRange& rest) {
  const absl::StatusOr<std::optional<uint64_t>> later =
      reader.FindBatch(offset_, header_.segment_bytes, header_.salt);
  if (!later.ok()) return later.status();
  if (options_.mode == RecoveryMode::kInspect) {  // X
    const absl::StatusOr<bool> goes_on = GoesOn();
    if (!goes_on.ok()) return goes_on.status();
    if (*goes_on) return absl::OkStatus();
  }
  if (later->has_value() && !ANTEROOM_CANARY(kDamageTakenForTorn)) {  // P
    return Damage("invalid bytes, and a valid batch after them at byte " + std::to_string(**later));
  }
  const absl::StatusOr<bool> running = IsRunning();
  if (!running.ok()) return running.status();
  log_.clean_stop = false;
  if (!*running) log_.torn_end = TornEnd{name_, offset_, rest.end_bytes - offset_};  // Q
  return absl::OkStatus();
}

// Whether by now the last segment has a batch where it had none.
absl::StatusOr<bool> Recovery::GoesOn() {
  const absl::StatusOr<SegmentReader*> reader = log_files_.Segment(header_.segment_number);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<std::optional<ParsedBatch>> batch =
      (*reader)->ReadBatch(offset_, header_.segment_bytes, header_.salt);
  if (!batch.ok()) return batch.status();
  if (!batch->has_value() || (*batch)->first_sequence != log_.next_sequence) return false;
  log_.clean_stop = false;
  return true;
}

// Whether by now the log has come to what was a spare.
absl::StatusOr<bool> Recovery::GoesOnIn(SegmentReader& spare, uint32_t number) {
  absl::Status status = spare.LookAgain();
  if (!status.ok()) return status;
  const absl::StatusOr<std::string_view> bytes = spare.Read(0, kSegmentHeaderBytes);
  if (!bytes.ok()) return bytes.status();
  const absl::StatusOr<SegmentHeader> header = DecodeSegmentHeader(*bytes, SegmentFileName(number));
  if (!header.ok() || header->segment_number != number || header->log_id != header_.log_id ||
      header->first_sequence < log_.next_sequence) {
    return false;
  }
  return closed_ ? absl::StatusOr<bool>(true) : GoesOn();
}

// Whether a daemon may be writing to what is being looked at.
absl::StatusOr<bool> Recovery::IsRunning() {
  if (options_.mode == RecoveryMode::kMend) return false;
  return files_.IsLocked(path(kLockName));
}

// After the last segment in use there are only zeros, or the pieces of a header.
absl::Status Recovery::CheckSpare(uint32_t number) {
  const std::string name = SegmentFileName(number);
  const absl::StatusOr<SegmentReader*> reader = log_files_.Segment(number);
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<SegmentReader::NonZeroRange> bytes = (*reader)->FindNonZero(0);
  if (!bytes.ok()) return bytes.status();
  if (!bytes->empty() && options_.mode == RecoveryMode::kInspect) {  // Y
    const absl::StatusOr<bool> goes_on = GoesOnIn(**reader, number);
    if (!goes_on.ok()) return goes_on.status();
    if (*goes_on) {
      spare_bytes_.push_back((*reader)->file_bytes());
      return absl::OkStatus();
    }
  }
  if (number == torn_header_) {
    // S: only after a closed segment is a header ever written.
    if (!closed_) return DamageStatus(name, 0, "the segment header is invalid");
    log_.torn_end = TornEnd{name, 0, bytes->end_bytes};
    log_.clean_stop = false;
  } else if (!bytes->empty()) {  // R
    return DamageStatus(name, bytes->begin_bytes, "bytes in a segment that was not in use yet");
  }
  spare_bytes_.push_back((*reader)->file_bytes());
  log_files_.Close(number);
  return absl::OkStatus();
}

// T: when the last segment is closed, the next one had been reserved in full before.
absl::Status Recovery::CheckAfterClosed() {
  if (!closed_) return absl::OkStatus();
  if (spare_bytes_.empty() && options_.mode == RecoveryMode::kInspect) {
    // It was made after the files were listed.
    const absl::StatusOr<bool> later = log_files_.HasLaterThan(header_.segment_number);
    if (!later.ok()) return later.status();
    if (*later) return absl::OkStatus();
  }
  const std::string next_name = SegmentFileName(header_.segment_number + 1);
  if (spare_bytes_.empty()) {
    return DamageStatus(next_name, 0, "the segment is missing, " + name_ + " leads to it");
  }
  if (spare_bytes_.front() < next_segment_bytes_) {
    return DamageStatus(next_name, spare_bytes_.front(),
                        "the file is shorter than the segment that " + name_ + " leads to");
  }
  return absl::OkStatus();
}

// Pieces of a header that was being written.
absl::Status Recovery::CutTornHeader() {
  if (torn_header_ == 0) return absl::OkStatus();
  const absl::StatusOr<std::unique_ptr<File>> file =
      files_.Open(path(SegmentFileName(torn_header_)), OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  const absl::Status status = WriteZeros(**file, 0, log_.torn_end->length_bytes);
  return status.ok() ? (*file)->Sync() : status;
}

// Up to here whatever follows the last batch is zeroed: as far as anything was found, and as far as
// a batch that was being written can have reached, found or not.
uint64_t Recovery::TailEndBytes() const {
  if (closed_) return offset_;
  uint64_t end_bytes = offset_ + kBatchHeaderBytes + FramePayloadBytesMax(header_.segment_bytes) +
                       kBatchAlignmentBytes;
  if (log_.torn_end.has_value()) {
    end_bytes = std::max(end_bytes, log_.torn_end->offset_bytes + log_.torn_end->length_bytes);
  }
  return std::min(end_bytes, header_.segment_bytes);
}

absl::Status Recovery::Moved() const {
  return FailureStatus(FailureKind::kMoved,
                       "the log in " + directory_ + " was moved and goes on elsewhere, as epoch " +
                           std::to_string(log_.moved_to_epoch) + ": there is no going on here");
}

// Puts what was read on disk for good, before anyone is told of it. What the page cache shows may
// be there only: a killed daemon's last batch, or one whose sync failed, which the kernel then
// takes for clean. The same is true of zeros: those that an earlier start put over a torn end whose
// sync then failed are shown, and the pieces of the batch are still on disk. So the last writes are
// made again, byte for byte, zeros after them, and synced.
absl::Status Recovery::Mend() {
  absl::Status status = CutTornHeader();
  if (!status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<File>> file = files_.Open(path(name_), OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  status = (*file)->Reserve(header_.segment_bytes);
  const auto rewrite = [&](uint64_t from, uint64_t to) {
    std::string bytes(to - from, '\0');
    const absl::StatusOr<size_t> got = ReadFully(**file, from, bytes.data(), bytes.size());
    if (!got.ok()) return got.status();
    return WriteFully(**file, from, bytes);
  };
  if (status.ok()) status = rewrite(0, kSegmentHeaderBytes);
  if (status.ok() && last_batch_offset_ != 0) status = rewrite(last_batch_offset_, offset_);
  const bool zero = !ANTEROOM_CANARY(kTornEndKept);
  if (status.ok() && zero) status = WriteZeros(**file, offset_, TailEndBytes());
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = files_.SyncDirectory(directory_);
  return status;
}

}  // namespace

std::string ToText(const TornEnd& torn_end) {
  const std::string place =
      "torn end: " + torn_end.file + " at byte " + std::to_string(torn_end.offset_bytes) + ", ";
  if (torn_end.length_bytes == 0) return place + "the file was cut short and is restored";
  return place + std::to_string(torn_end.length_bytes) + " bytes cut off";
}

absl::StatusOr<RecoveredLog> RecoverLog(Files& files, const std::string& directory,
                                        const RecoveryOptions& options, LogVisitor& visitor) {
  return Recovery(files, directory, options, visitor).Run();
}

}  // namespace anteroom::storage
