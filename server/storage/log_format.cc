#include "server/storage/log_format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "server/base/check.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

// The bytes as they stand in the file.
struct SegmentHeaderBytes {
  char magic[8];
  uint32_t format_version;
  uint32_t header_bytes;
  uint64_t checksum;
  uint64_t salt;
  uint32_t segment_number;
  uint32_t kind;
  uint64_t segment_bytes;
  uint64_t first_sequence;
  uint64_t digest_low;
  uint64_t digest_high;
  int64_t engine_time_ms;
  uint64_t epoch;
  uint64_t log_id;
  uint32_t token_key_id;
  char reserved[412];
};
static_assert(sizeof(SegmentHeaderBytes) == kSegmentHeaderBytes);
static_assert(offsetof(SegmentHeaderBytes, checksum) == 16);
static_assert(offsetof(SegmentHeaderBytes, first_sequence) == 48);
static_assert(offsetof(SegmentHeaderBytes, token_key_id) == 96);
static_assert(std::is_trivially_copyable_v<SegmentHeaderBytes>);

struct BatchHeaderBytes {
  uint64_t checksum;  // of all that follows, padding included
  uint32_t tag;
  uint32_t type;
  uint64_t first_sequence;
  uint32_t record_count;
  uint32_t payload_bytes;
};
static_assert(sizeof(BatchHeaderBytes) == kBatchHeaderBytes);
static_assert(offsetof(BatchHeaderBytes, payload_bytes) == 28);
static_assert(std::is_trivially_copyable_v<BatchHeaderBytes>);

struct EndPayloadBytes {
  uint64_t digest_low;
  uint64_t digest_high;
  int64_t engine_time_ms;
};
static_assert(sizeof(EndPayloadBytes) == kEndPayloadBytes);

// The structs above are the file's bytes only where numbers are little-endian.
static_assert(std::endian::native == std::endian::little);
static_assert(kSegmentHeaderBytes % kBatchAlignmentBytes == 0);
static_assert(kNextBatchBytes % kBatchAlignmentBytes == 0);

constexpr size_t kChecksumBytes = sizeof(uint64_t);

template <typename T>
T Load(std::string_view bytes) {
  T value;
  CHECK(bytes.size() >= sizeof(value));
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

template <typename T>
std::string Store(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

size_t Aligned(size_t bytes) {
  return (bytes + kBatchAlignmentBytes - 1) / kBatchAlignmentBytes * kBatchAlignmentBytes;
}

uint64_t HeaderChecksum(SegmentHeaderBytes raw) {
  raw.checksum = 0;
  return XXH3_64bits(&raw, sizeof(raw));
}

// Half of the salt stands in every batch, so that bytes which a visitor chose never make a scan
// compute a checksum over megabytes at each of them.
uint32_t TagOf(uint64_t salt) {
  return static_cast<uint32_t>(salt >> 32) | 1;
}

uint64_t BatchChecksum(std::string_view batch, uint64_t salt) {
  batch.remove_prefix(kChecksumBytes);
  return XXH3_64bits_withSeed(batch.data(), batch.size(), salt);
}

constexpr std::string_view kSegmentSuffix = ".log";
constexpr std::string_view kSnapshotSuffix = ".snap";
constexpr size_t kNumberDigits = 8;

std::string NumberedName(uint32_t number, std::string_view suffix) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%08u", static_cast<unsigned>(number));
  return digits + std::string(suffix);
}

std::optional<uint32_t> ParseNumberedName(std::string_view name, std::string_view suffix) {
  if (name.size() != kNumberDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  uint32_t number = 0;
  for (const char c : name.substr(0, kNumberDigits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number;
}

std::string EncodeHeader(const SegmentHeader& header, const char* magic) {
  SegmentHeaderBytes raw = {};
  std::memcpy(raw.magic, magic, sizeof(raw.magic));
  raw.format_version = kFormatVersion;
  raw.header_bytes = kSegmentHeaderBytes;
  raw.salt = header.salt;
  raw.segment_number = header.segment_number;
  raw.kind = static_cast<uint32_t>(header.kind);
  raw.segment_bytes = header.segment_bytes;
  raw.first_sequence = header.first_sequence;
  raw.digest_low = header.mark.digest_low;
  raw.digest_high = header.mark.digest_high;
  raw.engine_time_ms = header.mark.engine_time_ms;
  raw.epoch = header.epoch;
  raw.log_id = header.log_id;
  raw.token_key_id = header.token_key_id;
  raw.checksum = HeaderChecksum(raw);
  return Store(raw);
}

absl::StatusOr<SegmentHeader> DecodeHeader(std::string_view bytes, const char* magic,
                                           std::string_view what, std::string_view file) {
  const auto raw = Load<SegmentHeaderBytes>(bytes);
  if (std::memcmp(raw.magic, magic, sizeof(raw.magic)) != 0) {
    return DamageStatus(file, 0, "not a " + std::string(what) + ": its first bytes are unknown");
  }
  // Before the checksum, which a newer format may keep elsewhere.
  if (raw.format_version > kFormatVersion) {
    return FailureStatus(FailureKind::kNewerFormat, std::string(file) + " has format version " +
                                                        std::to_string(raw.format_version) +
                                                        ", this program reads up to " +
                                                        std::to_string(kFormatVersion));
  }
  if (raw.checksum != HeaderChecksum(raw)) {
    return DamageStatus(file, 0, "header: checksum does not match");
  }
  const bool sound = raw.format_version == kFormatVersion &&
                     raw.header_bytes == kSegmentHeaderBytes &&
                     raw.kind <= static_cast<uint32_t>(DirectoryKind::kTest) &&
                     IsAllZero(std::string_view(raw.reserved, sizeof(raw.reserved)));
  if (!sound) return DamageStatus(file, 0, "header: a field is out of its range");
  SegmentHeader header;
  header.salt = raw.salt;
  header.segment_number = raw.segment_number;
  header.kind = static_cast<DirectoryKind>(raw.kind);
  header.segment_bytes = raw.segment_bytes;
  header.first_sequence = raw.first_sequence;
  header.mark = {raw.digest_low, raw.digest_high, raw.engine_time_ms};
  header.epoch = raw.epoch;
  header.log_id = raw.log_id;
  header.token_key_id = raw.token_key_id;
  return header;
}

}  // namespace

std::string SegmentFileName(uint32_t segment_number) {
  return NumberedName(segment_number, kSegmentSuffix);
}

std::optional<uint32_t> ParseSegmentFileName(std::string_view name) {
  return ParseNumberedName(name, kSegmentSuffix);
}

std::string SnapshotFileName(uint32_t segment_number) {
  return NumberedName(segment_number, kSnapshotSuffix);
}

std::optional<uint32_t> ParseSnapshotFileName(std::string_view name) {
  return ParseNumberedName(name, kSnapshotSuffix);
}

std::string EncodeSegmentHeader(const SegmentHeader& header) {
  return EncodeHeader(header, kSegmentMagic);
}

absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, std::string_view file) {
  absl::StatusOr<SegmentHeader> header = DecodeHeader(bytes, kSegmentMagic, "log segment", file);
  if (!header.ok()) return header;
  if (header->segment_bytes < kSegmentBytesMin || header->segment_bytes > kSegmentBytesMax ||
      header->segment_bytes % kSegmentBytesMultiple != 0) {
    return DamageStatus(file, 0, "header: a field is out of its range");
  }
  return header;
}

std::string EncodeSnapshotHeader(const SegmentHeader& header, SnapshotKind kind) {
  return EncodeHeader(header, kind == SnapshotKind::kBackup ? kBackupMagic : kSnapshotMagic);
}

absl::StatusOr<SegmentHeader> DecodeSnapshotHeader(std::string_view bytes, SnapshotKind kind,
                                                   std::string_view file) {
  return kind == SnapshotKind::kBackup ? DecodeHeader(bytes, kBackupMagic, "backup", file)
                                       : DecodeHeader(bytes, kSnapshotMagic, "snapshot", file);
}

size_t FramePayloadBytesMax(uint64_t segment_bytes) {
  CHECK(segment_bytes >= kSegmentBytesMin);
  const uint64_t room = segment_bytes - kSegmentHeaderBytes - kBatchHeaderBytes -
                        (kBatchAlignmentBytes - 1) - kNextBatchBytes;
  return static_cast<size_t>(std::min<uint64_t>(room, kFramePayloadBytesMax));
}

void SealBatch(std::string& bytes, BatchType type, uint64_t first_sequence, uint32_t record_count,
               uint64_t salt) {
  CHECK(bytes.size() >= kBatchHeaderBytes);
  const size_t payload_bytes = bytes.size() - kBatchHeaderBytes;
  CHECK(payload_bytes <= kBatchPayloadBytesMax);
  bytes.resize(Aligned(bytes.size()), '\0');
  BatchHeaderBytes raw = {};
  raw.tag = TagOf(salt);
  raw.type = static_cast<uint32_t>(type);
  raw.first_sequence = first_sequence;
  raw.record_count = record_count;
  raw.payload_bytes = static_cast<uint32_t>(payload_bytes);
  std::memcpy(bytes.data(), &raw, sizeof(raw));
  raw.checksum = BatchChecksum(bytes, salt);
  std::memcpy(bytes.data(), &raw.checksum, sizeof(raw.checksum));
}

std::optional<size_t> PeekBatchSize(std::string_view header_bytes, uint64_t salt,
                                    uint64_t limit_bytes) {
  const auto raw = Load<BatchHeaderBytes>(header_bytes);
  if (raw.tag != TagOf(salt)) return std::nullopt;
  // Checked before anything is computed from it, or read.
  if (raw.payload_bytes > kBatchPayloadBytesMax) return std::nullopt;
  const size_t size_bytes = Aligned(kBatchHeaderBytes + raw.payload_bytes);
  if (size_bytes > limit_bytes) return std::nullopt;
  return size_bytes;
}

std::optional<ParsedBatch> ParseBatch(std::string_view bytes, uint64_t salt) {
  const std::optional<size_t> size_bytes = PeekBatchSize(bytes, salt, bytes.size());
  if (!size_bytes.has_value()) return std::nullopt;
  const std::string_view batch_bytes = bytes.substr(0, *size_bytes);
  const auto raw = Load<BatchHeaderBytes>(batch_bytes);
  if (raw.checksum != BatchChecksum(batch_bytes, salt)) return std::nullopt;
  ParsedBatch batch;
  batch.type = static_cast<BatchType>(raw.type);
  batch.first_sequence = raw.first_sequence;
  batch.record_count = raw.record_count;
  batch.payload = batch_bytes.substr(kBatchHeaderBytes, raw.payload_bytes);
  batch.size_bytes = *size_bytes;
  return batch;
}

void AppendRecord(std::string_view record, std::string* payload) {
  payload->append(Store(static_cast<uint32_t>(record.size())));
  payload->append(record);
}

bool TakeRecord(std::string_view* payload, std::string_view* record) {
  if (payload->size() < kRecordLengthBytes) return false;
  const auto length = Load<uint32_t>(*payload);
  if (length > payload->size() - kRecordLengthBytes) return false;
  *record = payload->substr(kRecordLengthBytes, length);
  payload->remove_prefix(kRecordLengthBytes + length);
  return true;
}

std::string EncodeEndPayload(const EngineMark& mark) {
  return Store(EndPayloadBytes{mark.digest_low, mark.digest_high, mark.engine_time_ms});
}

std::optional<EngineMark> DecodeEndPayload(std::string_view payload) {
  if (payload.size() != kEndPayloadBytes) return std::nullopt;
  const auto raw = Load<EndPayloadBytes>(payload);
  return EngineMark{raw.digest_low, raw.digest_high, raw.engine_time_ms};
}

std::string EncodeNumberPayload(uint64_t number) {
  return Store(number);
}

std::optional<uint64_t> DecodeNumberPayload(std::string_view payload) {
  if (payload.size() != kNumberPayloadBytes) return std::nullopt;
  return Load<uint64_t>(payload);
}

bool IsAllZero(std::string_view bytes) {
  // The first bytes are zero and each equals the one before it.
  if (bytes.empty()) return true;
  return bytes.front() == '\0' &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace anteroom::storage
