#include "tests/sim/daemon.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "server/base/check.h"
#include "server/storage/engine_replay.h"
#include "server/storage/storage_status.h"

namespace anteroom::sim {

using storage::FailureKind;
using storage::KindOf;
using storage::MarkOf;

namespace {

constexpr char kDirectory[] = "data";

}  // namespace

Daemon::Daemon(storage::MemoryFiles* disk, History* history, uint64_t index_seed)
    : disk_(*disk), history_(*history), engine_({.index_seed = index_seed}) {}

absl::Status Daemon::Start(uint64_t salt_seed) {
  auto directory = storage::DataDirectory::Open(disk_, kDirectory);
  if (!directory.ok()) return directory.status();
  directory_ = *std::move(directory);
  const auto secrets = directory_->LoadOrCreateSecrets([] { return std::string("secret"); });
  if (!secrets.ok()) return secrets.status();
  storage::EngineReplay replay(&engine_);
  const auto log = storage::RecoverLog(
      disk_, kDirectory, {storage::RecoveryMode::kMend, storage::DirectoryKind::kReal}, replay);
  if (!log.ok()) return log.status();

  storage::LogOptions options;
  options.segment_bytes = storage::kSegmentBytesMin;
  auto salts = std::make_shared<std::mt19937_64>(salt_seed);
  options.random = [salts] { return (*salts)(); };
  options.initial_mark = MarkOf(engine_);
  auto writer = storage::LogWriter::Open(disk_, kDirectory, *log, options);
  if (!writer.ok()) return writer.status();
  writer_ = *std::move(writer);
  builder_.emplace(log->next_sequence, writer_->frame_payload_bytes_max());

  const uint64_t recovered = log->next_sequence - 1;
  CHECK_GE(recovered, history_.released);
  CHECK_LT(recovered, history_.states.size());
  CHECK(MarkOf(engine_) == history_.states[recovered]);
  history_.states.resize(recovered + 1);
  history_.released = recovered;
  engine_.check_invariants();

  desk_ = std::make_unique<Desk>(&engine_, this, &tokens_, this);
  desk_->StartSoftDeadlines(engine_.now_ms());
  desk_->BeginTurn(engine_.now_ms());
  return absl::OkStatus();
}

void Daemon::Append(std::string_view record) {
  builder_->Stage(builder_->OpensFrame(record.size()) ? MarkOf(engine_) : storage::EngineMark(),
                  record);
}

void Daemon::OnEffects(const Effects&) {
  history_.states.push_back(MarkOf(engine_));
  CHECK_EQ(history_.states.size(), builder_->next_sequence());
}

absl::Status Daemon::WriteInFlight() {
  const absl::Status status = writer_->Write(*in_flight_);
  if (status.ok()) {
    history_.released = in_flight_->next_sequence() - 1;
    builder_->Recycle(*std::exchange(in_flight_, std::nullopt));
  } else if (KindOf(status) == FailureKind::kNoSpace) {
    short_of_space_ = true;
    return absl::OkStatus();
  }
  return status;
}

absl::Status Daemon::Commit() {
  if (in_flight_ || builder_->empty()) return absl::OkStatus();
  in_flight_ = builder_->Seal();
  return WriteInFlight();
}

absl::Status Daemon::SettleSpace() {
  if (writer_->needs_prepare()) {
    const absl::Status status = writer_->PrepareNext();
    if (!status.ok() && KindOf(status) != FailureKind::kNoSpace) return status;
    short_of_space_ = !status.ok();
  }
  if (!short_of_space_ && in_flight_) {
    if (absl::Status status = WriteInFlight(); !status.ok()) return status;
  }
  if (!short_of_space_) {
    desk_->SetLogSpace(LogSpace::kPlenty, protocol::Reason::kDiskFull);
    return absl::OkStatus();
  }
  const bool fits = !in_flight_ && builder_->staged_bytes() + writer_->segment_bytes() / 4 <
                                       writer_->reserved_bytes_left();
  desk_->SetLogSpace(fits ? LogSpace::kShort : LogSpace::kNone, protocol::Reason::kDiskFull);
  return absl::OkStatus();
}

absl::Status Daemon::Stop() {
  if (absl::Status status = Commit(); !status.ok() || in_flight_) return status;
  return writer_->WriteEnd(MarkOf(engine_));
}

}  // namespace anteroom::sim
