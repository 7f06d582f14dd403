#include "client/loop_thread.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "client/check.h"
#include "client/failure.h"
#include "client/limits.h"
#include "client/link.h"
#include "client/waiter.h"

namespace anteroom::client {

namespace {

absl::Status ForkedStatus() {
  return LocalStatus(FailureCause::kForked,
                     "the client belongs to the parent process; make one after fork");
}

absl::Status ClosedStatus() {
  return LocalStatus(FailureCause::kClosed, "the client was closed");
}

}  // namespace

LoopThread::LoopThread(const ClientOptions& options) {
  Start(options);
}

void LoopThread::Start(const ClientOptions& options) {
  if (const int error = uv_loop_init(&loop_); error != 0) {
    start_status_ = LocalStatus(FailureCause::kUnreachable,
                                std::string("no loop can be made: ") + uv_strerror(error));
    return;
  }
  wake_.data = this;
  if (const int error = uv_async_init(
          &loop_, &wake_, [](uv_async_t* wake) { static_cast<LoopThread*>(wake->data)->OnWake(); });
      error != 0) {
    start_status_ = LocalStatus(FailureCause::kUnreachable,
                                std::string("no loop can be made: ") + uv_strerror(error));
    uv_loop_close(&loop_);
    return;
  }
  session_ = Session::Start(&loop_, options, [this] {
    const std::lock_guard lock(mutex_);
    finish_settled_.notify_all();
  });
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
    thread_id_ = thread_.get_id();
  } catch (const std::system_error& error) {
    start_status_ = LocalStatus(FailureCause::kUnreachable,
                                std::string("no thread can be made: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (thread_.joinable()) return;
  session_->Close([this] { uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr); });
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
}

LoopThread::~LoopThread() {
  CLIENT_CHECK(!forked());  // left to lie: the thread is the parent's
  Close();
}

void LoopThread::Close() {
  if (forked() || !start_status_.ok()) return;
  CLIENT_CHECK(!on_own_thread());
  std::call_once(close_once_, [this] {
    Item item;
    item.action = [this] {
      session_->Close([this] { uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr); });
    };
    CLIENT_CHECK(Put(std::move(item), /*last=*/true).ok());
    thread_.join();
    thread_id_ = std::thread::id();  // another thread may get it now
    CLIENT_CHECK(uv_loop_close(&loop_) == 0);
  });
}

absl::Status LoopThread::Put(Item item, bool last) {
  const std::lock_guard lock(mutex_);
  if (closed_) return ClosedStatus();
  closed_ = last;
  inbox_.push_back(std::move(item));
  // Under the lock: the loop may not close the handle meanwhile.
  if (inbox_.size() == 1) uv_async_send(&wake_);
  return absl::OkStatus();
}

void LoopThread::OnWake() {
  std::vector<Item> items;
  {
    const std::lock_guard lock(mutex_);
    items.swap(inbox_);
  }
  for (Item& item : items) {
    if (item.call != nullptr) {
      session_->Submit(item.operation, item.frame, item.deadline_ms, std::move(item.call));
    } else {
      item.action();
    }
  }
}

absl::Status LoopThread::Submit(protocol::Operation operation, std::string frame,
                                const CallOptions& call, std::unique_ptr<PendingCall> pending) {
  if (forked()) return ForkedStatus();
  if (!start_status_.ok()) return start_status_;
  if (on_own_thread()) {
    return LocalStatus(FailureCause::kWrongThread,
                       "a call that waits cannot be made from the client's own thread");
  }
  Item item;
  item.operation = operation;
  item.frame = std::move(frame);
  item.deadline_ms = session_->DeadlineMs(call, NowMs());
  item.call = std::move(pending);
  return Put(std::move(item));
}

absl::Status LoopThread::FinishLater(std::string frame) {
  if (forked()) return ForkedStatus();
  if (!start_status_.ok()) return start_status_;
  absl::Status status = session_->finishes().Reserve();
  if (!status.ok()) return status;
  Item item;
  item.action = [this, frame = std::move(frame)]() mutable {
    session_->AddFinish(std::move(frame));
  };
  status = Put(std::move(item));
  if (!status.ok()) session_->finishes().Unreserve();
  return status;
}

FinishLaterCounts LoopThread::finish_later_counts() const {
  return session_ == nullptr ? FinishLaterCounts{} : session_->finishes().counts();
}

bool LoopThread::FlushFinishes(int64_t within_ms) {
  if (forked()) return false;
  if (session_ == nullptr) return true;
  const auto none_pending = [this] { return session_->finishes().counts().pending == 0; };
  if (on_own_thread()) return none_pending();
  std::unique_lock lock(mutex_);
  return finish_settled_.wait_for(lock, std::chrono::milliseconds(std::min(within_ms, kDelayMsMax)),
                                  none_pending);
}

absl::Status LoopThread::RunAndWait(const std::function<void()>& action) {
  if (forked()) return ForkedStatus();
  if (!start_status_.ok()) return start_status_;
  if (on_own_thread()) {
    action();
    return absl::OkStatus();
  }
  Waiter waiter;
  Item item;
  item.action = [&action, &waiter] {
    action();
    waiter.Notify();
  };
  absl::Status status = Put(std::move(item));
  if (status.ok()) waiter.Wait();
  return status;
}

absl::StatusOr<WatchHandle> LoopThread::Watch(PendingWatch watch) {
  WatchHandle handle;
  absl::Status added;
  absl::Status taken = RunAndWait([&] {
    handle = session_->NewWatchHandle();
    added = session_->AddWatch(handle, std::move(watch));
  });
  if (!taken.ok()) return taken;
  if (!added.ok()) return added;
  return handle;
}

void LoopThread::Unwatch(WatchHandle handle) {
  // One that is closed has no watches any more.
  RunAndWait([&] { session_->RemoveWatch(handle); }).IgnoreError();
}

bool LoopThread::connected() const {
  return session_ != nullptr && !forked() && session_->connected();
}

void LoopThread::check_invariants() {
  RunAndWait([this] { session_->check_invariants(); }).IgnoreError();
}

}  // namespace anteroom::client
