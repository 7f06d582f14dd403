// Who may connect. Connections ask; what knows the credentials (server/auth/) answers. Without a
// gatekeeper everybody is an operator.
#ifndef ANTEROOM_SERVER_BASE_GATEKEEPER_H_
#define ANTEROOM_SERVER_BASE_GATEKEEPER_H_

#include <optional>
#include <string>
#include <string_view>

#include "protocol/kinds.h"
#include "protocol/proof.h"

namespace anteroom {

class Gatekeeper {
 public:
  virtual ~Gatekeeper() = default;

  // Somebody who has proven who they are.
  struct Known {
    std::string_view name;  // good until the loop's next turn
    protocol::Role role = protocol::Role::kReader;
    protocol::Proof proof{};  // that the daemon knows the secret too
  };

  // Nothing for a wrong proof and for a name that nobody has, and the same work for both.
  virtual std::optional<Known> Judge(const protocol::Handshake& handshake,
                                     std::string_view proof) const = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_BASE_GATEKEEPER_H_
