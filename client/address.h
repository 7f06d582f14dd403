// Where a daemon listens, as people write it: HOST:PORT, [IPV6]:PORT, unix:PATH.
#ifndef ANTEROOM_CLIENT_ADDRESS_H_
#define ANTEROOM_CLIENT_ADDRESS_H_

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace anteroom::client {

struct Address {
  std::string text;  // as it was written
  std::string host;  // empty for a Unix socket
  std::string port;  // decimal
  std::string path;  // of a Unix socket
};

// An error, which is kInvalidRequest, says what the right form is.
absl::StatusOr<Address> ParseAddress(std::string_view text);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// Without asking a name server: Unix paths and numeric hosts. Nothing for other names.
std::optional<SocketAddress> ToSocketAddress(const Address& address);

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_ADDRESS_H_
