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
  if (working_) {
    if (work_.done.load(std::memory_order_acquire)) TakeDone(now_ms);
    return;
  }
  if (stopped_) return;
  const uint32_t first = std::max(number_, 1U);
  CHECK_GE(open_segment, first);
  const uint64_t closed_bytes = (open_segment - first) * segment_bytes;
  const bool enough = open_segment > first && closed_bytes >= std::max(options_.log_bytes, bytes_);
  if (enough && now_ms >= make_from_ms_) {
    Start(open_segment, true);
  } else if (now_ms >= tidy_ms_) {
    Start(number_, false);
  }
}

void Snapshots::Start(uint32_t segment, bool makes) {
  work_.segment = segment;
  work_.makes = makes;
  work_.done.store(false, std::memory_order_relaxed);
  working_ = true;
  // The loop's thread is the one that takes the signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    // Of this thread alone, as Linux has it. Without it the loop only shares the processor more.
    sched_param idle{};
    sched_setscheduler(0, SCHED_IDLE, &idle);
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
  if (damaged) stopped_ = true;
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
  if (absl::IsCancelled(status)) return;
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

void Snapshots::Stop() {
  stopped_ = true;
  work_.cancel.store(true, std::memory_order_relaxed);
}

}  // namespace anteroom::app
