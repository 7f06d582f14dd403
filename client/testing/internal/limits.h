// Limits of the test daemon. The wire's own are in protocol/limits.h.
#ifndef ANTEROOM_CLIENT_TESTING_INTERNAL_LIMITS_H_
#define ANTEROOM_CLIENT_TESTING_INTERNAL_LIMITS_H_

#include <cstddef>

namespace anteroom::testing {

// Bytes that a client has yet to read; beyond it, it is hung up on.
inline constexpr size_t kUnreadBytesMax = size_t{256} << 20;

// Visitors and rooms watched, all connections together; beyond it watches are refused.
inline constexpr size_t kWatchedMax = 100'000;

inline constexpr int kListenBacklog = 128;

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_INTERNAL_LIMITS_H_
