// A snapshot on disk: the state before the first record of a segment, whole, so that everything
// before that segment can go. Laid out as a segment is (FORMAT.md): a header, batches of entries,
// an end batch. The log does not look into its entries; the engine's are server/engine/snapshot.h.
//
//   auto writer = SnapshotWriter::Create(files, path, kind, header_of_the_segment);
//   for (entry : entries) status = (*writer)->Add(entry);
//   status = (*writer)->Finish();      // only now it is there, under its name and for good
//
// Threads: one at a time; blocks.
#ifndef ANTEROOM_SERVER_STORAGE_SNAPSHOT_FILE_H_
#define ANTEROOM_SERVER_STORAGE_SNAPSHOT_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"
#include "server/storage/log_format.h"
#include "server/storage/log_reader.h"

namespace anteroom::storage {

// Invariant: until Finish has returned OK there is at most a temporary file, which the next start
// removes; its destructor does so too.
class SnapshotWriter {
 public:
  // `segment` is the header of the segment with which the log goes on; `path` is where it will be.
  static absl::StatusOr<std::unique_ptr<SnapshotWriter>> Create(Files& files, std::string path,
                                                                SnapshotKind kind,
                                                                const SegmentHeader& segment);
  ~SnapshotWriter();

  absl::Status Add(std::string_view entry);
  // Returns when it is on disk. kNoSpace from here or from Add: the temporary file is gone, and
  // nothing else was touched.
  absl::Status Finish();

  uint64_t bytes() const { return offset_bytes_; }

 private:
  SnapshotWriter(Files& files, std::string path, SnapshotKind kind, const SegmentHeader& segment);

  absl::Status WriteBatch(BatchType type);

  Files& files_;
  const std::string path_;
  const std::string temporary_path_;
  const SnapshotKind kind_;
  SegmentHeader header_;
  std::unique_ptr<File> file_;
  std::string batch_;  // begins with room for its header
  uint32_t batch_entries_ = 0;
  uint64_t next_entry_ = 1;
  uint64_t offset_bytes_ = kSegmentHeaderBytes;
  uint64_t synced_bytes_ = 0;
  bool finished_ = false;
};

// Hands the entries of a snapshot over, batch by batch; the views live until the call returns. A
// status other than OK stops the reading and is returned, with file and offset in front.
using TakeEntries = std::function<absl::Status(const std::vector<std::string_view>& entries)>;

// Returns the header when every byte of the file is right.
absl::StatusOr<SegmentHeader> ReadSnapshot(SegmentReader& reader, const std::string& name,
                                           SnapshotKind kind, const TakeEntries& take);
absl::StatusOr<SegmentHeader> ReadSnapshot(Files& files, const std::string& path, SnapshotKind kind,
                                           const TakeEntries& take);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_SNAPSHOT_FILE_H_
