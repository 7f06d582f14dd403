#include "server/app/snapshots.h"

#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "server/auth/random.h"
#include "server/base/check.h"
#include "server/storage/storage_status.h"

namespace anteroom::app {
namespace {

// After a failure that may pass.
constexpr uint64_t kAgainMs = 60'000;
constexpr uint64_t kTidyMs = 3'600'000;
// So many times what is enough for a snapshot is too much to wait for idle time.
constexpr uint64_t kUrgentFactor = 3;

// A full archive is pruned too: that may be what makes room.
absl::Status Tidy(storage::Files& files, const Snapshots::Options& options, uint32_t segment,
                  const std::atomic<bool>& cancel) {
  absl::Status status =
      storage::RemoveCovered(files, options.directory, segment, options.archive, cancel);
  if (options.archive_keep_s) {
    status.Update(storage::PruneArchive(files, options.archive, *options.archive_keep_s, cancel));
  }
  return status;
}

}  // namespace

Snapshots::Snapshots(storage::Files* files, Options options, uint32_t number, uint64_t bytes)
    : files_(*files), options_(std::move(options)), number_(number), bytes_(bytes) {}

Snapshots::~Snapshots() {
  work_.cancel.store(true, std::memory_order_relaxed);
  if (working_) thread_.join();
}

void Snapshots::Look(uint32_t open_segment, uint64_t segment_bytes, uint64_t now_ms) {
  if (working_ && work_.done.load(std::memory_order_acquire)) {
    TakeDone(now_ms);
    return;
  }
  if (stopped_) return;
  const uint32_t first = std::max(number_, 1U);
  CHECK_GE(open_segment, first);
  const uint64_t closed_bytes = (open_segment - first) * segment_bytes;
  const uint64_t enough_bytes = std::max(options_.log_bytes, bytes_);
  const bool urgent = closed_bytes >= kUrgentFactor * enough_bytes;
  if (working_) {
    // A thread without privileges cannot leave the idle class: another one begins anew.
    if (urgent && work_.makes && work_.idle) work_.cancel.store(true, std::memory_order_relaxed);
  } else if (open_segment > first && closed_bytes >= enough_bytes && now_ms >= make_from_ms_) {
    Start(open_segment, true, !urgent);
  } else if (now_ms >= tidy_ms_) {
    Start(number_, false, true);
  }
}

void Snapshots::Start(uint32_t segment, bool makes, bool idle) {
  work_.segment = segment;
  work_.makes = makes;
  work_.idle = idle;
  work_.cancel.store(false, std::memory_order_relaxed);
  work_.done.store(false, std::memory_order_relaxed);
  working_ = true;
  // The loop's thread is the one that takes the signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    // Of this thread alone, as Linux has it. Without it the loop only shares the processor more.
    const sched_param none{};
    if (work_.idle) sched_setscheduler(0, SCHED_IDLE, &none);
    DoWork();
    work_.done.store(true, std::memory_order_release);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Snapshots::DoWork() {
  if (work_.makes) {
    work_.made = storage::MakeSnapshot(files_, options_.directory, work_.segment, auth::Random64(),
                                       work_.cancel);
    if (!work_.made.ok()) return;
  }
  work_.tidied = Tidy(files_, options_, work_.segment, work_.cancel);
}

void Snapshots::TakeDone(uint64_t now_ms) {
  thread_.join();
  working_ = false;
  if (work_.makes) TakeMade(now_ms);
  if (!work_.makes || work_.made.ok()) TakeTidied(now_ms);
}

void Snapshots::TakeMade(uint64_t now_ms) {
  if (work_.made.ok()) {
    number_ = work_.segment;
    bytes_ = work_.made->bytes;
    failed_ = false;
    return;
  }
  const absl::Status& status = work_.made.status();
  if (absl::IsCancelled(status)) return;
  const bool damaged = storage::KindOf(status) == storage::FailureKind::kDamaged;
  if (damaged) stopped_ = damaged_ = true;
  if (damaged || !failed_) {
    std::fprintf(stderr, "anteroomd: no snapshot: %s; the log is kept whole%s\n",
                 std::string(status.message()).c_str(),
                 damaged ? ", and no other is tried" : " and another is tried every minute");
  }
  failed_ = true;
  make_from_ms_ = now_ms + kAgainMs;
}

void Snapshots::TakeTidied(uint64_t now_ms) {
  const absl::Status& status = work_.tidied;
  if (absl::IsCancelled(status)) {
    tidy_ms_ = now_ms;
    return;
  }
  if (!status.ok() && !tidying_failed_) {
    std::fprintf(stderr,
                 "anteroomd: log that is not needed any more stays: %s; it takes space until that "
                 "works, which is tried every minute\n",
                 std::string(status.message()).c_str());
  } else if (status.ok() && tidying_failed_) {
    std::fputs("anteroomd: log that is not needed any more is gone now\n", stderr);
  }
  tidying_failed_ = !status.ok();
  tidy_ms_ = now_ms + (status.ok() ? kTidyMs : kAgainMs);
}

Snapshots::State Snapshots::state() const {
  if (damaged_) return State::kStopped;
  if (failed_) return State::kFailing;
  return tidying_failed_ ? State::kLogStays : State::kOk;
}

std::string_view NameOf(Snapshots::State state) {
  switch (state) {
    case Snapshots::State::kOk:
      return "ok";
    case Snapshots::State::kFailing:
      return "failing";
    case Snapshots::State::kStopped:
      return "stopped";
    case Snapshots::State::kLogStays:
      break;
  }
  return "log_stays";
}

void Snapshots::Stop() {
  stopped_ = true;
  work_.cancel.store(true, std::memory_order_relaxed);
}

}  // namespace anteroom::app
