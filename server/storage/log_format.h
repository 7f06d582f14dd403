// The bytes of a log segment: FORMAT.md, which is the specification, in code. No I/O.
//
//   segment = header (512 bytes), batch*, zero*          batch = header (32 bytes), payload, zero*
//
// All numbers are little-endian. Persisted numbers are never reused.
// Thread-safe: functions without state.
#ifndef ANTEROOM_SERVER_STORAGE_LOG_FORMAT_H_
#define ANTEROOM_SERVER_STORAGE_LOG_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
namespace anteroom::storage {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr char kSegmentMagic[9] = "ANTELOG\n";
inline constexpr char kSnapshotMagic[9] = "ANTESNP\n";
inline constexpr char kBackupMagic[9] = "ANTEBAK\n";

inline constexpr size_t kSegmentHeaderBytes = 512;
inline constexpr size_t kBatchHeaderBytes = 32;
inline constexpr size_t kBatchAlignmentBytes = 8;
inline constexpr size_t kRecordLengthBytes = 4;
inline constexpr size_t kEndPayloadBytes = 24;
inline constexpr size_t kNumberPayloadBytes = 8;
inline constexpr size_t kNextBatchBytes = kBatchHeaderBytes + kNumberPayloadBytes;

inline constexpr uint64_t kSegmentBytesMin = 4096;
inline constexpr uint64_t kSegmentBytesDefault = 32u << 20;
inline constexpr uint64_t kSegmentBytesMax = 1u << 30;
inline constexpr uint64_t kSegmentBytesMultiple = 4096;
// Of what a reader accepts. A writer's frames are smaller (kFramePayloadBytesMax).
inline constexpr uint32_t kBatchPayloadBytesMax = 4u << 20;
// Of what a writer puts into one batch, so that no single write is long.
inline constexpr size_t kFramePayloadBytesMax = 1u << 20;
inline constexpr uint32_t kSegmentNumberMax = 99'999'999;

// Whether a directory belongs to a daemon on the virtual clock.
enum class DirectoryKind : uint32_t { kReal = 0, kTest = 1 };

enum class BatchType : uint32_t {
  kRecords = 1,
  kEnd = 2,      // clean stop
  kNext = 3,     // this segment is full, the log goes on in the next one
  kEntries = 4,  // of a snapshot; the first is number 1
  kMoved = 5,    // this log goes on elsewhere, and here no more
};

// What the engine's state was before a record: compared when the log is read again.
struct EngineMark {
  uint64_t digest_low = 0;
  uint64_t digest_high = 0;
  int64_t engine_time_ms = 0;

  friend bool operator==(const EngineMark&, const EngineMark&) = default;
};

struct SegmentHeader {
  uint64_t salt = 0;
  uint32_t segment_number = 0;
  DirectoryKind kind = DirectoryKind::kReal;
  uint64_t segment_bytes = 0;
  uint64_t first_sequence = 0;
  EngineMark mark;  // before record `first_sequence`
  uint64_t epoch = 0;
  uint64_t log_id = 0;  // the same in all segments of a directory
  uint32_t token_key_id = 0;
};

// One batch of a file, checked. The payload points into the bytes it was parsed from.
struct ParsedBatch {
  BatchType type = BatchType::kRecords;
  uint64_t first_sequence = 0;
  uint32_t record_count = 0;
  std::string_view payload;
  size_t size_bytes = 0;  // in the file, header and padding included
};

// "00000001.log"; and the number back, nothing when the name is not of that form.
std::string SegmentFileName(uint32_t segment_number);
std::optional<uint32_t> ParseSegmentFileName(std::string_view name);
// "00000001.snap", the same.
std::string SnapshotFileName(uint32_t segment_number);
std::optional<uint32_t> ParseSnapshotFileName(std::string_view name);

// Exactly kSegmentHeaderBytes.
std::string EncodeSegmentHeader(const SegmentHeader& header);
// `bytes` are the first kSegmentHeaderBytes of `file`, which is named in the errors: kNewerFormat
// or kDamaged.
absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, std::string_view file);

// A snapshot, and a backup, which is one with the secrets before it, has the header of the segment
// with which the log goes on, but for its magic and the size, which is that of the file.
enum class SnapshotKind { kSnapshot, kBackup };
std::string EncodeSnapshotHeader(const SegmentHeader& header, SnapshotKind kind);
absl::StatusOr<SegmentHeader> DecodeSnapshotHeader(std::string_view bytes, SnapshotKind kind,
                                                   std::string_view file);

// The most that the frames of a segment of this size may hold, so that one fits into an empty one.
size_t FramePayloadBytesMax(uint64_t segment_bytes);

// `bytes` holds room for the header and then the payload: fills in the header, checksum included,
// and pads.
void SealBatch(std::string& bytes, BatchType type, uint64_t first_sequence, uint32_t record_count,
               uint64_t salt);

// The size in the file of a batch that may begin here, from its header alone: nothing when these
// bytes begin no batch of this segment. Never more than `limit_bytes`, which is what is left of
// the segment.
std::optional<size_t> PeekBatchSize(std::string_view header_bytes, uint64_t salt,
                                    uint64_t limit_bytes);
// The batch at the start of `bytes`, which hold as much as PeekBatchSize said; nothing when the
// checksum says otherwise. What it means is the caller's to judge.
std::optional<ParsedBatch> ParseBatch(std::string_view bytes, uint64_t salt);

// Appends a record, length first.
void AppendRecord(std::string_view record, std::string* payload);
// Takes the next record off the payload; false when none is left or what is left is no record.
bool TakeRecord(std::string_view* payload, std::string_view* record);

std::string EncodeEndPayload(const EngineMark& mark);
std::optional<EngineMark> DecodeEndPayload(std::string_view payload);
// Of a next batch, the size of the next segment; of a moved one, the epoch that goes on elsewhere.
std::string EncodeNumberPayload(uint64_t number);
std::optional<uint64_t> DecodeNumberPayload(std::string_view payload);

bool IsAllZero(std::string_view bytes);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_LOG_FORMAT_H_
