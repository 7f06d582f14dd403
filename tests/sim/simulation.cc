#include "tests/sim/simulation.h"

#include <cerrno>
#include <utility>

#include "server/base/check.h"
#include "server/storage/engine_replay.h"
#include "tests/sim/flipped_bit.h"

namespace anteroom::sim {

using storage::Unsynced;

namespace {

constexpr uint64_t kCompareSteps = 1000;
constexpr uint64_t kDrainTurns = 20'000;
constexpr uint64_t kMsNs = 1'000'000;

}  // namespace

Simulation::Simulation(uint64_t seed)
    : random_(seed),
      names_(static_cast<uint32_t>(Below(5) == 0 ? 20 + Below(200) : 30 + Below(30))),
      disk_(seed),
      network_(&random_, DrawNetwork(random_)),
      clients_(&random_, &network_, &names_),
      chronicle_(&names_) {}

void Simulation::Run(uint64_t steps) {
  steps_left_ = steps;
  while (steps_left_ > 0) {
    faults_ = DrawFaults(random_);
    Live();
  }
  Drain();
}

Daemon::Options Simulation::DaemonOptions() {
  return {.durability = faults_.durability,
          .undurable_bytes_max = faults_.undurable_bytes_max,
          .segment_bytes = faults_.segment_bytes,
          .index_seed = random_(),
          .salt_seed = random_()};
}

void Simulation::ClearDisk() {
  disk_.ClearFaults();
  disk_.set_capacity_bytes(UINT64_MAX);
  disk_.set_short_writes(false);
  slow_steps_left_ = full_steps_left_ = 0;
}

void Simulation::Live() {
  ClearDisk();
  disk_.set_short_writes(faults_.short_writes);
  if (faults_.power_lost_at_start) disk_.StopPowerAfter(1 + Below(20));
  ++totals_.starts;
  --steps_left_;
  ++totals_.steps;
  Death death = Death::kPowerLost;
  {
    Daemon daemon(&disk_, &pool_, &network_, &chronicle_, &names_, DaemonOptions());
    if (const absl::Status started = daemon.Start(now_ns_); started.ok()) {
      const uint64_t before = chronicle_.last_sequence();
      death = LiveUntilDeath(daemon);
      totals_.records += chronicle_.last_sequence() - before;
    } else if (!disk_.power_is_off()) {
      CHECK_OK(started);
    }
  }
  clients_.BreakAll();
  if (faults_.durability != app::Durability::kCommit) clients_.ForgetTold();
  Bury(death);
}

Simulation::Death Simulation::LiveUntilDeath(Daemon& daemon) {
  try {
    while (steps_left_ > 0) {
      --steps_left_;
      if (++totals_.steps % kCompareSteps == 0) daemon.CompareWithModel();
      if (const Death death = Step(daemon); death != Death::kNone) return death;
    }
    daemon.CompareWithModel();
  } catch (const DiskFailed&) {
    // The process has ended. Where the disk gave an error, it may be that the power is off, or that
    // nobody knows what is on it.
  }
  return Below(2) == 0 ? Death::kPowerLost : Death::kKilled;
}

void Simulation::MoveTime() {
  if (OneIn(faults_.stall)) {
    ++totals_.stalls;
    now_ns_ += Below(30'000) * kMsNs;
  } else if (Below(3) == 0) {
    now_ns_ += Below(40) * kMsNs;
  }
}

void Simulation::StepDisk() {
  if (OneIn(faults_.power_loss)) disk_.StopPowerAfter(1 + Below(6));
  if (OneIn(faults_.failed_sync)) {
    ++totals_.failed_syncs;
    disk_.Fail(storage::Call::kSync, EIO, Below(3));
  }
  if (full_steps_left_ > 0) {
    if (--full_steps_left_ == 0) disk_.set_capacity_bytes(UINT64_MAX);
  } else if (OneIn(faults_.full_disk)) {
    ++totals_.full_disks;
    disk_.set_capacity_bytes(disk_.used_bytes());
    full_steps_left_ = 1 + Below(1000);
  }
  if (slow_steps_left_ > 0) {
    --slow_steps_left_;
  } else if (OneIn(faults_.slow_sync)) {
    ++totals_.slow_syncs;
    slow_steps_left_ = 1 + Below(100);
  }
}

Simulation::Death Simulation::Step(Daemon& daemon) {
  StepDisk();
  MoveTime();
  if (OneIn(faults_.broken_connection)) {
    ++totals_.broken_connections;
    clients_.Break(static_cast<uint32_t>(Below(network_.connections())));
  }
  if (OneIn(faults_.kill)) return Death::kKilled;
  if (OneIn(faults_.clean_stop) && daemon.Stop(random_)) return Death::kStopped;
  if (OneIn(faults_.snapshot) && daemon.MakeSnapshot(random_())) ++totals_.snapshots;
  clients_.Act();
  pool_.SetTime(now_ns_);
  if (slow_steps_left_ == 0 && Below(faults_.pool) == 0) pool_.Step(random_);
  if (Below(faults_.turn) == 0) daemon.Turn(now_ns_);
  if (Below(faults_.answer) == 0) {
    const auto take = [&](const Ask& ask, const Network::Answer& answer) {
      clients_.Take(ask, answer);
      ++totals_.answers;
      if (answer.told.refusal == protocol::ErrorCode::kUnavailable) ++totals_.without_log_space;
    };
    while (network_.Deliver(take) && Below(2) == 0) {
    }
  }
  return Death::kNone;
}

void Simulation::Bury(Death death) {
  if (death != Death::kPowerLost) {
    ++(death == Death::kStopped ? totals_.stops : totals_.kills);
    disk_.KillProcess();
    return;
  }
  ++totals_.power_losses;
  const uint64_t choice = Below(4);
  disk_.LosePower(choice == 0   ? Unsynced::kDropped
                  : choice == 1 ? Unsynced::kKept
                                : Unsynced::kRandom);
  if (Below(4) != 0) return;
  switch (FlipOneBit(disk_, random_)) {
    case FlippedBit::kNoLog:
      break;
    case FlippedBit::kRefused:
      ++totals_.bits_refused;
      break;
    case FlippedBit::kTorn:
      ++totals_.bits_torn;
      break;
    case FlippedBit::kNoHarm:
      ++totals_.bits_harmless;
  }
}

// Without faults everybody is let in, and leaves.
void Simulation::Drain() {
  ClearDisk();
  faults_ = Faults{};
  faults_.undurable_bytes_max = 1u << 20;
  faults_.segment_bytes = storage::kSegmentBytesMin;
  Daemon daemon(&disk_, &pool_, &network_, &chronicle_, &names_, DaemonOptions());
  ++totals_.starts;
  CHECK_OK(daemon.Start(now_ns_));
  protocol::RoomSettings open;
  open.mode = protocol::Mode::kQueue;
  open.rate = protocol::Rate{};
  open.capacity = protocol::Limit{};
  open.stock = protocol::Stock{};
  open.claim_ttl = protocol::Duration{1000};
  open.session_ttl = protocol::Duration{1000};
  open.no_show = protocol::NoShow::kEnd;
  Ask ask;
  ask.op = Op::kRoomSet;
  ask.settings = std::make_shared<protocol::RoomSettings>(open);
  for (ask.room = 0; ask.room < Names::kRooms; ++ask.room) daemon.Handle(ask);
  const Overall& overall = daemon.engine().overall();
  for (uint64_t turn = 0; overall.waiting + overall.admitted + overall.active > 0; ++turn) {
    CHECK_LT(turn, kDrainTurns);
    now_ns_ += (overall.waiting > 0 ? 1 : 1000) * kMsNs;
    daemon.Turn(now_ns_);
    pool_.Step(random_);
    pool_.Step(random_);
  }
  CHECK(daemon.Stop(random_));
  daemon.CompareWithModel();
  CheckWholeLog(daemon);
}

// The whole log, from its first byte, gives the state that has run.
void Simulation::CheckWholeLog(Daemon& daemon) {
  Engine again(EngineOptions{.index_seed = 1});
  storage::EngineReplay replay(&again);
  const auto log = storage::RecoverLog(disk_, kDirectory, {}, replay);
  CHECK_OK(log.status());
  CHECK(log->clean_stop);
  CHECK(storage::MarkOf(again) == storage::MarkOf(daemon.engine()));
}

}  // namespace anteroom::sim
