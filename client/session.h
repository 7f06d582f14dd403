// What both clients are made of: the calls, watches and finishes of one client, over one link.
//
// Every callback runs from the loop, never from inside the function that was given it: what can be
// answered at once is put off to an idle handle. A session holds itself alive until everything of
// it on the loop is closed.
//
// Closing, and noticing that the process is a forked child, go the same way: mark it, start the
// idle handle, which touches memory only; then, on the loop, fail what is open and close the
// handles. So nothing that a child shares with its parent is touched before the child runs the
// loop, and has thereby said that the loop is its own.
//
// Invariant: a place of the call table is sent only while the link is up, or was until this turn;
// before the link is up, calls wait in the table with their frames.
// Threads: the loop's, but for the functions marked any.
#ifndef ANTEROOM_CLIENT_SESSION_H_
#define ANTEROOM_CLIENT_SESSION_H_

#include <uv.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/call_table.h"
#include "client/failure.h"
#include "client/finish_queue.h"
#include "client/fork_guard.h"
#include "client/link.h"
#include "client/loop_handles.h"
#include "client/options.h"
#include "client/pending_call.h"
#include "client/watch_set.h"
#include "client/wire.h"

namespace anteroom::client {

class Session final : public std::enable_shared_from_this<Session>,
                      private Link::Owner,
                      private Wire {
 public:
  // `on_finish_settled`, which may be null, is called after each finish delivered or lost.
  static std::shared_ptr<Session> Start(uv_loop_t* loop, const ClientOptions& options,
                                        std::function<void()> on_finish_settled);
  ~Session();

  // `frame` is a whole request frame; `call` is answered in a later turn.
  void Submit(protocol::Operation operation, std::string_view frame, int64_t deadline_ms,
              std::unique_ptr<PendingCall> call);
  // Answers `call` with `status` in a later turn.
  void Refuse(absl::Status status, std::unique_ptr<PendingCall> call);

  // Calls `action` in a later turn.
  void Defer(std::function<void()> action);
  // An error when nothing will ever be sent again.
  absl::Status CheckOpen();

  // `since_ms` on the clock of NowMs.
  int64_t DeadlineMs(const CallOptions& call, int64_t since_ms) const;

  WatchHandle NewWatchHandle() { return {++last_watch_id_}; }  // any
  // On an error, `watch` is told nothing.
  absl::Status AddWatch(WatchHandle handle, PendingWatch watch);
  void RemoveWatch(WatchHandle handle);

  // The frame of a finish, for which finishes().Reserve() was OK.
  void AddFinish(std::string frame);
  FinishQueue& finishes() { return *finishes_; }  // its own thread rules

  // `closed` is called last, or not at all when it is closing already.
  void Close(std::function<void()> closed);
  bool closing() const { return closing_.has_value(); }

  bool connected() const { return connected_; }         // any
  bool forked() const { return fork_guard_.forked(); }  // any
  size_t requests_in_flight() const { return calls_.counted(); }

  void check_invariants() const;

 private:
  // One thing put off to the next turn.
  struct Deferred {
    std::unique_ptr<PendingCall> call;
    absl::Status status;
    std::function<void()> action;  // when there is no call
    void Run();
  };

  Session(uv_loop_t* loop, const ClientOptions& options, std::function<void()> on_finish_settled);

  // Link::Owner
  void OnUp() override;
  void OnFrame(const protocol::FrameHeader& header, std::string_view payload) override;
  void OnLost(const std::string& why) override;
  void OnAway() override;
  void OnForked() override { AbandonIfForked(); }

  // Wire
  bool up() const override { return link_ != nullptr && link_->up() && !closing(); }
  uint32_t ReserveId() override { return calls_.Reserve(); }
  void ReleaseId(uint32_t request_id) override;
  void SendFrame(uint32_t request_id, std::string_view frame) override;
  void SendOwnCall(protocol::Operation operation, std::string_view frame,
                   std::unique_ptr<PendingCall> call) override;
  void BreakLink(std::string why) override { link_->Break(std::move(why)); }

  // True in a forked child, and then what is open will fail.
  bool AbandonIfForked();
  absl::Status ClosingStatus(bool may_have_been_applied) const;
  // An error when no call can be taken now.
  absl::Status CheckRoom(int64_t deadline_ms, int64_t now_ms) const;
  void PutOff(Deferred deferred);
  void RunDeferred();
  void OnIdle();
  void OnPrepare();
  void TearDown();
  void FailTaken(std::vector<CallTable::Taken> taken, FailureCause cause, const std::string& why);
  void WatchDeadline(int64_t deadline_ms);
  void OnDeadlineTimer();
  void ForgetWaitingIds();

  const ForkGuard fork_guard_;
  uv_loop_t* const loop_;
  const ClientOptions options_;
  const size_t requests_in_flight_max_;
  std::shared_ptr<LoopRef> ref_;   // null when torn down
  std::shared_ptr<Session> self_;  // until torn down
  std::optional<FailureCause> closing_;
  std::atomic<bool> connected_ = false;
  std::atomic<uint64_t> last_watch_id_ = 0;

  CallTable calls_;
  std::vector<uint32_t> waiting_ids_;  // in the order of the calls; those gone meanwhile included
  std::vector<Deferred> deferred_;
  int64_t deadline_timer_ms_ = 0;  // when it fires; 0: not started

  std::unique_ptr<Idle> idle_;
  std::unique_ptr<Prepare> prepare_;
  std::unique_ptr<Timer> deadline_timer_;
  std::unique_ptr<FinishQueue> finishes_;
  std::unique_ptr<WatchSet> watches_;
  std::unique_ptr<Link> link_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_SESSION_H_
