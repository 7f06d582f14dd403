// Snapshots while the daemon runs: when enough of the log is closed, a thread at idle priority
// reads it into a second engine, writes that out, and removes what it covers
// (storage/compaction.h). The loop does nothing for it but look, once a second, how it goes. At the
// start, and then by the hour, the same thread tidies: what a crash has left of covered log goes,
// and what is too old in the archive.
//
// A disk without room for it is said once and tried again, and so is covered log that cannot be
// removed or archived, which stays; a log that does not give its own state is said, and nothing is
// removed any more: what is on disk is all there is to find out why.
//
// Threads: the loop's; the one thread that it starts sees `work_` alone.
#ifndef ANTEROOM_SERVER_APP_SNAPSHOTS_H_
#define ANTEROOM_SERVER_APP_SNAPSHOTS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/storage/compaction.h"
#include "server/storage/files.h"

namespace anteroom::app {

// Invariant: a thread is joinable exactly while `working_`.
class Snapshots {
 public:
  struct Options {
    std::string directory;
    // Closed log beyond which one is made: so much, or as much as the last one took, if that is
    // more, so that writing them costs no more than writing the log.
    uint64_t log_bytes = 0;
    std::string archive;  // where covered segments go; empty: nowhere
    std::optional<int64_t> archive_keep_s;
  };

  // `number` and `bytes` of the one that the daemon started from; 0 without one.
  Snapshots(storage::Files* files, Options options, uint32_t number, uint64_t bytes);
  // Stops what is under way.
  ~Snapshots();

  // `open_segment` is written to; those before it are closed.
  void Look(uint32_t open_segment, uint64_t segment_bytes, uint64_t now_ms);
  // Nothing more is begun; what is under way ends soon.
  void Stop();

  // Whether the thread is at work, and may use the disk.
  bool working() const { return working_; }
  // Of the segment with which the log goes on after the last one; 0 without one.
  uint32_t number() const { return number_; }
  uint64_t bytes() const { return bytes_; }
  // Whether the last attempt to make one failed; to tidy.
  bool failed() const { return failed_; }
  bool tidying_failed() const { return tidying_failed_; }

 private:
  struct Work {
    uint32_t segment = 0;
    bool makes = false;  // otherwise only tidies
    std::atomic<bool> cancel = false;
    std::atomic<bool> done = false;
    absl::StatusOr<storage::SnapshotMade> made = storage::SnapshotMade{};
    absl::Status tidied;
  };

  void Start(uint32_t segment, bool makes);
  void DoWork();  // by the thread
  void TakeDone(uint64_t now_ms);
  void TakeMade(uint64_t now_ms);
  void TakeTidied(uint64_t now_ms);

  storage::Files& files_;
  const Options options_;
  uint32_t number_;
  uint64_t bytes_;

  bool working_ = false;
  bool stopped_ = false;  // for good
  bool failed_ = false;
  bool tidying_failed_ = false;
  uint64_t make_from_ms_ = 0;  // none is made before
  uint64_t tidy_ms_ = 0;       // when it is due
  Work work_;
  std::thread thread_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_SNAPSHOTS_H_
