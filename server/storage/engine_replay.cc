#include "server/storage/engine_replay.h"

#include <string>
#include <utility>

#include "server/base/canary.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

absl::Status Wrong(uint64_t sequence, std::string_view why) {
  return FailureStatus(FailureKind::kDamaged,
                       "record " + std::to_string(sequence) + ": " + std::string(why));
}

}  // namespace

EngineMark MarkOf(Engine& engine) {
  const Digest digest = engine.digest();
  return {digest.low, digest.high, engine.now_ms()};
}

EngineReplay::EngineReplay(Engine* engine, OnRecord on_record)
    : engine_(*engine), loader_(engine), on_record_(std::move(on_record)) {}

absl::Status EngineReplay::SnapshotEntries(const std::vector<std::string_view>& entries) {
  // So many ahead the memory is asked for.
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + kAhead < entries.size()) loader_.Prefetch(entries[i + kAhead]);
    const std::string wrong = loader_.Add(entries[i]);
    if (!wrong.empty()) return FailureStatus(FailureKind::kDamaged, wrong);
  }
  return absl::OkStatus();
}

absl::Status EngineReplay::SnapshotEnd() {
  const std::string wrong = loader_.Finish();
  return wrong.empty() ? absl::OkStatus() : FailureStatus(FailureKind::kDamaged, wrong);
}

absl::Status EngineReplay::Record(uint64_t sequence, std::string_view bytes) {
  int64_t at_ms = 0;
  Command command;
  if (!DecodeRecord(bytes, &at_ms, &command)) {
    return Wrong(sequence, "its bytes are no command of this version");
  }
  if (at_ms < engine_.now_ms()) return Wrong(sequence, "its time is before the one before it");
  if (ANTEROOM_CANARY(kSkippedRecord) && sequence % 64 == 0) return absl::OkStatus();
  if (on_record_) on_record_(sequence, at_ms, command);
  effects_.Clear();
  engine_.Apply(at_ms, command, &effects_);
  return absl::OkStatus();
}

absl::Status EngineReplay::Mark(MarkPlace, uint64_t next_sequence, const EngineMark& mark) {
  if (MarkOf(engine_) == mark) return absl::OkStatus();
  return Wrong(next_sequence, "the state before it is not the one that the log says it was");
}

}  // namespace anteroom::storage
