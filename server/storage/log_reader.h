// Looks at the bytes of one segment through a window, so that memory does not depend on what the
// file claims about itself. Beyond the end of the file it shows zeros: a file cut short by another
// program reads as one with a zero tail.
//
// Threads: one.
#ifndef ANTEROOM_SERVER_STORAGE_LOG_READER_H_
#define ANTEROOM_SERVER_STORAGE_LOG_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"
#include "server/storage/log_format.h"

namespace anteroom::storage {

// Invariant: `window_` holds the bytes of the file from `window_offset_bytes_` on.
class SegmentReader {
 public:
  static absl::StatusOr<std::unique_ptr<SegmentReader>> Open(Files& files, const std::string& path);

  uint64_t file_bytes() const { return file_bytes_; }

  // Forgets what it has read, and takes the file's size anew.
  absl::Status LookAgain();

  // `bytes` at `offset_bytes`, at most kReadBytesMax. They live until the next call.
  absl::StatusOr<std::string_view> Read(uint64_t offset_bytes, size_t bytes);

  // The valid batch at this offset, nothing when there is none. It lives until the next call.
  absl::StatusOr<std::optional<ParsedBatch>> ReadBatch(uint64_t offset_bytes, uint64_t end_bytes,
                                                       uint64_t salt);
  // The offset of the first valid batch that begins at or after `offset_bytes`.
  absl::StatusOr<std::optional<uint64_t>> FindBatch(uint64_t offset_bytes, uint64_t end_bytes,
                                                    uint64_t salt);

  // Bytes from `offset_bytes` up to the end of the file that are not zero.
  struct NonZeroRange {
    uint64_t begin_bytes = 0;
    uint64_t end_bytes = 0;  // after the last one; equal to begin_bytes when all are zero
    bool empty() const { return begin_bytes == end_bytes; }
  };
  absl::StatusOr<NonZeroRange> FindNonZero(uint64_t offset_bytes);

  void check_invariants() const;

  static constexpr size_t kReadBytesMax =
      kBatchHeaderBytes + kBatchPayloadBytesMax + kBatchAlignmentBytes;

 private:
  SegmentReader(std::unique_ptr<File> file, uint64_t file_bytes);

  const std::unique_ptr<File> file_;
  uint64_t file_bytes_;
  std::string window_;
  uint64_t window_offset_bytes_ = 0;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_LOG_READER_H_
