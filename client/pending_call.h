// A call that waits for its answer, with its type put away so that the tables of the session hold
// calls of any operation.
#ifndef ANTEROOM_CLIENT_PENDING_CALL_H_
#define ANTEROOM_CLIENT_PENDING_CALL_H_

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "protocol/codec.h"
#include "protocol/operations.h"

namespace anteroom::client {

// Exactly one of the two answers is given, once, on the thread of the loop.
class PendingCall {
 public:
  virtual ~PendingCall() = default;

  // Decodes the reply and hands it on. False, and nothing handed on, when it cannot be read.
  virtual bool Succeed(std::string_view payload) = 0;
  virtual void Fail(absl::Status status) = 0;
};

// `Done` is called with an absl::StatusOr<Reply>; it may be move-only.
template <protocol::Operation kOperation, typename Done>
class TypedCall final : public PendingCall {
 public:
  using Reply = typename protocol::ReplyOf<kOperation>::Message;

  explicit TypedCall(Done done) : done_(std::move(done)) {}

  bool Succeed(std::string_view payload) override {
    Reply reply;
    if (!protocol::Decode(payload, &reply)) return false;
    done_(absl::StatusOr<Reply>(std::move(reply)));
    return true;
  }
  void Fail(absl::Status status) override { done_(absl::StatusOr<Reply>(std::move(status))); }

 private:
  Done done_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_PENDING_CALL_H_
