// Keeps a data directory small: the closed segments of a log are read into a second engine by the
// same code as at a start, which is written out as a snapshot; then what it covers goes.
//
// That also shows, each time, that the log can be read and gives the state that its marks say.
//
// Threads: one at a time; blocks, for as long as the segments are long; beside a LogWriter that
// goes on in a later segment. Memory: a second engine, and a window of a few MiB.
#ifndef ANTEROOM_SERVER_STORAGE_COMPACTION_H_
#define ANTEROOM_SERVER_STORAGE_COMPACTION_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"

namespace anteroom::storage {

struct SnapshotMade {
  uint64_t bytes = 0;
  uint64_t records = 0;  // read to make it
};

// Writes the snapshot of the state before `segment_number` (`index_seed`: of EngineOptions), whose
// header must be on disk: the segments before it are closed. Once `cancel` is set it returns
// kCancelled soon. After kNoSpace or kCancelled nothing has changed; kDamaged means that the log
// does not give its own state, and everything is kept.
absl::StatusOr<SnapshotMade> MakeSnapshot(Files& files, const std::string& directory,
                                          uint32_t segment_number, uint64_t index_seed,
                                          const std::atomic<bool>& cancel);

// Refuses, saying why, a directory that covered log cannot go to: one that cannot be listed, and a
// data directory, whether this one (whose lock must be held) or another's.
absl::Status CheckArchive(Files& files, const std::string& archive);

// Removes the segments and snapshots that the snapshot of `segment_number` covers, the oldest
// first; they go to the archive when that is not empty. That snapshot must be on disk for good.
// Nothing in the archive is replaced: what is there already with the same bytes is only removed
// here; with other bytes it is of another log, and kAlreadyExists leaves both.
// After a failure, kCancelled (soon after `cancel` is set) or a crash at any moment some of them
// are left, and the same call may be made again.
absl::Status RemoveCovered(Files& files, const std::string& directory, uint32_t segment_number,
                           const std::string& archive, const std::atomic<bool>& cancel);

// Removes what is in an archive before its newest snapshot that is older than this, so that the
// archive always begins with a snapshot or with the first segment of all. Failures as above.
absl::Status PruneArchive(Files& files, const std::string& archive, int64_t keep_s,
                          const std::atomic<bool>& cancel);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_COMPACTION_H_
