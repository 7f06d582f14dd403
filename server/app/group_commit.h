// Group commit: the one place that writes the log. Records are staged as they are made; whenever no
// batch is in flight, all that is staged goes to the thread pool as one, is written and synced, and
// what waited for it may leave. One batch in flight at a time, in every durability: they differ
// only in what replies wait for.
//
//   commit.Append(record)            before the engine applies it
//   commit.last_sequence()           the mark of everything said from now on
//   commit.Start()                   before and after a turn's requests
//   commit.Advance()                 now and then within a long one
//   commit.released_sequence()       records up to here may show in what leaves
//
// An error of a write or a sync ends the process at once: nobody knows what is on disk, so nothing
// more may be said. Space that is not to be had is no such error: it is asked for again.
//
// Threads: the loop's; the pool sees the batch in flight and the writer only.
#ifndef ANTEROOM_SERVER_APP_GROUP_COMMIT_H_
#define ANTEROOM_SERVER_APP_GROUP_COMMIT_H_

#include <uv.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "server/app/sync_times.h"
#include "server/base/canary.h"
#include "server/base/limits.h"
#include "server/engine/desk.h"
#include "server/engine/engine.h"
#include "server/engine/meter.h"
#include "server/net/watches.h"
#include "server/storage/log_batch.h"
#include "server/storage/log_writer.h"

namespace anteroom::app {

enum class Durability { kCommit, kInterval, kNone };

// No destructors, no flushing of anything but the message: nothing more may be said to anybody.
[[noreturn]] void EndAtOnce(const absl::Status& status);
void SayOnStandardError(std::string_view line);

// Invariants: durable_sequence() <= last_sequence(), and the records between them are in flight or
// staged; the pool works on `in_flight_` exactly while `writing_`.
class GroupCommit : public RecordSink, public net::MarkSource {
 public:
  struct Options {
    Durability durability = Durability::kCommit;
    uint64_t interval_ms = 100;  // for kInterval: at most so much may be lost
    uint64_t undurable_bytes_max = limits::kUndurableBytesMax;
    // What follows an error of the disk: it does not return. Tests do not end the process.
    void (*on_error)(const absl::Status&) = EndAtOnce;
    // Where it says that space is short: standard error.
    void (*say)(std::string_view) = SayOnStandardError;
  };

  // All outlive it. Loses nothing that the loop has not been told of: run the loop until idle()
  // before destroying.
  GroupCommit(uv_loop_t* loop, Engine* engine, storage::LogWriter* writer, Options options);
  ~GroupCommit() override;

  void Append(std::string_view record) override;

  uint64_t last_sequence() const override { return builder_.next_sequence() - 1; }
  uint64_t durable_sequence() const { return durable_sequence_; }
  uint64_t released_sequence() const {
    const bool waits =
        options_.durability == Durability::kCommit && !ANTEROOM_CANARY(kReplyBeforeSync);
    return waits ? durable_sequence_ : UINT64_MAX;
  }

  void SetTime(uint64_t loop_ms) { loop_ms_ = loop_ms; }
  // Sends what is staged to the disk if nothing is on its way, and has the next segment prepared.
  void Start();
  // The same when the batch in flight is done but the loop has not come to hear of it, so that the
  // disk does not idle until the turn ends. Costs next to nothing.
  void Advance() {
    if (writing_ && task_->done.load(std::memory_order_acquire)) TakeDone();
  }
  // The loop's time at which Start has something to do that nothing else wakes the loop for.
  std::optional<uint64_t> next_start_ms() const;

  // What the log can still take.
  struct Space {
    LogSpace space = LogSpace::kPlenty;
    protocol::Reason reason = protocol::Reason::kDiskFull;
    bool operator==(const Space&) const = default;
  };
  Space space();

  // Everything staged is on disk and nothing is at work.
  bool idle() const { return builder_.empty() && !tasks_queued() && !blocked_ && !preparing_; }
  // From now on everything is written as soon as it can be, whatever the durability.
  void Hurry() { hurry_ = true; }
  // Writes the end record, once idle(). ended() when that is on disk.
  void StartEnd();
  bool ended() const { return ended_; }

  const SyncTimes& sync_times() const { return sync_times_; }
  // Written by this process.
  uint64_t log_bytes() const { return log_bytes_; }
  uint64_t reserved_bytes() const { return writer_.reserved_bytes_left(); }
  // Of the last ten seconds.
  uint64_t bytes_per_s() { return written_.PerSecondMilli(static_cast<int64_t>(loop_ms_)) / 1000; }

  void check_invariants() const;

 private:
  // A request to the pool for one write. It is queued until the loop has heard of its end; Advance
  // may have taken in what came of it before.
  struct WriteTask {
    GroupCommit* commit;
    uv_work_t work;
    std::atomic<bool> done = false;
    bool queued = false;
    bool taken = false;
  };

  void StartWrite();
  void OnWritten();
  void TakeDone();
  bool tasks_queued() const { return tasks_[0].queued || tasks_[1].queued; }
  void StartPrepare();
  void OnPrepared();
  uint64_t pause_ms() const;

  uv_loop_t* const loop_;
  Engine& engine_;
  storage::LogWriter& writer_;
  const Options options_;
  storage::BatchBuilder builder_;

  uint64_t loop_ms_ = 0;
  uint64_t durable_sequence_;
  uint64_t batch_started_ms_ = 0;
  uint64_t log_bytes_ = 0;
  bool hurry_ = false;
  bool slow_ = false;   // too much is undurable
  bool short_ = false;  // the next segment is not to be had
  uint64_t prepare_again_ms_ = 0;

  // The batch at work. Blocked: it waits for space, in no thread's hands.
  storage::Batch in_flight_;
  bool writing_ = false;
  bool blocked_ = false;
  bool ending_ = false;
  bool ended_ = false;
  storage::EngineMark end_mark_;
  absl::Status write_status_;
  uint64_t write_took_us_ = 0;
  // One can be queued for the next batch while the other's end has yet to be heard of. Invariant:
  // one is free whenever nothing is being written.
  std::array<WriteTask, 2> tasks_;
  WriteTask* task_ = &tasks_[0];  // of the batch in flight

  bool preparing_ = false;
  absl::Status prepare_status_;
  uv_work_t prepare_work_;

  SyncTimes sync_times_;
  Meter written_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_GROUP_COMMIT_H_
