#include "server/storage/log_reader.h"

#include <algorithm>
#include <utility>

#include "server/base/check.h"

namespace anteroom::storage {
namespace {

// Read at once, unless one batch needs more.
constexpr size_t kWindowBytes = 1u << 20;

}  // namespace

SegmentReader::SegmentReader(std::unique_ptr<File> file, uint64_t file_bytes)
    : file_(std::move(file)), file_bytes_(file_bytes) {}

absl::StatusOr<std::unique_ptr<SegmentReader>> SegmentReader::Open(Files& files,
                                                                   const std::string& path) {
  absl::StatusOr<std::unique_ptr<File>> file = files.Open(path, OpenMode::kRead);
  if (!file.ok()) return file.status();
  const absl::StatusOr<uint64_t> size = (*file)->SizeBytes();
  if (!size.ok()) return size.status();
  return std::unique_ptr<SegmentReader>(new SegmentReader(*std::move(file), *size));
}

absl::Status SegmentReader::LookAgain() {
  std::string().swap(window_);
  const absl::StatusOr<uint64_t> size = file_->SizeBytes();
  if (!size.ok()) return size.status();
  file_bytes_ = *size;
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> SegmentReader::Read(uint64_t offset_bytes, size_t bytes) {
  CHECK(bytes <= kReadBytesMax);
  const bool inside = offset_bytes >= window_offset_bytes_ &&
                      offset_bytes + bytes <= window_offset_bytes_ + window_.size();
  if (!inside) {
    // No more than the file has, so that a small one costs little.
    const uint64_t file_bytes_left = file_bytes_ - std::min(file_bytes_, offset_bytes);
    const size_t wanted =
        std::max<size_t>(bytes, std::min<uint64_t>(kWindowBytes, file_bytes_left));
    window_.resize(wanted);
    window_offset_bytes_ = offset_bytes;
    const absl::StatusOr<size_t> got = ReadFully(*file_, offset_bytes, window_.data(), wanted);
    if (!got.ok()) {
      window_.clear();
      return got.status();
    }
    std::fill(window_.begin() + static_cast<ptrdiff_t>(*got), window_.end(), '\0');
  }
  return std::string_view(window_).substr(offset_bytes - window_offset_bytes_, bytes);
}

absl::StatusOr<std::optional<ParsedBatch>> SegmentReader::ReadBatch(uint64_t offset_bytes,
                                                                    uint64_t end_bytes,
                                                                    uint64_t salt) {
  if (offset_bytes + kBatchHeaderBytes > end_bytes) return std::optional<ParsedBatch>();
  const absl::StatusOr<std::string_view> header = Read(offset_bytes, kBatchHeaderBytes);
  if (!header.ok()) return header.status();
  const std::optional<size_t> size_bytes = PeekBatchSize(*header, salt, end_bytes - offset_bytes);
  if (!size_bytes.has_value()) return std::optional<ParsedBatch>();
  const absl::StatusOr<std::string_view> bytes = Read(offset_bytes, *size_bytes);
  if (!bytes.ok()) return bytes.status();
  return ParseBatch(*bytes, salt);
}

absl::StatusOr<std::optional<uint64_t>> SegmentReader::FindBatch(uint64_t offset_bytes,
                                                                 uint64_t end_bytes,
                                                                 uint64_t salt) {
  CHECK(offset_bytes % kBatchAlignmentBytes == 0);
  for (; offset_bytes + kBatchHeaderBytes <= end_bytes; offset_bytes += kBatchAlignmentBytes) {
    const absl::StatusOr<std::optional<ParsedBatch>> batch =
        ReadBatch(offset_bytes, end_bytes, salt);
    if (!batch.ok()) return batch.status();
    if (batch->has_value()) return std::optional<uint64_t>(offset_bytes);
  }
  return std::optional<uint64_t>();
}

absl::StatusOr<SegmentReader::NonZeroRange> SegmentReader::FindNonZero(uint64_t offset_bytes) {
  const auto is_not_zero = [](char c) { return c != '\0'; };
  NonZeroRange range{offset_bytes, offset_bytes};
  for (uint64_t at = offset_bytes; at < file_bytes_;) {
    const size_t bytes = std::min<uint64_t>(kWindowBytes, file_bytes_ - at);
    const absl::StatusOr<std::string_view> part = Read(at, bytes);
    if (!part.ok()) return part.status();
    if (!IsAllZero(*part)) {
      const auto first = std::find_if(part->begin(), part->end(), is_not_zero) - part->begin();
      const auto last = std::find_if(part->rbegin(), part->rend(), is_not_zero) - part->rbegin();
      if (range.empty()) range.begin_bytes = at + static_cast<uint64_t>(first);
      range.end_bytes = at + bytes - static_cast<uint64_t>(last);
    }
    at += bytes;
  }
  return range;
}

void SegmentReader::check_invariants() const {
  CHECK(window_.size() <= std::max(kWindowBytes, kReadBytesMax));
}

}  // namespace anteroom::storage
