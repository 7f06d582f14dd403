// TCP connections for the load.
#ifndef ANTEROOM_BENCH_LOADGEN_SOCKETS_H_
#define ANTEROOM_BENCH_LOADGEN_SOCKETS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace anteroom::loadgen {

struct Address {
  std::string host;
  int port = 0;
};

// "HOST:PORT"
absl::StatusOr<Address> ParseAddress(std::string_view text);

// A descriptor that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

// A blocking connection without Nagle's delay.
absl::StatusOr<Socket> Connect(const Address& address);

// errno as a status.
absl::Status SystemError(std::string_view what);

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_SOCKETS_H_
