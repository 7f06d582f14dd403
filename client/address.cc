#include "client/address.h"

#include <netdb.h>
#include <sys/un.h>

#include <charconv>
#include <cstring>

#include "client/failure.h"

namespace anteroom::client {

namespace {

absl::Status Wrong(std::string_view text, std::string_view why) {
  return LocalStatus(FailureCause::kInvalidRequest,
                     "address '" + std::string(text) + "' " + std::string(why) +
                         "; an address is HOST:PORT, [IPV6]:PORT or unix:PATH");
}

bool IsPort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

}  // namespace

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  Address address;
  address.text = text;
  if (text.starts_with("unix:")) {
    address.path = text.substr(5);
    if (address.path.empty()) return Wrong(text, "has no path");
    if (address.path.size() >= sizeof(sockaddr_un::sun_path)) {
      return Wrong(text, "has too long a path");
    }
    if (address.path.find('\0') != std::string::npos) return Wrong(text, "has a zero in its path");
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Wrong(text, "has no port");
  std::string_view host = text.substr(0, colon);
  address.port = text.substr(colon + 1);
  if (!IsPort(address.port)) return Wrong(text, "has no port from 1 to 65535");
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Wrong(text, "needs brackets around its IPv6 host");
  }
  if (host.empty()) return Wrong(text, "has no host");
  if (host.size() > 255 || host.find('\0') != std::string_view::npos) {
    return Wrong(text, "has no host that can be looked up");
  }
  address.host = host;
  return address;
}

std::optional<SocketAddress> ToSocketAddress(const Address& address) {
  SocketAddress result;
  if (!address.path.empty()) {
    auto* unix_address = reinterpret_cast<sockaddr_un*>(&result.storage);
    unix_address->sun_family = AF_UNIX;
    std::memcpy(unix_address->sun_path, address.path.data(), address.path.size());
    result.length = sizeof *unix_address;
    return result;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) {
    return std::nullopt;
  }
  std::memcpy(&result.storage, found->ai_addr, found->ai_addrlen);
  result.length = found->ai_addrlen;
  freeaddrinfo(found);
  return result;
}

}  // namespace anteroom::client
