#include "bench/loadgen/sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "protocol/text.h"

namespace anteroom::loadgen {

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  Address address;
  if (colon == 0 || colon == std::string_view::npos ||
      !absl::SimpleAtoi(protocol::ToAbsl(text.substr(colon + 1)), &address.port) ||
      address.port < 1 || address.port > 65535) {
    return absl::InvalidArgumentError("not HOST:PORT: " + std::string(text));
  }
  address.host = text.substr(0, colon);
  return address;
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

absl::Status SystemError(std::string_view what) {
  return absl::UnavailableError(std::string(what) + ": " + std::generic_category().message(errno));
}

absl::StatusOr<Socket> Connect(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) return absl::InvalidArgumentError(address.host + ": " + gai_strerror(error));
  Socket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int connected =
      socket.fd() < 0 ? -1 : connect(socket.fd(), found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (connected != 0) {
    return SystemError("connect to " + address.host + ":" + std::to_string(address.port));
  }
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace anteroom::loadgen
