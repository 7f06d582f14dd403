#include "server/storage/snapshot_file.h"

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "server/base/check.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

// A batch is closed when it holds this much.
constexpr size_t kBatchBytes = 256u << 10;
// Synced after so much, so that no single sync keeps the disk from the log for long.
constexpr uint64_t kSyncBytes = 4u << 20;

// Of a daemon's snapshot there is one at a time, and what a crash leaves of it has to be known.
std::string TemporaryOf(const std::string& path, SnapshotKind kind, uint64_t salt) {
  if (kind == SnapshotKind::kSnapshot) return path + ".tmp";
  char unique[24];
  std::snprintf(unique, sizeof unique, ".%016" PRIx64 ".tmp", salt);
  return path + unique;
}

}  // namespace

SnapshotWriter::SnapshotWriter(Files& files, std::string path, SnapshotKind kind,
                               const SegmentHeader& segment)
    : files_(files),
      path_(std::move(path)),
      temporary_path_(TemporaryOf(path_, kind, segment.salt)),
      kind_(kind),
      header_(segment),
      batch_(kBatchHeaderBytes, '\0') {}

SnapshotWriter::~SnapshotWriter() {
  if (file_ != nullptr && !finished_) files_.Remove(temporary_path_).IgnoreError();
}

absl::StatusOr<std::unique_ptr<SnapshotWriter>> SnapshotWriter::Create(
    Files& files, std::string path, SnapshotKind kind, const SegmentHeader& segment) {
  std::unique_ptr<SnapshotWriter> writer(new SnapshotWriter(files, std::move(path), kind, segment));
  absl::StatusOr<std::unique_ptr<File>> file = files.Open(writer->temporary_path_, OpenMode::kAnew);
  if (!file.ok()) return file.status();
  writer->file_ = *std::move(file);
  return writer;
}

absl::Status SnapshotWriter::Add(std::string_view entry) {
  const size_t bytes = kRecordLengthBytes + entry.size();
  CHECK_LE(bytes, kBatchPayloadBytesMax - kBatchBytes);
  AppendRecord(entry, &batch_);
  ++batch_entries_;
  return batch_.size() < kBatchBytes ? absl::OkStatus() : WriteBatch(BatchType::kEntries);
}

absl::Status SnapshotWriter::WriteBatch(BatchType type) {
  SealBatch(batch_, type, next_entry_, batch_entries_, header_.salt);
  absl::Status status = WriteFully(*file_, offset_bytes_, batch_);
  offset_bytes_ += batch_.size();
  if (status.ok() && offset_bytes_ - synced_bytes_ >= kSyncBytes) {
    status = file_->Sync();
    synced_bytes_ = offset_bytes_;
  }
  next_entry_ += batch_entries_;
  batch_entries_ = 0;
  batch_.assign(kBatchHeaderBytes, '\0');
  return status;
}

// The order is FORMAT.md's table "a snapshot is made".
absl::Status SnapshotWriter::Finish() {
  absl::Status status;
  if (batch_entries_ > 0) status = WriteBatch(BatchType::kEntries);
  if (!status.ok()) return status;
  batch_ += EncodeEndPayload(header_.mark);
  status = WriteBatch(BatchType::kEnd);
  header_.segment_bytes = offset_bytes_;
  if (status.ok()) status = WriteFully(*file_, 0, EncodeSnapshotHeader(header_, kind_));
  if (status.ok()) status = file_->Sync();
  if (status.ok()) status = files_.Rename(temporary_path_, path_);
  if (!status.ok()) return status;
  finished_ = true;
  return files_.SyncDirectory(ParentDirectory(path_));
}

absl::StatusOr<SegmentHeader> ReadSnapshot(Files& files, const std::string& path, SnapshotKind kind,
                                           const TakeEntries& take) {
  const absl::StatusOr<std::unique_ptr<SegmentReader>> reader = SegmentReader::Open(files, path);
  if (!reader.ok()) return reader.status();
  return ReadSnapshot(**reader, path.substr(path.rfind('/') + 1), kind, take);
}

absl::StatusOr<SegmentHeader> ReadSnapshot(SegmentReader& reader, const std::string& name,
                                           SnapshotKind kind, const TakeEntries& take) {
  const absl::StatusOr<std::string_view> bytes = reader.Read(0, kSegmentHeaderBytes);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<SegmentHeader> header = DecodeSnapshotHeader(*bytes, kind, name);
  if (!header.ok()) return header;
  if (reader.file_bytes() != header->segment_bytes) {
    return DamageStatus(name, 0,
                        "the file has " + std::to_string(reader.file_bytes()) +
                            " bytes, its header says " + std::to_string(header->segment_bytes));
  }
  uint64_t offset = kSegmentHeaderBytes;
  uint64_t next_entry = 1;
  std::vector<std::string_view> entries;
  for (bool ended = false; !ended;) {
    const absl::StatusOr<std::optional<ParsedBatch>> batch =
        reader.ReadBatch(offset, header->segment_bytes, header->salt);
    if (!batch.ok()) return batch.status();
    if (!batch->has_value()) return DamageStatus(name, offset, "no valid batch");
    const ParsedBatch& one = **batch;
    if (one.first_sequence != next_entry) {
      return DamageStatus(name, offset,
                          "the batch begins at entry " + std::to_string(one.first_sequence) + ", " +
                              std::to_string(next_entry) + " is the next");
    }
    if (one.type == BatchType::kEnd) {
      const std::optional<EngineMark> mark = DecodeEndPayload(one.payload);
      if (!mark || *mark != header->mark || offset + one.size_bytes != header->segment_bytes) {
        return DamageStatus(name, offset, "the end is malformed");
      }
      ended = true;
    } else if (one.type == BatchType::kEntries) {
      std::string_view payload = one.payload;
      std::string_view entry;
      entries.clear();
      while (TakeRecord(&payload, &entry)) entries.push_back(entry);
      if (!payload.empty() || entries.empty() || entries.size() != one.record_count) {
        return DamageStatus(name, offset, "the batch is malformed");
      }
      const absl::Status status = take(entries);
      if (!status.ok()) return PlacedStatus(status, name, offset);
      next_entry += entries.size();
    } else {
      return DamageStatus(name, offset, "the batch is of no type that a snapshot has");
    }
    offset += one.size_bytes;
  }
  return header;
}

}  // namespace anteroom::storage
