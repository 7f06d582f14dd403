// Records on their way to the log, on the loop's side.
//
//   BatchBuilder builder(recovered.next_sequence, writer->frame_payload_bytes_max());
//   uint64_t sequence = builder.Stage(mark, record_bytes);  // before the engine applies it
//   ...
//   Batch batch = builder.Seal();              // moved to the pool: LogWriter::Write(batch)
//   builder.Recycle(std::move(batch));         // back on the loop: keeps its memory
//
// A batch holds one or more frames, each of which becomes one batch of the file (FORMAT.md): a
// frame is closed when it is full, so that no single write is long however long the disk stalled.
// The checksum is computed later, on the pool, because it depends on the segment; staging a record
// is one copy.
//
// Threads: BatchBuilder belongs to the loop. A Batch belongs to whoever holds it.
#ifndef ANTEROOM_SERVER_STORAGE_LOG_BATCH_H_
#define ANTEROOM_SERVER_STORAGE_LOG_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/storage/log_format.h"

namespace anteroom::storage {

// Some records that follow one another, ready to be written.
// Invariant: `bytes` begins with room for the batch header, then one framed record after another.
struct Frame {
  uint64_t first_sequence = 0;
  uint32_t record_count = 0;
  EngineMark mark;  // before the first record
  std::string bytes;
};

// Invariant: the frames follow one another without a gap in sequence, and none is empty; frames
// before `written_` are on disk.
class Batch {
 public:
  Batch() = default;
  Batch(Batch&&) = default;
  Batch& operator=(Batch&&) = default;

  bool empty() const { return frames_.empty(); }
  uint64_t record_count() const { return record_count_; }
  uint64_t first_sequence() const { return frames_.empty() ? 0 : frames_.front().first_sequence; }
  // The sequence after its last record.
  uint64_t next_sequence() const { return first_sequence() + record_count_; }
  size_t bytes() const { return bytes_; }
  void check_invariants() const;

 private:
  friend class BatchBuilder;
  friend class LogWriter;

  std::vector<Frame> frames_;
  size_t written_ = 0;  // frames
  uint64_t record_count_ = 0;
  size_t bytes_ = 0;
};

// Invariant: what is staged begins at the sequence after everything sealed before it;
// `next_sequence()` is the one that the next record gets.
class BatchBuilder {
 public:
  // `frame_payload_bytes_max` comes from LogWriter.
  BatchBuilder(uint64_t next_sequence, size_t frame_payload_bytes_max);

  // Appends a copy of the record and returns its sequence. `before` is the engine's state before
  // this record is applied; it is kept only when the record opens a frame.
  // The record is at most record_bytes_max() long.
  uint64_t Stage(const EngineMark& before, std::string_view record);

  // Whether a record of this size would open a frame: only then does Stage keep `before`, so that a
  // caller to whom a mark is dear can leave it out.
  bool OpensFrame(size_t record_bytes) const;

  size_t record_bytes_max() const { return frame_payload_bytes_max_ - kRecordLengthBytes; }
  uint64_t next_sequence() const { return next_sequence_; }
  bool empty() const { return staged_.empty(); }
  // Bytes staged and not sealed: what back-pressure looks at.
  size_t staged_bytes() const { return staged_.bytes_; }
  uint64_t staged_records() const { return staged_.record_count_; }

  // Hands over all that is staged; an empty batch when nothing is.
  Batch Seal();
  // Takes back the memory of a batch that has been written.
  void Recycle(Batch batch);

  void check_invariants() const;

 private:
  void OpenFrame(const EngineMark& before);

  const size_t frame_payload_bytes_max_;
  uint64_t next_sequence_;
  Batch staged_;
  std::vector<std::string> spare_buffers_;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_LOG_BATCH_H_
