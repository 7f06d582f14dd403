// For what only a bug in this library can break; on in release. What a daemon, a network or a
// caller can cause is a status, never this.
#ifndef ANTEROOM_CLIENT_CHECK_H_
#define ANTEROOM_CLIENT_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace anteroom::client {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: CLIENT_CHECK(%s) failed\n", file, line, condition);
  std::abort();
}

}  // namespace anteroom::client

#define CLIENT_CHECK(condition)                      \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::anteroom::client::CheckFailed(__FILE__, __LINE__, #condition))

#endif  // ANTEROOM_CLIENT_CHECK_H_
