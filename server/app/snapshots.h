// Snapshots while the daemon runs: when enough of the log is closed, a thread at idle priority
// reads it into a second engine, writes that out, and removes what it covers
// (storage/compaction.h). On a machine without idle time the log grows meanwhile: when there is
// three times as much as was enough, one is begun at the loop's own priority, in place of it. The
// loop does nothing for it but look, once a second, how it goes. At the start, and then by the
// hour, the same thread tidies: what a crash has left of covered log goes, and what is too old in
// the archive.
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
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "server/storage/compaction.h"
#include "server/storage/files.h"

namespace anteroom::app {

// Invariant: a thread is joinable exactly while `working_`.
class Snapshots {
 public:
  enum class State : uint8_t {
    kOk,
    kFailing,   // none can be made now
    kStopped,   // the log does not give its own state
    kLogStays,  // what they cover can be neither removed nor archived
  };

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
  State state() const;
  // Whether what is under way, or was last, runs in idle time alone.
  bool idle() const { return work_.idle; }

 private:
  struct Work {
    uint32_t segment = 0;
    bool makes = false;  // otherwise only tidies
    bool idle = true;
    std::atomic<bool> cancel = false;
    std::atomic<bool> done = false;
    absl::StatusOr<storage::SnapshotMade> made = storage::SnapshotMade{};
    absl::Status tidied;
  };

  void Start(uint32_t segment, bool makes, bool idle);
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
  bool damaged_ = false;
  bool failed_ = false;
  bool tidying_failed_ = false;
  uint64_t make_from_ms_ = 0;  // none is made before
  uint64_t tidy_ms_ = 0;       // when it is due
  Work work_;
  std::thread thread_;
};

// As HealthReply has it.
std::string_view NameOf(Snapshots::State state);

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_SNAPSHOTS_H_
