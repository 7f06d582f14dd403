// What the status of a failed call tells.
//
//   absl::StatusOr<protocol::VisitorReply> reply = client.Join("concert", "ann");
//   if (!reply.ok()) {
//     const Failure failure = FailureOf(reply.status()).value();
//     failure.refusal.error;           // line_full, closed, unavailable, …
//     failure.refusal.retry;           // whether the same request can succeed later …
//     failure.refusal.retry_after_ms;  // … and when trying again first makes sense
//     failure.may_have_been_applied;   // sent, but the answer never came
//   }
//
// Every status that a client returns carries this, whoever refused: the daemon (kRefused), or the
// client itself, then as `unavailable`, `invalid`, `too_large` or `unauthorized`. Pure functions,
// any thread.
#ifndef ANTEROOM_CLIENT_FAILURE_H_
#define ANTEROOM_CLIENT_FAILURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "protocol/refusal.h"

namespace anteroom::client {

enum class FailureCause : uint8_t {
  kRefused = 1,          // the daemon's own answer; nothing was changed
  kUnreachable = 2,      // no address could be connected to; not sent
  kConnectionLost = 3,   // after it was sent, before the answer
  kDeadline = 4,         // no answer in time
  kTooManyInFlight = 5,  // over a limit of this client; not sent
  kInvalidRequest = 6,   // what cannot be put into a message; not sent
  kBadAnswer = 7,        // the daemon's answer could not be read
  kClosed = 8,           // the client was closed
  kForked = 9,           // the client belongs to the parent process; not sent
  kWrongThread = 10,     // a blocking call on the client's own thread; not sent
  kUnauthorized = 11,    // credentials do not fit, this side's or the daemon's; not sent
};

struct Failure {
  FailureCause cause = FailureCause::kRefused;
  // False means certainly not applied. Operations that change nothing are never applied.
  bool may_have_been_applied = false;
  protocol::Refusal refusal;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("cause", self.cause);
    visit("may_have_been_applied", self.may_have_been_applied);
    visit("refusal", self.refusal);
  }
};

// Nothing for an OK status, or one that did not come from a client.
std::optional<Failure> FailureOf(const absl::Status& status);
std::optional<protocol::Refusal> RefusalOf(const absl::Status& status);
bool MayHaveBeenApplied(const absl::Status& status);

// Whether the daemon could not be asked: no connection, a lost one, no answer in time, or a daemon
// that is just starting or stopping. A refusal, a full line or a limit of this client is not that.
bool IsUnreachable(const absl::Status& status);

// The name of a cause, as in messages: `connection_lost`.
std::string_view NameOf(FailureCause cause);

// The status of a failure. Codes follow what the caller should do next: kNotFound,
// kPermissionDenied (bad_token, blocked), kUnauthenticated, kInvalidArgument (invalid, too_large),
// kAborted (conflict), kResourceExhausted (line_full, no_slot, too many in flight),
// kFailedPrecondition (expired, closed, sold_out, not_open, a client that was closed or forked),
// kUnavailable, kDeadlineExceeded, kDataLoss (an answer that could not be read).
absl::Status ToStatus(const Failure& failure);
absl::Status RefusedStatus(const protocol::Refusal& refusal);

// A failure found by the client itself.
absl::Status LocalStatus(FailureCause cause, std::string message,
                         bool may_have_been_applied = false,
                         std::optional<uint64_t> retry_after_ms = std::nullopt);

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_FAILURE_H_
