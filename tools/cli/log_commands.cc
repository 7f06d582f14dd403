// A data directory without its daemon: log check, log dump, log digest.
#include "tools/cli/log_commands.h"

#include <algorithm>
#include <cstdio>

#include "protocol/text.h"
#include "server/storage/data_directory.h"
#include "server/storage/engine_replay.h"
#include "server/storage/posix_files.h"
#include "server/storage/storage_status.h"
#include "tools/cli/command.h"
#include "tools/cli/human.h"
#include "tools/cli/log_reading.h"
#include "tools/cli/secrets_check.h"

namespace anteroom::cli {
namespace {

Json RecoveredLogJson(const storage::RecoveredLog& log, int64_t at_ms) {
  Json object = Json::object();
  if (log.snapshot_number != 0) {
    object["snapshot"] = storage::SnapshotFileName(log.snapshot_number);
    object["snapshot_entries"] = log.snapshot_entry_count;
  }
  object["records"] = log.record_count;
  object["batches"] = log.batch_count;
  object["segments"] = log.segment_count;
  object["next_sequence"] = log.next_sequence;
  object["at_ms"] = at_ms;
  object["clean_stop"] = log.clean_stop;
  if (log.moved_to_epoch != 0) object["moved_to_epoch"] = log.moved_to_epoch;
  if (!log.empty) {
    object["virtual_clock"] = log.last_header.kind == storage::DirectoryKind::kTest;
  }
  if (log.torn_end) {
    object["torn_end"] = Json{{"file", log.torn_end->file},
                              {"offset_bytes", log.torn_end->offset_bytes},
                              {"length_bytes", log.torn_end->length_bytes}};
  }
  return object;
}

std::string Describe(const storage::RecoveredLog& log, const std::string& directory,
                     int64_t at_ms) {
  if (log.empty) return Printable(directory) + " holds no log";
  std::string snapshot;
  if (log.snapshot_number != 0) {
    snapshot = "a snapshot of " + Count(log.snapshot_entry_count, "entry", "entries") + ", then ";
  }
  std::string text = Printable(directory) + " is whole: " + snapshot +
                     Count(log.record_count, "record", "records") + " in " +
                     Count(log.batch_count, "batch", "batches") + " and " +
                     Count(log.segment_count, "segment", "segments") + ", engine time " +
                     HumanDuration(static_cast<uint64_t>(at_ms)) + ", ";
  if (log.torn_end) return text + "\n" + storage::ToText(*log.torn_end);
  if (log.moved_to_epoch != 0) {
    return text + "moved: it goes on elsewhere, as epoch " + std::to_string(log.moved_to_epoch);
  }
  return text + (log.clean_stop ? "stopped in good order" : "not stopped in good order");
}

// In an archive several snapshots lie between their segments: read as a data directory it seems to
// have gaps.
absl::Status WithHint(storage::Files& files, const std::string& directory,
                      const absl::Status& status) {
  const auto names = files.List(directory);
  if (!names.ok() || storage::KindOf(status) != storage::FailureKind::kDamaged ||
      std::find(names->begin(), names->end(), storage::kLockName) != names->end()) {
    return status;
  }
  return storage::FailureStatus(storage::FailureKind::kDamaged,
                                std::string(status.message()) +
                                    "; if this is what a daemon's --archive has kept, say "
                                    "--archive here too");
}

// An archive has logs only. A daemon that has just begun, or was stopped before its first record,
// has a lock and perhaps secrets; any other directory is not a daemon's, and was a slip.
absl::Status CheckBesideLog(storage::Files& files, const std::string& directory,
                            const storage::RecoveredLog& log, const Engine& engine, bool archive) {
  if (!log.empty && archive) return absl::OkStatus();
  if (!log.empty) return CheckSecretsIn(files, directory, log, engine);
  const auto names = files.List(directory);
  if (!names.ok()) return names.status();
  const auto has = [&](std::string_view name) {
    return std::find(names->begin(), names->end(), name) != names->end();
  };
  if (has(storage::kSecretsName)) return CheckSecretsIn(files, directory, log, engine);
  if (has(storage::kLockName)) return absl::OkStatus();
  return storage::FailureStatus(storage::FailureKind::kNotFound, directory + " holds no log");
}

}  // namespace

ExitStatus CheckLog(Context& context, storage::Files& files, const std::string& directory,
                    bool archive) {
  Engine engine(EngineOptions{});
  storage::EngineReplay replay(&engine);
  const auto log = storage::RecoverLog(files, directory, {.archive = archive}, replay);
  absl::Status status = log.status();
  if (!status.ok() && !archive) status = WithHint(files, directory, status);
  if (status.ok()) status = CheckBesideLog(files, directory, *log, engine, archive);
  if (!status.ok()) return FailReading(context, status);
  const int64_t at_ms = engine.now_ms();
  if (context.json()) {
    context.PrintJson(RecoveredLogJson(*log, at_ms));
  } else {
    context.PrintText(Describe(*log, directory, at_ms));
  }
  return ExitStatus::kDone;
}

ExitStatus DumpLog(Context& context, storage::Files& files, const std::string& directory,
                   bool archive) {
  Engine engine(EngineOptions{});
  storage::EngineReplay replay(
      &engine, [&](uint64_t sequence, int64_t at_ms, const anteroom::Command& command) {
        context.PrintJson(Describe(engine, sequence, at_ms, command));
      });
  const auto log = storage::RecoverLog(files, directory, {.archive = archive}, replay);
  if (!log.ok()) return FailReading(context, log.status());
  if (log->torn_end) context.Note(storage::ToText(*log->torn_end));
  return ExitStatus::kDone;
}

ExitStatus DigestLog(Context& context, storage::Files& files, const std::string& directory,
                     bool archive) {
  Engine engine(EngineOptions{});
  storage::EngineReplay replay(&engine);
  const auto log = storage::RecoverLog(files, directory, {.archive = archive}, replay);
  if (!log.ok()) return FailReading(context, log.status());
  if (log->torn_end) context.Note(storage::ToText(*log->torn_end));
  const Digest digest = engine.digest();
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(digest.high),
                static_cast<unsigned long long>(digest.low));
  if (context.json()) {
    context.PrintJson(
        Json{{"digest", text}, {"next_sequence", log->next_sequence}, {"at_ms", engine.now_ms()}});
  } else {
    context.PrintText(text);
  }
  return ExitStatus::kDone;
}

std::vector<Command> LogCommands() {
  return {
      {.name = "log check",
       .summary = "says whether a data directory is whole, and where not",
       .uses = {{&kDirectory}, {&kArchive, Need::kOptional}},
       .example = "anteroom log check anteroom-data",
       .notes = "Starts no daemon and changes nothing.",
       .check = nullptr,
       .run =
           [](Context& context, const Arguments& arguments) {
             storage::PosixFiles files;
             return CheckLog(context, files, arguments.path, arguments.archive);
           }},
      {.name = "log dump",
       .summary = "every record of a log, as JSON, one a line",
       .uses = {{&kDirectory}, {&kArchive, Need::kOptional}},
       .example = "anteroom log dump anteroom-data",
       .notes = "From the newest snapshot on; what was before it is in the daemon's --archive.\n"
                "Starts no daemon and changes nothing.",
       .check = nullptr,
       .run =
           [](Context& context, const Arguments& arguments) {
             storage::PosixFiles files;
             return DumpLog(context, files, arguments.path, arguments.archive);
           }},
      {.name = "log digest",
       .summary = "the digest of the state that a log gives",
       .uses = {{&kDirectory}, {&kArchive, Need::kOptional}},
       .example = "anteroom log digest anteroom-data",
       .notes =
           "Equal logs give equal digests, on any machine. Starts no daemon and changes nothing.",
       .check = nullptr,
       .run =
           [](Context& context, const Arguments& arguments) {
             storage::PosixFiles files;
             return DigestLog(context, files, arguments.path, arguments.archive);
           }},
  };
}

}  // namespace anteroom::cli
