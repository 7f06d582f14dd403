// What went wrong with the files, as an absl::Status whose payload tells the kind and the errno.
//
// The caller acts on the kind: kNoSpace is waited out, kDamaged, kNewerFormat, kSecretMissing,
// kMoved, kUnfinished and kWrongKind refuse a start and leave every file as it was, kInUse ends a
// second daemon, and kIo ends the daemon at once: after a failed write or sync nobody knows what is
// on disk.
//
// Thread-safe: free functions without state.
#ifndef ANTEROOM_SERVER_STORAGE_STORAGE_STATUS_H_
#define ANTEROOM_SERVER_STORAGE_STORAGE_STATUS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace anteroom::storage {

enum class FailureKind {
  kNone,           // not a failure of storage
  kIo,             // the operating system refused; see ErrnoOf
  kNotFound,       // no such file
  kNoSpace,        // disk or quota is full; nothing was lost, the same call may be made again
  kInUse,          // another process holds the directory
  kDamaged,        // the bytes are not what was written; file and offset are named
  kNewerFormat,    // written by a newer version; both versions are named
  kSecretMissing,  // a log is there but its secrets are not
  kMoved,          // the log goes on elsewhere
  kUnfinished,     // a restore was not finished there
  kWrongKind,      // a test directory opened as a real one, or the other way round
};

// `what` names the operation and the file, for example "write 00000001.log".
absl::Status ErrnoStatus(int error_number, std::string_view what);
absl::Status FailureStatus(FailureKind kind, std::string_view message);
// "damaged: 00000003.log at byte 4096: <why>"
absl::Status DamageStatus(std::string_view file, uint64_t offset_bytes, std::string_view why);

// The same with a place in front of its message.
absl::Status PlacedStatus(const absl::Status& status, std::string_view file, uint64_t offset_bytes);

FailureKind KindOf(const absl::Status& status);
// 0 when the status does not come from the operating system.
int ErrnoOf(const absl::Status& status);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_STORAGE_STATUS_H_
