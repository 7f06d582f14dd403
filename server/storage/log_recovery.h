// Reads a log, from the newest snapshot or from its first byte to its last, hands its records over
// in order, and decides what every byte means by the table in FORMAT.md, whose letters stand in the
// code.
//
//   class Replay : public LogVisitor { ... };
//   absl::StatusOr<RecoveredLog> log = RecoverLog(files, "anteroom-data", options, replay);
//
// kInspect changes nothing (`log check`, `log dump`). Beside a daemon that is writing it ends where
// the log ended at some moment after the call: what it sees in pieces there is looked at once more,
// and what goes while it reads is open already. kMend is the daemon's start: the caller
// holds the lock (DataDirectory); what was read is put on disk for good before the call returns, so
// that answers may rest on it, and a torn end is zeroed and synced. A crash at any moment of it,
// again and again, leaves the same records.
//
// Memory: a window of a few MiB, whatever lengths the file claims.
// Threads: one, before the loop begins; blocks.
#ifndef ANTEROOM_SERVER_STORAGE_LOG_RECOVERY_H_
#define ANTEROOM_SERVER_STORAGE_LOG_RECOVERY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/files.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_format.h"

namespace anteroom::storage {

// Where a mark stands.
enum class MarkPlace {
  kSnapshotEnd,   // all of a snapshot
  kSegmentStart,  // the first bytes of a segment
  kCleanStop,     // an end record: the daemon stopped in good order here
};

// Told what the log says. A status other than OK stops the reading and is returned, with file and
// offset in front of it.
class LogVisitor {
 public:
  virtual ~LogVisitor() = default;
  // What a snapshot holds, before any record: some of its entries in order, and after the last.
  // Who takes none refuses a log that has one.
  virtual absl::Status SnapshotEntries(const std::vector<std::string_view>&) {
    return absl::UnimplementedError("a snapshot is not read here");
  }
  virtual absl::Status SnapshotEnd() { return absl::OkStatus(); }
  // The bytes live until the call returns.
  virtual absl::Status Record(uint64_t sequence, std::string_view bytes) = 0;
  // The state that the engine must have now, before record `next_sequence`.
  virtual absl::Status Mark(MarkPlace place, uint64_t next_sequence, const EngineMark& mark) = 0;
};

// Invalid bytes at the end of an unclean stop, cut off.
struct TornEnd {
  std::string file;
  uint64_t offset_bytes = 0;
  uint64_t length_bytes = 0;  // up to the last byte that was not zero; 0 when the file was short
};
// "torn end: 00000001.log at byte 8192, 310 bytes cut off"
std::string ToText(const TornEnd& torn_end);

enum class RecoveryMode { kInspect, kMend };

struct RecoveryOptions {
  RecoveryMode mode = RecoveryMode::kInspect;
  // When set, a log of the other kind is refused (kWrongKind).
  std::optional<DirectoryKind> kind = std::nullopt;
  // When set, reads only up to the start of this segment, whose header is there. For kInspect.
  std::optional<uint32_t> until_segment = std::nullopt;
  // An archive: read from its beginning, not from its newest snapshot, and ends where it ends. For
  // kInspect.
  bool archive = false;
};

struct RecoveredLog {
  // No log yet: nothing but perhaps secrets in the directory.
  bool empty = true;
  uint64_t next_sequence = 1;
  // The last thing in the log is an end record.
  bool clean_stop = false;
  // Not 0: the log was moved and goes on elsewhere, as this epoch (kMend refuses it).
  uint64_t moved_to_epoch = 0;
  std::optional<TornEnd> torn_end;
  uint32_t snapshot_number = 0;  // of the segment that it leads to; 0: there is none
  uint64_t snapshot_entry_count = 0;
  uint64_t snapshot_bytes = 0;
  uint64_t record_count = 0;
  uint64_t batch_count = 0;
  uint32_t segment_count = 0;
  // The header of the last segment in use: kind, epoch, token key, digest and time at its start.
  SegmentHeader last_header;

  // Where the next batch goes; for LogWriter.
  uint64_t end_offset_bytes = 0;
  // The last segment is closed by a `next` batch: what follows belongs in the next one.
  bool segment_closed = false;
};

// A directory without a log is an empty one, not an error; a log that cannot be read never is.
absl::StatusOr<RecoveredLog> RecoverLog(Files& files, const std::string& directory,
                                        const RecoveryOptions& options, LogVisitor& visitor);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_LOG_RECOVERY_H_
