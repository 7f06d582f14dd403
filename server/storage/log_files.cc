#include "server/storage/log_files.h"

#include <algorithm>
#include <optional>

#include "server/storage/data_directory.h"
#include "server/storage/log_format.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

// Each one takes a new snapshot of the daemon's, made between list and opening.
constexpr int kTries = 64;
// Of a longer log the rest is opened one by one: a process may have few files open.
constexpr size_t kOpenAtOnce = 256;

absl::Status Missing(uint32_t number, const std::string& there) {
  return DamageStatus(SegmentFileName(number), 0, "the segment is missing, " + there + " is there");
}

absl::StatusOr<std::unique_ptr<SegmentReader>> OpenSegment(Files& files, const std::string& path,
                                                           uint32_t number) {
  auto reader = SegmentReader::Open(files, path);
  // Before anything is read: a sparse file may claim any size.
  if (reader.ok() && (*reader)->file_bytes() > kSegmentBytesMax) {
    return DamageStatus(SegmentFileName(number), kSegmentBytesMax,
                        "the file is too large for a segment");
  }
  return reader;
}

}  // namespace

std::string LogFiles::SegmentPath(uint32_t number) const {
  return JoinPath(directory_, SegmentFileName(number));
}

absl::Status LogFiles::Open(uint32_t end, bool archive) {
  std::vector<std::string> incomplete;
  absl::Status status;
  for (int left = kTries; left > 0; --left) {
    const absl::StatusOr<std::vector<std::string>> names = files_.List(directory_);
    if (!names.ok()) return names.status();
    status = CheckFinished(*names, directory_);
    if (!status.ok()) return status;
    Take(*names, end, archive);
    status = CheckComplete();
    if (!status.ok()) {
      if (*names == incomplete) return status;
      incomplete = *names;
      continue;
    }
    status = OpenAll();
    if (KindOf(status) != FailureKind::kNotFound) return status;
  }
  return status;
}

// What a snapshot covers is not looked at: it may be going away.
void LogFiles::Take(const std::vector<std::string>& names, uint32_t end, bool archive) {
  segments_.clear();
  snapshot_ = 0;
  for (const std::string& name : names) {
    const std::optional<uint32_t> segment = ParseSegmentFileName(name);
    if (segment.has_value() && *segment <= end) segments_.push_back(*segment);
    const std::optional<uint32_t> snapshot = ParseSnapshotFileName(name);
    if (!snapshot.has_value() || *snapshot > end) continue;
    if (snapshot_ == 0 || !archive) snapshot_ = *snapshot;
  }
  // The names come in order. What goes back to the very first segment needs no snapshot.
  if (archive && !segments_.empty() && segments_.front() == 1) snapshot_ = 0;
  const uint32_t first = std::max(snapshot_, 1U);
  segments_.erase(segments_.begin(), std::lower_bound(segments_.begin(), segments_.end(), first));
}

absl::Status LogFiles::CheckComplete() const {
  uint32_t expected = std::max(snapshot_, 1U);
  if (snapshot_ != 0 && segments_.empty()) {
    return Missing(expected, SnapshotFileName(expected));
  }
  for (const uint32_t number : segments_) {
    if (number != expected) return Missing(expected, SegmentFileName(number));
    ++expected;
  }
  return absl::OkStatus();
}

absl::Status LogFiles::OpenAll() {
  readers_.clear();
  if (snapshot_ != 0) {
    auto reader = SegmentReader::Open(files_, JoinPath(directory_, SnapshotFileName(snapshot_)));
    if (!reader.ok()) return reader.status();
    snapshot_reader_ = *std::move(reader);
  }
  for (const uint32_t number : segments_) {
    if (readers_.size() == kOpenAtOnce) break;
    auto reader = OpenSegment(files_, SegmentPath(number), number);
    if (!reader.ok()) return reader.status();
    readers_[number] = *std::move(reader);
  }
  return absl::OkStatus();
}

absl::StatusOr<SegmentReader*> LogFiles::Segment(uint32_t number) {
  std::unique_ptr<SegmentReader>& reader = readers_[number];
  if (reader == nullptr) {
    auto opened = OpenSegment(files_, SegmentPath(number), number);
    if (!opened.ok()) return opened.status();
    reader = *std::move(opened);
  } else if (const absl::Status status = reader->LookAgain(); !status.ok()) {
    return status;
  }
  return reader.get();
}

absl::StatusOr<bool> LogFiles::HasLaterThan(uint32_t number) {
  const absl::StatusOr<std::vector<std::string>> names = files_.List(directory_);
  if (!names.ok()) return names.status();
  return std::any_of(names->begin(), names->end(), [number](const std::string& name) {
    return std::max(ParseSegmentFileName(name).value_or(0),
                    ParseSnapshotFileName(name).value_or(0)) > number;
  });
}

}  // namespace anteroom::storage
