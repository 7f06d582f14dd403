#include "client/fork_guard.h"

#include <pthread.h>

namespace anteroom::client {

std::atomic<uint32_t> ForkGuard::current_{0};

ForkGuard::ForkGuard()
    : generation_([] {
        static const int registered = pthread_atfork(nullptr, nullptr, [] { ++current_; });
        static_cast<void>(registered);
        return current_.load(std::memory_order_relaxed);
      }()) {}

}  // namespace anteroom::client
