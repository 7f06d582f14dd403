// Refusals that more than one part of the network says.
#ifndef ANTEROOM_SERVER_NET_REFUSALS_H_
#define ANTEROOM_SERVER_NET_REFUSALS_H_

#include <string>
#include <utility>

#include "protocol/refusal.h"

namespace anteroom::net {

inline protocol::Refusal Unavailable(protocol::Reason reason, std::string message) {
  protocol::Refusal refusal = Refuse(protocol::ErrorCode::kUnavailable, std::move(message));
  refusal.reason = reason;
  return refusal;
}

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_REFUSALS_H_
