#include "server/app/server.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "server/app/flags.h"
#include "server/auth/random.h"
#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::app {
namespace {

// While the daemon stops it looks so often whether everybody has gone.
constexpr int64_t kDrainingTurnMs = 20;

uint64_t LoopMs() {
  return uv_hrtime() / 1'000'000;
}

// Well below what the process may open: without descriptors libuv drops clients without a word, and
// can spin.
Limits WithinDescriptors(Limits limits) {
  rlimit descriptors{};
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  const uint64_t reserve = limits::kDescriptorsReserved;
  const uint64_t free = descriptors.rlim_cur > 2 * reserve ? descriptors.rlim_cur - reserve
                                                           : descriptors.rlim_cur / 2;
  limits.connections = std::min(limits.connections, free);
  return limits;
}

}  // namespace

Server::Server(const Options& options, storage::Files* files, Recovered recovered,
               CredentialsFile* credentials)
    : options_(options),
      credentials_(credentials),
      recovered_(std::move(recovered)),
      tokens_(recovered_.secrets),
      rotations_(&loop_, recovered_.directory.get(), std::move(recovered_.secrets), &tokens_),
      commit_(&loop_, recovered_.engine.get(), recovered_.writer.get(),
              {.durability = options.durability, .interval_ms = options.durability_interval_ms}),
      snapshots_(files,
                 {.directory = options.data_directory,
                  .log_bytes = options.snapshot_log_bytes,
                  .archive = options.archive,
                  .archive_keep_s = options.archive_keep_s},
                 recovered_.snapshot_number, recovered_.snapshot_bytes),
      watches_(recovered_.engine.get(), &commit_, auth::Random64(), options.limits),
      desk_(recovered_.engine.get(), &commit_, &tokens_, &watches_),
      clock_(options.virtual_clock ? EngineClock::Kind::kVirtual : EngineClock::Kind::kReal,
             recovered_.engine->now_ms(), uv_hrtime()),
      advances_(&clock_, &desk_),
      connections_(this, WithinDescriptors(options.limits), credentials),
      started_ms_(LoopMs()) {
  CHECK_EQ(uv_loop_init(&loop_), 0);
  watches_.Attach(&desk_);
  connections_.SetClock(LoopMs);
  desk_.SetLimits(options_.limits);
  desk_.StartSoftDeadlines(clock_.Read(uv_hrtime()));

  const auto init = [this](auto* handle, auto initialise) {
    CHECK_EQ(initialise(&loop_, handle), 0);
    handle->data = this;
  };
  init(&turn_, uv_check_init);
  init(&backlog_, uv_idle_init);
  init(&wake_, uv_timer_init);
  init(&second_, uv_timer_init);
  init(&terminate_, uv_signal_init);
  init(&interrupt_, uv_signal_init);
  init(&hangup_, uv_signal_init);
  statfs_.data = this;
  uv_check_start(&turn_, [](uv_check_t* check) { static_cast<Server*>(check->data)->Turn(); });
  uv_timer_start(
      &second_, [](uv_timer_t* timer) { static_cast<Server*>(timer->data)->EverySecond(); }, 0,
      1000);
  const auto on_signal = [](uv_signal_t* handle, int signal) {
    static_cast<Server*>(handle->data)->OnSignal(signal);
  };
  CHECK_EQ(uv_signal_start(&terminate_, on_signal, SIGTERM), 0);
  CHECK_EQ(uv_signal_start(&interrupt_, on_signal, SIGINT), 0);
  // Without credentials it means what it means to any program: its terminal is gone.
  if (credentials_ == nullptr) return;
  const auto on_hangup = [](uv_signal_t* handle, int) {
    auto* self = static_cast<Server*>(handle->data);
    if (!self->stop_asked_) self->credentials_->ReadAgain(&self->loop_);
  };
  CHECK_EQ(uv_signal_start(&hangup_, on_hangup, SIGHUP), 0);
}

Server::~Server() {
  CloseHandles();
  uv_run(&loop_, UV_RUN_DEFAULT);
  CHECK_EQ(uv_loop_close(&loop_), 0);
}

absl::Status Server::Listen() {
  if (options_.listen) {
    auto listener = net::Listener::ListenTcp(&loop_, *options_.listen, &connections_);
    if (!listener.ok()) return listener.status();
    listeners_.push_back(*std::move(listener));
  }
  if (!options_.unix_path.empty()) {
    auto listener = net::Listener::ListenUnix(&loop_, options_.unix_path, &connections_);
    if (!listener.ok()) return listener.status();
    listeners_.push_back(*std::move(listener));
  }
  return absl::OkStatus();
}

std::string Server::listening_on() const {
  std::string names;
  for (const auto& listener : listeners_) {
    if (!names.empty()) names += " and ";
    names += listener->name();
  }
  return names;
}

int Server::Run() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  return exit_status_;
}

// What the log and the memory can take may change with every chunk of requests.
void Server::SettleSpace() {
  desk_.SetMemoryBeside(connections_.held_bytes() + watches_.used_bytes());
  const GroupCommit::Space space = commit_.space();
  if (space == space_) return;
  space_ = space;
  desk_.SetLogSpace(space.space, space.reason);
  if (space.space == LogSpace::kNone) {
    clock_.Stop();
  } else {
    clock_.Resume(uv_hrtime());
  }
}

void Server::Turn() {
  const uint64_t now_ns = uv_hrtime();
  loop_ms_ = now_ns / 1'000'000;
  connections_.SetTime(loop_ms_);
  commit_.SetTime(loop_ms_);
  answer_times_.BeginTurn(now_ns);
  if (phase_ == Phase::kRunning) {
    SettleSpace();
    desk_.BeginTurn(clock_.Read(now_ns));
    watches_.BeginTurn(static_cast<int64_t>(loop_ms_));
    StepAdvances();
    TakeRotations();
    watches_.Push();
  }
  connections_.Release(commit_.released_sequence());
  // What was staged while the last batch was in flight goes to the disk before this turn's requests
  // are worked, so that the disk does not idle meanwhile.
  if (phase_ <= Phase::kStopping) commit_.Start();
  connections_.Work();
  if (phase_ == Phase::kRunning) watches_.Push();
  if (stop_asked_) StepStop();
  if (phase_ <= Phase::kStopping) commit_.Start();
  connections_.Release(commit_.released_sequence());
  connections_.Flush();
  if (answer_times_.waits()) answer_times_.Release(commit_.released_sequence(), uv_hrtime());
  Arm();
}

void Server::StepAdvances() {
  if (!advances_.under_way() || space_.space == LogSpace::kNone) return;
  net::Arrival done;
  if (!advances_.Step(&done)) return;
  Answer<protocol::Operation::kClockAdvance>(
      done, anteroom::Answer<protocol::ClockReply>(
                protocol::ClockReply{static_cast<uint64_t>(desk_.now_ms())}));
  connections_.Unblock(done.connection);
}

void Server::Arm() {
  if (phase_ == Phase::kStopped) return;
  const bool may_write = space_.space != LogSpace::kNone && phase_ == Phase::kRunning;
  const bool due_now = may_write && desk_.NextDue() <= desk_.now_ms();
  const bool backlog = connections_.has_backlog() || connections_.has_output() ||
                       (phase_ == Phase::kRunning && watches_.has_backlog()) ||
                       (may_write && advances_.under_way()) || due_now;
  if (backlog) {
    uv_idle_start(&backlog_, [](uv_idle_t*) {});
    uv_timer_stop(&wake_);
    return;
  }
  uv_idle_stop(&backlog_);
  // The timer of every second sees to the rest.
  uint64_t wait_ms = UINT64_MAX;
  const auto want = [&](int64_t at_ms, int64_t now_ms) {
    wait_ms = std::min(wait_ms, static_cast<uint64_t>(std::max<int64_t>(1, at_ms - now_ms)));
  };
  if (may_write && !clock_.is_virtual() && desk_.NextDue() != Desk::kNever) {
    want(desk_.NextDue(), clock_.Read(uv_hrtime()));
  }
  const auto loop_ms = static_cast<int64_t>(loop_ms_);
  if (phase_ == Phase::kRunning && watches_.NextDueMs() != TimingWheel::kNever) {
    want(watches_.NextDueMs(), loop_ms);
  }
  if (const auto next_ms = commit_.next_start_ms()) want(static_cast<int64_t>(*next_ms), loop_ms);
  if (phase_ == Phase::kDraining) want(loop_ms + kDrainingTurnMs, loop_ms);
  if (wait_ms >= 1000) {
    uv_timer_stop(&wake_);
    return;
  }
  uv_update_time(&loop_);
  uv_timer_start(
      &wake_, [](uv_timer_t*) {}, wait_ms, 0);
}

void Server::EverySecond() {
  connections_.SetTime(LoopMs());
  connections_.CheckDeadlines(limits::kLingerMsMax);
  TrimMemory();
  SayMemory();
  if (phase_ == Phase::kRunning) {
    const storage::LogWriter& writer = *recovered_.writer;
    snapshots_.Look(writer.segment_number(), writer.segment_bytes(), LoopMs());
  }
  if (statfs_under_way_) return;
  const int error =
      uv_fs_statfs(&loop_, &statfs_, recovered_.directory->path().c_str(), [](uv_fs_t* request) {
        auto* self = static_cast<Server*>(request->data);
        if (request->result == 0) {
          const auto* found = static_cast<const uv_statfs_t*>(request->ptr);
          self->disk_free_bytes_ = found->f_bavail * found->f_bsize;
        }
        uv_fs_req_cleanup(request);
        self->statfs_under_way_ = false;
      });
  statfs_under_way_ = error == 0;
}

// What a crowd of connections held lies scattered in the heap, and the library gives such memory to
// the system only when it is asked to.
void Server::TrimMemory() {
  given_back_bytes_ += connections_.TakeGivenBackBytes();
  const uint64_t now_ms = LoopMs();
  if (given_back_bytes_ < limits::kTrimBytesMin) return;
  if (now_ms - trimmed_ms_ < limits::kTrimPauseMs) return;
  malloc_trim(0);
  given_back_bytes_ = 0;
  trimmed_ms_ = now_ms;
}

// Once for a time that may have many refusals in it.
void Server::SayMemory() {
  const uint64_t most = options_.limits.memory_bytes;
  if (!memory_said_ && desk_.memory_full()) {
    memory_said_ = true;
    std::fprintf(stderr,
                 "anteroomd: people, rooms, watches and connections take all of --max-memory %s: "
                 "no newcomers until there is less\n",
                 FormatSize(most).c_str());
  } else if (memory_said_ && desk_.memory_bytes() < most - most / limits::kMemoryFreeShare) {
    memory_said_ = false;
    std::fputs("anteroomd: there is memory for newcomers again\n", stderr);
  }
}

void Server::check_invariants() {
  connections_.check_invariants();
  watches_.check_invariants();
  commit_.check_invariants();
  rotations_.check_invariants();
  clock_.check_invariants();
  if (credentials_ != nullptr) credentials_->check_invariants();
  CHECK_EQ(clock_.stopped(), space_.space == LogSpace::kNone);
}

}  // namespace anteroom::app
