// Addresses to listen on, as they are typed: `127.0.0.1:7411`, `[::1]:7411`, `localhost:0`.
//
// Numbers only, and `localhost` for 127.0.0.1: a daemon's start should not depend on a name
// service. Thread-safe.
#ifndef ANTEROOM_SERVER_BASE_LISTEN_ADDRESS_H_
#define ANTEROOM_SERVER_BASE_LISTEN_ADDRESS_H_

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace anteroom {

struct ListenAddress {
  sockaddr_storage storage{};

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  // 127.0.0.0/8 or ::1.
  bool is_loopback() const;
  // As it is typed.
  std::string ToText() const;
};

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_BASE_LISTEN_ADDRESS_H_
