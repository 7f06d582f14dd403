#include "tests/sim/daemon.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <utility>

#include "server/base/check.h"
#include "server/storage/compaction.h"
#include "server/storage/engine_replay.h"
#include "server/storage/storage_status.h"
#include "tests/sim/compare.h"

namespace anteroom::sim {

namespace {

constexpr int kStopSteps = 1000;

// Throws, so that nothing of the daemon goes on.
void EndOfDaemon(const absl::Status& status) {
  throw DiskFailed(status);
}

// So many keys besides the first.
std::string SecretsWith(uint32_t keys) {
  return "secret" + std::string(keys, '.');
}

}  // namespace

Daemon::Daemon(storage::MemoryFiles* disk, Pool* pool, Network* network, Chronicle* chronicle,
               const Names* names, Options options)
    : disk_(*disk),
      pool_(*pool),
      network_(*network),
      chronicle_(*chronicle),
      names_(*names),
      options_(options),
      engine_({.index_seed = options.index_seed}),
      model_(names) {}

Daemon::~Daemon() {
  pool_.Abandon();
}

// As server/app/recovery.cc does it, but for the salts and the secrets, which come from the seed.
absl::Status Daemon::ReadLog() {
  auto directory = storage::DataDirectory::Open(disk_, kDirectory);
  if (!directory.ok()) return directory.status();
  directory_ = *std::move(directory);
  const auto secrets = directory_->LoadOrCreateSecrets([] { return SecretsWith(0); });
  if (!secrets.ok()) return secrets.status();
  token_keys_ = static_cast<uint32_t>(secrets->size() - SecretsWith(0).size());
  storage::EngineReplay replay(&engine_);
  const auto log = storage::RecoverLog(
      disk_, kDirectory, {storage::RecoveryMode::kMend, storage::DirectoryKind::kReal}, replay);
  if (!log.ok()) return log.status();
  for (const TokenKeyRange& range : engine_.token_keys()) CHECK_LE(range.key_id, token_keys_);

  storage::LogOptions options;
  options.segment_bytes = options_.segment_bytes;
  auto salts = std::make_shared<std::mt19937_64>(options_.salt_seed);
  options.random = [salts] { return (*salts)(); };
  options.initial_mark = storage::MarkOf(engine_);
  auto writer = storage::LogWriter::Open(disk_, kDirectory, *log, options);
  if (!writer.ok()) return writer.status();
  writer_ = *std::move(writer);
  writer_->check_invariants();
  snapshot_ = std::max(log->snapshot_number, 1U);
  if (log->snapshot_number == 0) return absl::OkStatus();
  const std::atomic<bool> cancel = false;
  return storage::RemoveCovered(disk_, kDirectory, log->snapshot_number, "", cancel);
}

absl::Status Daemon::Start(uint64_t now_ns) {
  pool_.SetTime(now_ns);
  if (absl::Status status = ReadLog(); !status.ok()) return status;
  model_ = chronicle_.CutTo(writer_->next_sequence() - 1);
  CompareAll(engine_, model_, names_);
  bounds_.Begin(engine_);

  app::GroupCommit::Options commit_options;
  commit_options.durability = options_.durability;
  commit_options.undurable_bytes_max = options_.undurable_bytes_max;
  commit_options.on_error = EndOfDaemon;
  commit_options.say = [](std::string_view) {};
  commit_ =
      std::make_unique<app::GroupCommit>(pool_.loop(), &engine_, writer_.get(), commit_options);
  clock_.emplace(app::EngineClock::Kind::kReal, engine_.now_ms(), now_ns);
  desk_ = std::make_unique<Desk>(&engine_, this, &tokens_, this);
  desk_->StartSoftDeadlines(clock_->Read(now_ns));
  model_.Restart(clock_->Read(now_ns));
  left_over_ = engine_.NextDue() <= engine_.now_ms();
  return absl::OkStatus();
}

bool Daemon::MakeSnapshot(uint64_t index_seed) {
  const uint32_t segment = writer_->segment_number();
  if (segment == snapshot_) return false;
  const std::atomic<bool> cancel = false;
  const auto made = storage::MakeSnapshot(disk_, kDirectory, segment, index_seed, cancel);
  if (!made.ok()) {
    CHECK(storage::KindOf(made.status()) != storage::FailureKind::kDamaged);
    return false;
  }
  snapshot_ = segment;
  return storage::RemoveCovered(disk_, kDirectory, segment, "", cancel).ok();
}

// ---- records ----

void Daemon::Append(std::string_view record) {
  record_.assign(record);
  CHECK(DecodeRecord(record_, &record_at_ms_, &command_));
  CHECK_EQ(record_at_ms_, desk_->now_ms());
  if (const auto* expire = std::get_if<command::Expire>(&command_)) {
    // Nobody is taken to be gone before their time.
    const ModelRoom* room = model_.RoomAt(expire->room);
    CHECK(room != nullptr);
    const uint32_t visitor = names_.VisitorOf(expire->visitor);
    const Person& person = room->people[visitor];
    CHECK_LE(person.silent_at_ms, record_at_ms_);
    CHECK(!(person.waiting() && Names::IsWatched(visitor)));
  } else if (asking_ != nullptr && !std::holds_alternative<command::Settle>(command_)) {
    CHECK(!verdict_.has_value());
    verdict_ = model_.Decide(*asking_, space_.space, space_.reason, desk_->now_ms());
    CHECK(verdict_->writes);
  }
  chronicle_.Append(record);
  commit_->Append(record);
}

void Daemon::OnEffects(const Effects& effects) {
  changes_.clear();
  model_.Apply(record_at_ms_, command_, &changes_);
  CHECK_EQ(commit_->last_sequence(), chronicle_.last_sequence());
  CompareTouched(engine_, model_, names_, effects, changes_);
  uint32_t by_operator = 0;
  bool over = false;
  if (std::holds_alternative<command::Admit>(command_)) {
    by_operator = engine_.last_admit().count;
  } else if (const auto* admit = std::get_if<command::AdmitVisitor>(&command_)) {
    by_operator =
        effects.visitors.empty() || effects.visitors.back().state != protocol::State::kAdmitted ? 0
                                                                                                : 1;
    over = by_operator == 1 && admit->over;
  }
  bounds_.Check(engine_, effects, by_operator, over);
}

bool Daemon::IsWatched(uint32_t, uint32_t visitor) const {
  return Names::IsWatched(names_.VisitorOf(engine_.visitor(visitor).id.view()));
}

// ---- a turn: server/app/server.cc ----

void Daemon::SettleSpace(uint64_t now_ns) {
  const app::GroupCommit::Space space = commit_->space();
  if (space == space_) return;
  space_ = space;
  desk_->SetLogSpace(space.space, space.reason);
  if (space.space == LogSpace::kNone) {
    clock_->Stop();
  } else {
    clock_->Resume(now_ns);
  }
}

// Whatever is due is done, while the log takes nothing too, for then time stands still; but for
// what was more than a turn does.
void Daemon::CheckNobodyOutlives() const {
  const int64_t now_ms = desk_->now_ms();
  CHECK_EQ(engine_.NextDue(), model_.NextDue());
  for (const auto& [number, room] : model_.rooms()) {
    if (room.dropped) continue;
    for (uint32_t visitor = 0; visitor < room.people.size(); ++visitor) {
      CHECK_GT(room.people[visitor].silent_at_ms, now_ms);
      if (!left_over_) CHECK_GT(room.people[visitor].deadline_ms, now_ms);
    }
  }
}

void Daemon::BeginTurn(uint64_t now_ns) {
  SettleSpace(now_ns);
  const bool takes = space_.space != LogSpace::kNone;
  const uint64_t before = commit_->last_sequence();
  desk_->BeginTurn(clock_->Read(now_ns));
  if (takes) {
    model_.EndTurnStart(desk_->now_ms());
    left_over_ = engine_.NextDue() <= desk_->now_ms();
  } else {
    CHECK_EQ(commit_->last_sequence(), before);
  }
  CheckNobodyOutlives();
}

void Daemon::Turn(uint64_t now_ns) {
  pool_.SetTime(now_ns);
  commit_->SetTime(now_ns / 1'000'000);
  BeginTurn(now_ns);
  Release();
  commit_->Start();
  network_.TakeArrived([&](const Network::Arrived& arrived, bool chunk_begins) {
    if (chunk_begins) {
      commit_->Advance();
      SettleSpace(now_ns);
    }
    Work(arrived);
  });
  commit_->Start();
  Release();
}

void Daemon::Work(const Network::Arrived& arrived) {
  const Told told = Handle(*arrived.ask);
  const bool immediate =
      told.refusal == protocol::ErrorCode::kUnavailable &&
      (told.reason == protocol::Reason::kDiskFull || told.reason == protocol::Reason::kDiskSlow);
  const ModelRoom* room = model_.RoomNamed(arrived.ask->room);
  Network::Answer answer;
  answer.told = told;
  answer.mark = commit_->last_sequence();
  if (room != nullptr) {
    answer.room_number = room->number;
    answer.entered_before = room->EnteredBefore(room->people[arrived.ask->visitor].lane);
  }
  network_.PutAnswer(arrived, std::move(answer), immediate);
}

Told Daemon::Handle(const Ask& ask) {
  try {
    return HandleChecked(ask);
  } catch (const std::logic_error& failure) {
    throw std::logic_error(std::string(failure.what()) + "\n  asked: " + ToText(ask));
  }
}

Told Daemon::HandleChecked(const Ask& ask) {
  const int64_t now_ms = desk_->now_ms();
  if (space_.space != LogSpace::kNone && IsAboutVisitor(ask.op)) {
    model_.HearWatched(ask.room, ask.visitor, now_ms);
  }
  asking_ = &ask;
  verdict_.reset();
  Told told = ask.op == Op::kRotateTokenKey ? RotateTokenKey() : Perform(*desk_, names_, ask);
  asking_ = nullptr;
  // The disk had its way with the file: nothing was changed.
  if (ask.op == Op::kRotateTokenKey && told.refusal && !told.reason && !verdict_) return told;
  if (!verdict_) {
    verdict_ = model_.Decide(ask, space_.space, space_.reason, now_ms);
    if (verdict_->writes) throw std::logic_error("no record, told \"" + ToText(told) + "\"");
  }
  if (!verdict_->refusal) model_.Hear(ask, now_ms);
  Told wanted;
  if (verdict_->refusal) {
    wanted.refusal = verdict_->refusal;
    wanted.reason = verdict_->reason;
  } else {
    wanted = model_.Describe(ask, *verdict_, now_ms);
  }
  if (told != wanted) {
    throw std::logic_error("told \"" + ToText(told) + "\", the model says \"" + ToText(wanted) +
                           "\"");
  }
  return told;
}

// As server/app/token_key_rotations.cc does it, but for the thread.
Told Daemon::RotateTokenKey() {
  if (auto refusal = desk_->CheckUseTokenKey()) return From(*std::move(refusal));
  const absl::Status status = directory_->WriteSecrets(SecretsWith(token_keys_ + 1));
  if (!status.ok()) {
    return From(protocol::Refuse(protocol::ErrorCode::kUnavailable, std::string(status.message())));
  }
  return From(desk_->UseTokenKey(++token_keys_));
}

void Daemon::Release() {
  uint64_t left = 0;
  network_.Release(commit_->released_sequence(), &left);
  // What an answer shows has to be on disk when it leaves, unless that was not asked for.
  if (options_.durability == app::Durability::kCommit) chronicle_.Leave(left);
  chronicle_.Leave(commit_->durable_sequence());
}

bool Daemon::Stop(std::mt19937_64& random) {
  commit_->Hurry();
  for (int step = 0; step < kStopSteps; ++step) {
    commit_->Start();
    Release();
    if (commit_->idle()) break;
    pool_.Step(random);
  }
  if (!commit_->idle()) return false;
  commit_->StartEnd();
  while (!pool_.idle()) pool_.Step(random);
  CHECK(commit_->ended());
  Release();
  return true;
}

void Daemon::CompareWithModel() {
  CompareAll(engine_, model_, names_);
  commit_->check_invariants();
  clock_->check_invariants();
}

}  // namespace anteroom::sim
