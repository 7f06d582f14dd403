// A backup: the whole state of a data directory in one file, secrets included, and a directory made
// of it again. The file is a snapshot (snapshot_file.h) with the secrets before its entries; who
// has it can make every token, so it is 0600 as the secrets are.
//
// A directory that was restored is of the next epoch. To move a daemon to another machine is to
// stop it, to make a backup that says in the log that it has moved, and to restore that: no daemon
// starts from the old directory again.
//
// Threads: one; blocks.
#ifndef ANTEROOM_SERVER_STORAGE_BACKUP_H_
#define ANTEROOM_SERVER_STORAGE_BACKUP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"
#include "server/storage/files.h"
#include "server/storage/log_format.h"

namespace anteroom::storage {

// What the backup holds.
struct BackupContent {
  uint64_t next_sequence = 0;
  uint64_t entries = 0;
  EngineMark mark;
  uint64_t epoch = 0;  // of a directory that is restored from it
};

// Says what is wrong with the content of `secrets`, which storage does not know, for a log whose
// segments name the key `first_key_id` and that gives this engine.
using CheckSecrets = std::function<absl::Status(std::string_view secrets, uint32_t first_key_id,
                                                const Engine& engine)>;

// Of what is in the log by now, also beside a running daemon, without disturbing it. `file` must
// not be there yet. `random` gives 64 unpredictable bits.
absl::StatusOr<BackupContent> MakeBackup(Files& files, const std::string& directory,
                                         const std::string& file, const CheckSecrets& check_secrets,
                                         const std::function<uint64_t()>& random);

// The same of a directory whose daemon is stopped (else kInUse), and then, when the backup is on
// disk, the last thing in its log: that it has moved.
absl::StatusOr<BackupContent> MakeMovingBackup(Files& files, const std::string& directory,
                                               const std::string& file,
                                               const CheckSecrets& check_secrets,
                                               const std::function<uint64_t()>& random);

// `directory` must be empty, not there, or left by a restore that did not succeed. From its first
// step on until it has succeeded no daemon starts there, whatever fails or stops in between: an
// empty directory would be begun anew. All of the backup is checked, its digest and secrets too,
// before the first piece of it is there.
absl::StatusOr<BackupContent> RestoreBackup(Files& files, const std::string& file,
                                            const std::string& directory, uint64_t segment_bytes,
                                            const CheckSecrets& check_secrets,
                                            const std::function<uint64_t()>& random);

}  // namespace anteroom::storage

#endif  // ANTEROOM_SERVER_STORAGE_BACKUP_H_
