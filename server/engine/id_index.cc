#include "server/engine/id_index.h"

// The hash is compiled into this file: a call through the shared library costs as much again.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <new>

namespace anteroom {

namespace {

// The first segment grows through a few sizes by copying, at most 16 KiB, then to a full one.
constexpr size_t kFirstLines = 4;
constexpr size_t kFirstGrowthFactor = 8;
constexpr size_t kFirstGrowthLinesMax = 256;

IndexLine* AllocateLines(size_t lines) {
  return static_cast<IndexLine*>(
      ::operator new (lines * sizeof(IndexLine), std::align_val_t{alignof(IndexLine)}));
}

void FreeLines(IndexLine* lines) {
  ::operator delete (lines, std::align_val_t{alignof(IndexLine)});
}

}  // namespace

uint64_t IndexHash(uint64_t seed, uint32_t room, std::string_view id) {
  // 2^64 over the golden ratio, odd: different rooms give far-apart seeds.
  return XXH3_64bits_withSeed(id.data(), id.size(), seed ^ room * uint64_t{0x9E3779B97F4A7C15});
}

IndexBuckets::IndexBuckets() : first_segment_lines_(kFirstLines) {
  segments_.push_back(AllocateLines(first_segment_lines_));
  std::memset(static_cast<void*>(segments_[0]), 0, sizeof(IndexLine));
}

IndexBuckets::~IndexBuckets() {
  for (IndexLine* segment : segments_) FreeLines(segment);
}

size_t IndexBuckets::bytes() const {
  // A full segment is touched only as far as it is used.
  const size_t lines = first_segment_lines_ < kSegmentLines ? first_segment_lines_ : size_;
  return lines * sizeof(IndexLine) + segments_.capacity() * sizeof(segments_[0]);
}

void IndexBuckets::AddLast() {
  const size_t bucket = size_;
  if (bucket < kSegmentLines) {
    if (bucket == first_segment_lines_) {
      first_segment_lines_ = first_segment_lines_ * kFirstGrowthFactor <= kFirstGrowthLinesMax
                                 ? first_segment_lines_ * kFirstGrowthFactor
                                 : kSegmentLines;
      IndexLine* grown = AllocateLines(first_segment_lines_);
      std::memcpy(static_cast<void*>(grown), segments_[0], bucket * sizeof(IndexLine));
      FreeLines(std::exchange(segments_[0], grown));
    }
  } else if (bucket / kSegmentLines == segments_.size()) {
    segments_.push_back(AllocateLines(kSegmentLines));
  }
  ++size_;
  if (size_ > mask_ + 1) mask_ = mask_ * 2 + 1;
  std::memset(static_cast<void*>(&(*this)[bucket]), 0, sizeof(IndexLine));
}

void IndexBuckets::DropLast() {
  CHECK_GT(size_, 1u);
  --size_;
  if (size_ <= mask_ / 2 + 1) mask_ /= 2;
  // One empty segment is kept, so that a size that swings about the boundary allocates nothing.
  if (segments_.size() > size_ / kSegmentLines + 2) {
    FreeLines(segments_.back());
    segments_.pop_back();
  }
}

void IndexBuckets::check_invariants() const {
  CHECK_GE(size_, 1u);
  CHECK_EQ(mask_, std::bit_ceil(size_) - 1);
  CHECK_GE(segments_.size() * kSegmentLines, size_);
  if (segments_.size() == 1) CHECK_GE(first_segment_lines_, size_);
}

}  // namespace anteroom
