#include "server/base/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>

namespace anteroom {

bool ListenAddress::is_loopback() const {
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

std::string ListenAddress::ToText() const {
  char name[INET6_ADDRSTRLEN + 1] = "";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, name, sizeof name);
    return std::string(name) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  inet_ntop(AF_INET6, &v6->sin6_addr, name, sizeof name);
  return "[" + std::string(name) + "]:" + std::to_string(ntohs(v6->sin6_port));
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
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
  ListenAddress address;
  if (host == "localhost") host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) != 1) return wrong();
    return address;
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) != 1) return wrong();
  return address;
}

}  // namespace anteroom
