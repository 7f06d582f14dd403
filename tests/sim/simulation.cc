#include "tests/sim/simulation.h"

#include <cerrno>
#include <string>

#include "server/base/check.h"
#include "server/storage/engine_replay.h"
#include "server/storage/storage_status.h"
#include "tests/sim/clients.h"
#include "tests/sim/daemon.h"

namespace anteroom::sim {

using storage::Unsynced;

namespace {

constexpr uint64_t kFullCheckSteps = 1000;
constexpr uint64_t kDrainTurns = 10'000;

}  // namespace

Simulation::Simulation(uint64_t seed) : random_(seed), disk_(seed) {
  Engine empty(EngineOptions{});
  history_.states.push_back(storage::MarkOf(empty));
}

void Simulation::DrawFaults() {
  const auto rate = [&](uint64_t usual) { return Below(3) == 0 ? 0 : 1 + Below(2 * usual); };
  faults_.power_loss = rate(500);
  faults_.kill = rate(800);
  faults_.clean_stop = rate(800);
  faults_.failed_sync = rate(1500);
  faults_.full_disk = rate(1500);
  faults_.short_writes = Below(4) == 0;
  faults_.commit = 1 + Below(40);
}

void Simulation::Run(uint64_t steps) {
  steps_left_ = steps;
  while (steps_left_ > 0) {
    DrawFaults();
    Live();
  }
  Drain();
}

void Simulation::EndOfPower() {
  ++totals_.power_losses;
  const uint64_t choice = Below(4);
  disk_.LosePower(choice == 0   ? Unsynced::kDropped
                  : choice == 1 ? Unsynced::kKept
                                : Unsynced::kRandom);
}

void Simulation::Live() {
  disk_.ClearFaults();
  disk_.set_capacity_bytes(UINT64_MAX);
  disk_.set_short_writes(faults_.short_writes);
  // Now and then the power goes while the daemon starts.
  if (Below(8) == 0) disk_.StopPowerAfter(1 + Below(20));
  Clients clients(&random_, &history_);
  Daemon daemon(&disk_, &history_, random_());
  ++totals_.starts;
  if (steps_left_ > 0) --steps_left_;
  const absl::Status started = daemon.Start(random_());
  if (!started.ok()) {
    CHECK(disk_.power_is_off());
    return EndOfPower();
  }
  const uint64_t records_before = history_.states.size();
  uint64_t space_comes_in = 0;
  absl::Status status;
  while (steps_left_ > 0 && status.ok()) {
    --steps_left_;
    if (++totals_.steps % kFullCheckSteps == 0) daemon.engine().check_invariants();
    if (OneIn(faults_.power_loss)) disk_.StopPowerAfter(1 + Below(6));
    if (OneIn(faults_.failed_sync)) disk_.Fail(storage::Call::kSync, EIO, Below(3));
    if (space_comes_in == 0 && OneIn(faults_.full_disk)) {
      ++totals_.full_disks;
      disk_.set_capacity_bytes(disk_.used_bytes());
      space_comes_in = 1 + Below(300);
    } else if (space_comes_in != 0 && --space_comes_in == 0) {
      disk_.set_capacity_bytes(UINT64_MAX);
    }
    if (OneIn(faults_.kill)) {
      ++totals_.kills;
      disk_.KillProcess();
      return;
    }
    if (OneIn(faults_.clean_stop)) {
      ++totals_.stops;
      if (daemon.Stop().ok()) disk_.KillProcess();
      break;
    }
    if (Below(3) == 0) {
      // Moments, as a rule; a pause now and then.
      const uint64_t pause_ms = Below(50) == 0 ? Below(30'000) : Below(40);
      daemon.desk().BeginTurn(daemon.desk().now_ms() + static_cast<int64_t>(pause_ms));
    }
    clients.Ask(daemon.desk());
    status = daemon.SettleSpace();
    if (status.ok() && Below(faults_.commit) == 0) {
      status = daemon.Commit();
      ++totals_.batches;
      if (status.ok()) clients.TakeReleased();
    }
  }
  totals_.records += history_.states.size() - records_before;
  if (disk_.power_is_off()) return EndOfPower();
  // After an error of the disk nobody knows what is on it: the process ends, or the machine.
  if (Below(2) == 0) return EndOfPower();
  ++totals_.kills;
  disk_.KillProcess();
}

void Simulation::Drain() {
  disk_.ClearFaults();
  disk_.set_capacity_bytes(UINT64_MAX);
  disk_.set_short_writes(false);
  Daemon daemon(&disk_, &history_, random_());
  ++totals_.starts;
  CHECK_OK(daemon.Start(random_()));
  Desk& desk = daemon.desk();
  protocol::RoomSettings open;
  open.mode = protocol::Mode::kQueue;
  open.rate = protocol::Rate{};
  open.capacity = protocol::Limit{protocol::Limit::kNone};
  open.claim_ttl = protocol::Duration{1000};
  open.session_ttl = protocol::Duration{1000};
  open.no_show = protocol::NoShow::kEnd;
  for (uint64_t room = 0; room < Clients::kRooms; ++room) {
    desk.Handle(protocol::RoomSetOperation{{Clients::RoomName(room), open, std::nullopt}});
  }
  uint64_t turns = 0;
  while (daemon.engine().overall().waiting > 0) {
    CHECK_LT(++turns, kDrainTurns);
    desk.BeginTurn(desk.now_ms() + 1);
  }
  while (daemon.engine().overall().admitted + daemon.engine().overall().active > 0) {
    CHECK_LT(++turns, kDrainTurns);
    desk.BeginTurn(desk.now_ms() + 1000);
  }
  CHECK_OK(daemon.SettleSpace());
  CHECK_OK(daemon.Stop());
  daemon.engine().check_invariants();

  // The whole log, from its first byte, gives the state that has run.
  Engine again(EngineOptions{.index_seed = 1});
  storage::EngineReplay replay(&again);
  const auto log = storage::RecoverLog(disk_, "data", {}, replay);
  CHECK_OK(log.status());
  CHECK(log->clean_stop);
  CHECK(storage::MarkOf(again) == storage::MarkOf(daemon.engine()));
}

}  // namespace anteroom::sim
