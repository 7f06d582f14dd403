#include "server/storage/log_batch.h"

#include <utility>

#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::storage {

void Batch::check_invariants() const {
  CHECK(written_ <= frames_.size());
  uint64_t sequence = first_sequence();
  uint64_t records = 0;
  size_t bytes = 0;
  for (const Frame& frame : frames_) {
    CHECK_EQ(frame.first_sequence, sequence);
    CHECK(frame.record_count > 0);
    CHECK(frame.bytes.size() >= kBatchHeaderBytes + kRecordLengthBytes * frame.record_count);
    sequence += frame.record_count;
    records += frame.record_count;
    bytes += frame.bytes.size();
  }
  CHECK_EQ(records, record_count_);
  // Writing pads the frames.
  if (written_ == 0) CHECK_EQ(bytes, bytes_);
}

BatchBuilder::BatchBuilder(uint64_t next_sequence, size_t frame_payload_bytes_max)
    : frame_payload_bytes_max_(frame_payload_bytes_max), next_sequence_(next_sequence) {
  CHECK(frame_payload_bytes_max > kRecordLengthBytes);
}

void BatchBuilder::OpenFrame(const EngineMark& before) {
  Frame& frame = staged_.frames_.emplace_back();
  if (!spare_buffers_.empty()) {
    frame.bytes = std::move(spare_buffers_.back());
    spare_buffers_.pop_back();
  }
  frame.first_sequence = next_sequence_;
  frame.mark = before;
  frame.bytes.assign(kBatchHeaderBytes, '\0');
  staged_.bytes_ += kBatchHeaderBytes;
}

bool BatchBuilder::OpensFrame(size_t record_bytes) const {
  return staged_.frames_.empty() ||
         staged_.frames_.back().bytes.size() + kRecordLengthBytes + record_bytes >
             kBatchHeaderBytes + frame_payload_bytes_max_;
}

uint64_t BatchBuilder::Stage(const EngineMark& before, std::string_view record) {
  CHECK(record.size() <= record_bytes_max());
  const size_t framed_bytes = kRecordLengthBytes + record.size();
  if (OpensFrame(record.size())) OpenFrame(before);
  Frame& frame = staged_.frames_.back();
  AppendRecord(record, &frame.bytes);
  ++frame.record_count;
  ++staged_.record_count_;
  staged_.bytes_ += framed_bytes;
  return next_sequence_++;
}

Batch BatchBuilder::Seal() {
  return std::exchange(staged_, Batch());
}

void BatchBuilder::Recycle(Batch batch) {
  for (Frame& frame : batch.frames_) {
    if (spare_buffers_.size() == limits::kLogSpareBuffersMax) break;
    spare_buffers_.push_back(std::move(frame.bytes));
  }
}

void BatchBuilder::check_invariants() const {
  staged_.check_invariants();
  CHECK_EQ(staged_.written_, 0u);
  if (!staged_.empty()) CHECK_EQ(staged_.next_sequence(), next_sequence_);
  CHECK(spare_buffers_.size() <= limits::kLogSpareBuffersMax);
}

}  // namespace anteroom::storage
