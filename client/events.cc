#include "client/events.h"

#include <utility>

#include "client/failure.h"

namespace anteroom::client {

absl::StatusOr<EnterReply> ToEnterReply(absl::StatusOr<protocol::VisitorReply> reply,
                                        UnreachablePolicy policy) {
  EnterReply result;
  if (reply.ok()) {
    result.reply = *std::move(reply);
    return result;
  }
  if (policy == UnreachablePolicy::kLetPass && IsUnreachable(reply.status())) {
    result.let_pass = true;
    result.unreachable = reply.status();
    return result;
  }
  return reply.status();
}

}  // namespace anteroom::client
