// A whole state in one file, and back: backup, restore.
#include <cstdio>
#include <filesystem>

#include "server/auth/random.h"
#include "server/storage/backup.h"
#include "server/storage/posix_files.h"
#include "server/storage/storage_status.h"
#include "tools/cli/command.h"
#include "tools/cli/human.h"
#include "tools/cli/log_reading.h"
#include "tools/cli/secrets_check.h"

namespace anteroom::cli {
namespace {

constexpr char kDirectoryUnsaid[] = "./anteroom-data";

std::string DirectoryOf(const Arguments& arguments) {
  return arguments.data_directory.empty() ? kDirectoryUnsaid : arguments.data_directory;
}

bool IsIn(const std::string& directory, const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  return fs::equivalent(fs::absolute(file).parent_path(), directory, error);
}

ExitStatus Say(Context& context, const absl::StatusOr<storage::BackupContent>& content,
               const std::string& what) {
  if (!content.ok()) return FailReading(context, content.status());
  if (context.json()) {
    context.PrintJson(Json{{"next_sequence", content->next_sequence},
                           {"at_ms", content->mark.engine_time_ms},
                           {"entries", content->entries},
                           {"epoch", content->epoch}});
  } else {
    context.PrintText(what + ": the state before record " + std::to_string(content->next_sequence) +
                      ", " + Count(content->entries, "entry", "entries") + ", engine time " +
                      HumanDuration(static_cast<uint64_t>(content->mark.engine_time_ms)) +
                      ", epoch " + std::to_string(content->epoch));
  }
  return ExitStatus::kDone;
}

ExitStatus Backup(Context& context, const Arguments& arguments) {
  storage::PosixFiles files;
  const std::string directory = DirectoryOf(arguments);
  if (IsIn(directory, arguments.path)) {
    return context.Fail("invalid",
                        Printable(arguments.path) +
                            " is in the data directory, where it is in the daemon's way: "
                            "put it somewhere else");
  }
  const auto make = arguments.move ? storage::MakeMovingBackup : storage::MakeBackup;
  return Say(context, make(files, directory, arguments.path, SecretsAreRight, auth::Random64),
             arguments.path);
}

ExitStatus Restore(Context& context, const Arguments& arguments) {
  storage::PosixFiles files;
  const std::string directory = DirectoryOf(arguments);
  return Say(context,
             storage::RestoreBackup(files, arguments.path, directory, storage::kSegmentBytesDefault,
                                    SecretsAreRight, auth::Random64),
             directory);
}

}  // namespace

std::vector<Command> BackupCommands() {
  return {
      {.name = "backup",
       .summary = "copies all of a daemon's state into one file",
       .uses = {{&kBackupFile}, {&kData, Need::kOptional}, {&kMove, Need::kOptional}},
       .example = "anteroom backup sale.backup --data anteroom-data",
       .notes =
           "Reads the data directory, beside a running daemon too, which it does not disturb.\n"
           "The file holds the secrets: who has it can make every token.\n"
           "To move to another machine: stop the daemon, backup --move, copy the file,\n"
           "restore it there. No daemon starts from the old directory any more.",
       .check = nullptr,
       .run = Backup},
      {.name = "restore",
       .summary = "makes a data directory of a backup",
       .uses = {{&kBackupFile}, {&kData, Need::kOptional}},
       .example = "anteroom restore sale.backup --data anteroom-data",
       .notes = "The directory must be empty or not there. All of the backup is checked first.\n"
                "Until a restore has succeeded no daemon starts there: restore once more.",
       .check = nullptr,
       .run = Restore},
  };
}

}  // namespace anteroom::cli
