// Tells whether the process has forked since this was made, and we are in the child: what belongs
// to the parent (a thread, a connection, an epoll set) must then be left alone.
//
// One relaxed load to ask: a counter that pthread_atfork raises in every child. Any thread.
#ifndef ANTEROOM_CLIENT_FORK_GUARD_H_
#define ANTEROOM_CLIENT_FORK_GUARD_H_

#include <atomic>
#include <cstdint>

namespace anteroom::client {

class ForkGuard {
 public:
  ForkGuard();
  bool forked() const { return generation_ != current_.load(std::memory_order_relaxed); }

 private:
  static std::atomic<uint32_t> current_;
  const uint32_t generation_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_FORK_GUARD_H_
