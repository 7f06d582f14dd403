#include "server/app/group_commit.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "server/base/check.h"
#include "server/storage/engine_replay.h"
#include "server/storage/storage_status.h"

namespace anteroom::app {

using storage::FailureKind;
using storage::KindOf;

void EndAtOnce(const absl::Status& status) {
  std::fprintf(stderr,
               "anteroomd: %s\nanteroomd: it is not known what is on disk; ending at once, nothing "
               "more is acknowledged\n",
               std::string(status.message()).c_str());
  std::fflush(stderr);
  _exit(1);
}

void SayOnStandardError(std::string_view line) {
  std::fprintf(stderr, "anteroomd: %.*s\n", static_cast<int>(line.size()), line.data());
}

GroupCommit::GroupCommit(uv_loop_t* loop, Engine* engine, storage::LogWriter* writer,
                         Options options)
    : loop_(loop),
      engine_(*engine),
      writer_(*writer),
      options_(options),
      builder_(writer->next_sequence(), writer->frame_payload_bytes_max()),
      durable_sequence_(writer->next_sequence() - 1) {
  for (WriteTask& task : tasks_) {
    task.commit = this;
    task.work.data = &task;
  }
  prepare_work_.data = this;
}

GroupCommit::~GroupCommit() {
  CHECK(!tasks_queued() && !preparing_);
}

void GroupCommit::Append(std::string_view record) {
  CHECK(!ending_);
  // The digest is not free to ask for, and only a frame's first record has it kept.
  builder_.Stage(
      builder_.OpensFrame(record.size()) ? storage::MarkOf(engine_) : storage::EngineMark(),
      record);
}

// Half of the interval is for the waiting, half for the writing.
uint64_t GroupCommit::pause_ms() const {
  if (options_.durability == Durability::kCommit || hurry_) return 0;
  if (options_.durability == Durability::kNone) return limits::kBackgroundBatchMs;
  return std::min(limits::kBackgroundBatchMs, options_.interval_ms / 2);
}

std::optional<uint64_t> GroupCommit::next_start_ms() const {
  std::optional<uint64_t> next_ms;
  if (!builder_.empty() && !writing_ && !blocked_) {
    next_ms = batch_started_ms_ + pause_ms();
  }
  if (short_ && !preparing_) next_ms = std::min(next_ms.value_or(UINT64_MAX), prepare_again_ms_);
  return next_ms;
}

void GroupCommit::Start() {
  if (!preparing_ && writer_.needs_prepare() && !ending_ &&
      (!short_ || loop_ms_ >= prepare_again_ms_)) {
    StartPrepare();
  }
  if (writing_ || blocked_ || builder_.empty()) return;
  if (loop_ms_ < batch_started_ms_ + pause_ms() &&
      builder_.staged_bytes() < limits::kBackgroundBatchBytes) {
    return;
  }
  in_flight_ = builder_.Seal();
  batch_started_ms_ = loop_ms_;
  StartWrite();
}

void GroupCommit::StartWrite() {
  writing_ = true;
  task_ = tasks_[0].queued ? &tasks_[1] : &tasks_[0];
  CHECK(!task_->queued);
  task_->queued = true;
  task_->taken = false;
  task_->done.store(false, std::memory_order_relaxed);
  const int error = uv_queue_work(
      loop_, &task_->work,
      [](uv_work_t* work) {
        auto* task = static_cast<WriteTask*>(work->data);
        GroupCommit* self = task->commit;
        const uint64_t start_ns = uv_hrtime();
        self->write_status_ = self->ending_ ? self->writer_.WriteEnd(self->end_mark_)
                                            : self->writer_.Write(self->in_flight_);
        self->write_took_us_ = (uv_hrtime() - start_ns) / 1000;
        task->done.store(true, std::memory_order_release);
      },
      [](uv_work_t* work, int) {
        auto* task = static_cast<WriteTask*>(work->data);
        task->queued = false;
        if (!task->taken) task->commit->OnWritten();
      });
  CHECK_EQ(error, 0);
}

void GroupCommit::TakeDone() {
  // Without the other one free, the next batch could not start.
  const WriteTask& other = task_ == &tasks_[0] ? tasks_[1] : tasks_[0];
  if (other.queued) return;
  task_->taken = true;
  OnWritten();
  Start();
}

void GroupCommit::OnWritten() {
  writing_ = false;
  if (!write_status_.ok()) {
    if (KindOf(write_status_) != FailureKind::kNoSpace) options_.on_error(write_status_);
    // The next segment is not to be had. OnPrepared goes on with the same batch.
    blocked_ = true;
    short_ = true;
    prepare_again_ms_ = loop_ms_ + limits::kPrepareRetryMs;
    return;
  }
  sync_times_.Add(write_took_us_);
  if (ending_) {
    ended_ = true;
    return;
  }
  durable_sequence_ = in_flight_.next_sequence() - 1;
  log_bytes_ += in_flight_.bytes();
  written_.Count(static_cast<int64_t>(loop_ms_), static_cast<uint32_t>(in_flight_.bytes()));
  builder_.Recycle(std::exchange(in_flight_, storage::Batch()));
}

void GroupCommit::StartPrepare() {
  preparing_ = true;
  const int error = uv_queue_work(
      loop_, &prepare_work_,
      [](uv_work_t* work) {
        auto* self = static_cast<GroupCommit*>(work->data);
        self->prepare_status_ = self->writer_.PrepareNext();
      },
      [](uv_work_t* work, int) { static_cast<GroupCommit*>(work->data)->OnPrepared(); });
  CHECK_EQ(error, 0);
}

void GroupCommit::OnPrepared() {
  preparing_ = false;
  if (!prepare_status_.ok()) {
    if (KindOf(prepare_status_) != FailureKind::kNoSpace) options_.on_error(prepare_status_);
    if (!short_) {
      options_.say("no space for the log: " + std::string(prepare_status_.message()) +
                   "; trying again every second");
    }
    short_ = true;
    prepare_again_ms_ = loop_ms_ + limits::kPrepareRetryMs;
    return;
  }
  if (short_) options_.say("there is space for the log again");
  short_ = false;
  if (std::exchange(blocked_, false)) StartWrite();
}

void GroupCommit::StartEnd() {
  CHECK(idle() && !ending_);
  ending_ = true;
  end_mark_ = storage::MarkOf(engine_);
  StartWrite();
}

GroupCommit::Space GroupCommit::space() {
  const uint64_t undurable_bytes = builder_.staged_bytes() + in_flight_.bytes();
  if (undurable_bytes > options_.undurable_bytes_max) slow_ = true;
  if (undurable_bytes <= options_.undurable_bytes_max / 2) slow_ = false;
  if (short_) {
    // What a chunk of requests may still stage has to fit as well: a batch that cannot be written
    // holds back every answer, those that only look too.
    const uint64_t margin_bytes = std::min(limits::kLogMarginBytes, writer_.segment_bytes() / 4);
    const bool fits = !blocked_ && undurable_bytes + margin_bytes < writer_.reserved_bytes_left();
    return {fits ? LogSpace::kShort : LogSpace::kNone, protocol::Reason::kDiskFull};
  }
  if (slow_) return {LogSpace::kNone, protocol::Reason::kDiskSlow};
  return {};
}

void GroupCommit::check_invariants() const {
  builder_.check_invariants();
  CHECK_LE(durable_sequence_, last_sequence());
  CHECK(!(writing_ && blocked_));
  CHECK(writing_ || !(tasks_[0].queued && tasks_[1].queued));
  if (!writing_) in_flight_.check_invariants();
  const uint64_t first_staged = builder_.next_sequence() - builder_.staged_records();
  CHECK_EQ(durable_sequence_ + in_flight_.record_count() + 1, first_staged);
}

}  // namespace anteroom::app
