// The thread of a blocking client: a loop with a session on it, and an inbox through which other
// threads hand it work.
//
// Invariant: what is put into the inbox is run, and every call in it answered, before the thread
// ends; after Close nothing more is put in.
// Threads: any, but for the constructor and the destructor.
#ifndef ANTEROOM_CLIENT_LOOP_THREAD_H_
#define ANTEROOM_CLIENT_LOOP_THREAD_H_

#include <uv.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/fork_guard.h"
#include "client/options.h"
#include "client/pending_call.h"
#include "client/session.h"

namespace anteroom::client {

class LoopThread {
 public:
  explicit LoopThread(const ClientOptions& options);
  ~LoopThread();
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  bool forked() const { return fork_guard_.forked(); }
  bool on_own_thread() const { return std::this_thread::get_id() == thread_id_; }

  // OK when `call` will be answered; otherwise it never is. `frame` is a whole request frame.
  absl::Status Submit(protocol::Operation operation, std::string frame, const CallOptions& call,
                      std::unique_ptr<PendingCall> pending);

  // Never waits. `frame` is that of a finish.
  absl::Status FinishLater(std::string frame);
  FinishLaterCounts finish_later_counts() const;
  bool FlushFinishes(int64_t within_ms);

  // Waits until the loop has taken it, unless called on the loop's own thread.
  absl::StatusOr<WatchHandle> Watch(PendingWatch watch);
  void Unwatch(WatchHandle handle);

  bool connected() const;
  void Close();

  void check_invariants();

 private:
  struct Item {
    protocol::Operation operation = protocol::Operation::kPing;
    std::string frame;
    int64_t deadline_ms = 0;
    std::unique_ptr<PendingCall> call;
    std::function<void()> action;  // when there is no call
  };

  void Start(const ClientOptions& options);
  // An error when nothing more is taken, which is so after the last one.
  absl::Status Put(Item item, bool last = false);
  // Runs it on the loop's thread and waits for that; an error when it will not run.
  absl::Status RunAndWait(const std::function<void()>& action);
  void OnWake();

  const ForkGuard fork_guard_;
  absl::Status start_status_;  // why there is no loop or thread
  uv_loop_t loop_;
  uv_async_t wake_;
  std::shared_ptr<Session> session_;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_;
  std::once_flag close_once_;

  std::mutex mutex_;  // of what follows
  std::vector<Item> inbox_;
  bool closed_ = false;
  std::condition_variable finish_settled_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_LOOP_THREAD_H_
