#ifndef ANTEROOM_SERVER_BASE_PREFETCH_H_
#define ANTEROOM_SERVER_BASE_PREFETCH_H_

// Asks for a cache line ahead of use. Any address will do; a wrong one costs time and nothing else.
//
// The empty asm is what keeps it: a function that does nothing but __builtin_prefetch is pure to
// GCC 12, which then drops every call of it.
// Threads: any.

namespace anteroom {

inline void PrefetchLine(const void* address) {
  asm volatile("" : : "r"(address));
  __builtin_prefetch(address);
}

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_BASE_PREFETCH_H_
