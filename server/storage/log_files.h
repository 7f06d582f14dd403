// The files of a log, opened together before any of them is read. A running daemon takes away what
// a new snapshot covers; a file that is open stays what it was.
//
// Threads: one; blocks.
#ifndef ANTEROOM_SERVER_STORAGE_LOG_FILES_H_
#define ANTEROOM_SERVER_STORAGE_LOG_FILES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"
#include "server/storage/log_reader.h"

namespace anteroom::storage {

// Invariant: `segments` are numbers that follow one another.
class LogFiles {
 public:
  LogFiles(Files& files, std::string directory) : files_(files), directory_(std::move(directory)) {}

  // Row A: the numbers of the segments follow one another, from that of the newest snapshot or from
  // 1. Files with a number above `end` are not looked at; of an archive the oldest snapshot counts,
  // if any is needed. What is missing is damage only when it is missing in two equal lists. What
  // goes between list and opening is looked for anew, so many times.
  absl::Status Open(uint32_t end, bool archive);

  // From the first that is needed on.
  const std::vector<uint32_t>& segments() const { return segments_; }
  uint32_t snapshot() const { return snapshot_; }  // 0: there is none
  // Of that snapshot.
  SegmentReader& snapshot_reader() { return *snapshot_reader_; }
  // With its size of now. It lives until Close.
  absl::StatusOr<SegmentReader*> Segment(uint32_t number);
  void Close(uint32_t number) { readers_.erase(number); }
  // Whether the directory has got a segment after this one, or a snapshot.
  absl::StatusOr<bool> HasLaterThan(uint32_t number);

 private:
  void Take(const std::vector<std::string>& names, uint32_t end, bool archive);
  absl::Status CheckComplete() const;
  absl::Status OpenAll();
  std::string SegmentPath(uint32_t number) const;

  Files& files_;
  const std::string directory_;
  std::vector<uint32_t> segments_;
  uint32_t snapshot_ = 0;
  std::unique_ptr<SegmentReader> snapshot_reader_;
  std::map<uint32_t, std::unique_ptr<SegmentReader>> readers_;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_LOG_FILES_H_
