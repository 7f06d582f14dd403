// One thread waits, another tells it once that it may go on.
#ifndef ANTEROOM_CLIENT_WAITER_H_
#define ANTEROOM_CLIENT_WAITER_H_

#include <condition_variable>
#include <mutex>

namespace anteroom::client {

class Waiter {
 public:
  void Notify() {
    // Under the lock: the waiting thread may destroy this as soon as it is released.
    const std::lock_guard lock(mutex_);
    notified_ = true;
    condition_.notify_one();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return notified_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool notified_ = false;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_WAITER_H_
