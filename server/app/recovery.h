// From a data directory to a running state: takes the lock, reads the secrets, replays the newest
// snapshot and the log after it into an engine and opens the log for writing. Everything that can
// be wrong with the files is refused here, with the file and the place named, before anybody is
// answered.
//
// Threads: the main one, before the loop; blocks for as long as the log is long, and says on
// standard error how far it is.
#ifndef ANTEROOM_SERVER_APP_RECOVERY_H_
#define ANTEROOM_SERVER_APP_RECOVERY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/auth/secrets.h"
#include "server/engine/engine.h"
#include "server/storage/data_directory.h"
#include "server/storage/files.h"
#include "server/storage/log_writer.h"

namespace anteroom::app {

struct RecoveryOptions {
  std::string directory;
  bool virtual_clock = false;
  uint64_t segment_bytes = storage::kSegmentBytesDefault;
  std::string archive;  // is looked at, whether it can be one; empty: none
};

// What a daemon starts from. Holds the directory's lock.
struct Recovered {
  std::unique_ptr<storage::DataDirectory> directory;
  auth::Secrets secrets;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<storage::LogWriter> writer;
  uint64_t log_bytes = 0;  // in all segments, up to the last batch
  uint32_t snapshot_number = 0;
  uint64_t snapshot_bytes = 0;
};

absl::StatusOr<Recovered> Recover(storage::Files& files, const RecoveryOptions& options);

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_RECOVERY_H_
