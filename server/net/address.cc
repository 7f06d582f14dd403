#include "server/net/address.h"

#include <netinet/in.h>
#include <uv.h>

#include <charconv>

namespace anteroom::net {

bool Address::is_loopback() const {
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

std::string Address::ToText() const {
  char name[INET6_ADDRSTRLEN + 1] = "";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    uv_ip4_name(v4, name, sizeof name);
    return std::string(name) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  uv_ip6_name(v6, name, sizeof name);
  return "[" + std::string(name) + "]:" + std::to_string(ntohs(v6->sin6_port));
}

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError("\"" + std::string(text) +
                                      "\" is not an address: it takes HOST:PORT, such as "
                                      "127.0.0.1:7411 or [::1]:7411 (port 0: any free one)");
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string host(text.substr(0, colon));
  const std::string_view port_text = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [stop, error] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc() || port_text.empty() || stop != port_text.data() + port_text.size()) {
    return wrong();
  }
  Address address;
  if (host == "localhost") host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    if (uv_ip6_addr(host.c_str(), port, v6) != 0) return wrong();
    return address;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (uv_ip4_addr(host.c_str(), port, v4) != 0) return wrong();
  return address;
}

}  // namespace anteroom::net
