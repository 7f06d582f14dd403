#include "tests/sim/flipped_bit.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/base/check.h"
#include "server/storage/engine_replay.h"
#include "server/storage/log_recovery.h"
#include "server/storage/storage_status.h"
#include "tests/sim/daemon.h"

namespace anteroom::sim {

using storage::FailureKind;

namespace {

constexpr size_t kRecentBytes = 400;

// A log read to its end, with the state after record `sequence`.
struct Reading {
  absl::StatusOr<storage::RecoveredLog> log;
  storage::EngineMark mark;
};

Reading ReadTo(storage::MemoryFiles& disk, uint64_t sequence) {
  Engine engine(EngineOptions{});
  storage::EngineMark mark;
  storage::EngineReplay replay(&engine, [&](uint64_t next, int64_t, const Command&) {
    if (next == sequence + 1) mark = storage::MarkOf(engine);
  });
  auto log = storage::RecoverLog(disk, kDirectory, {}, replay);
  if (log.ok() && log->next_sequence == sequence + 1) mark = storage::MarkOf(engine);
  return {std::move(log), mark};
}

}  // namespace

FlippedBit FlipOneBit(storage::MemoryFiles& disk, std::mt19937_64& random) {
  const auto names = disk.List(kDirectory);
  std::vector<std::string> files;
  if (names.ok()) {
    for (const std::string& name : *names) {
      const bool read = storage::ParseSegmentFileName(name).has_value() ||
                        storage::ParseSnapshotFileName(name).has_value();
      if (read) files.push_back(name);
    }
  }
  if (files.empty()) return FlippedBit::kNoLog;
  const std::string name = files[random() % files.size()];
  const std::string path = std::string(kDirectory) + "/" + name;
  const std::string sound = disk.Content(path);
  if (sound.empty()) return FlippedBit::kNoLog;
  // Anywhere, or where it was written last.
  size_t at = random() % sound.size();
  if (const size_t used = sound.find_last_not_of('\0') + 1; random() % 2 == 0 && used > 0) {
    at = used - 1 - random() % std::min<size_t>(used, kRecentBytes);
  }
  std::string damaged = sound;
  damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
  disk.SetContent(path, damaged);
  const Reading flipped = ReadTo(disk, UINT64_MAX - 1);
  if (!flipped.log.ok()) {
    disk.SetContent(path, sound);
    const FailureKind kind = storage::KindOf(flipped.log.status());
    const std::string message(flipped.log.status().message());
    CHECK(kind == FailureKind::kDamaged || kind == FailureKind::kNewerFormat);
    CHECK(message.find(".log") != std::string::npos || message.find(".snap") != std::string::npos);
    if (kind == FailureKind::kDamaged) CHECK(message.find(" at byte ") != std::string::npos);
    return FlippedBit::kRefused;
  }
  const uint64_t last = flipped.log->next_sequence - 1;
  const Reading after_flip = ReadTo(disk, last);
  disk.SetContent(path, sound);
  const Reading whole = ReadTo(disk, last);
  CHECK_OK(whole.log.status());
  CHECK(after_flip.mark == whole.mark);
  CHECK_LE(last, whole.log->next_sequence - 1);
  if (last == whole.log->next_sequence - 1) return FlippedBit::kNoHarm;
  // At most the last batch of an unclean stop, and it is said which place is cut.
  CHECK(!whole.log->clean_stop);
  CHECK_EQ(flipped.log->batch_count + 1, whole.log->batch_count);
  CHECK(flipped.log->torn_end.has_value());
  CHECK_EQ(flipped.log->torn_end->file, name);
  CHECK_LE(flipped.log->torn_end->offset_bytes, at);
  return FlippedBit::kTorn;
}

}  // namespace anteroom::sim
