// The closed sets of values that stand on the wire and in the log: states, reasons, modes, errors.
// Each is one table of (number, name); a number once written is never reused.
#ifndef ANTEROOM_PROTOCOL_KINDS_H_
#define ANTEROOM_PROTOCOL_KINDS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace anteroom::protocol {

// X(number, enumerator, name)
#define ANTEROOM_STATES(X)    \
  X(1, kWaiting, "waiting")   \
  X(2, kAdmitted, "admitted") \
  X(3, kActive, "active")     \
  X(4, kEnded, "ended")

// Why somebody ended, and why somebody waiting is not let in.
#define ANTEROOM_REASONS(X)                          \
  X(1, kCompleted, "completed")                      \
  X(2, kCancelled, "cancelled")                      \
  X(3, kExpired, "expired")                          \
  X(4, kNoShow, "no_show")                           \
  X(5, kLeft, "left")                                \
  X(6, kRevoked, "revoked")                          \
  X(16, kPaused, "paused")                           \
  X(17, kClosed, "closed")                           \
  X(18, kSoldOut, "sold_out")                        \
  X(19, kNotOpen, "not_open")                        \
  X(32, kDiskFull, "disk_full")                      \
  X(33, kStarting, "starting")                       \
  X(34, kStopping, "stopping")                       \
  X(35, kTooManyConnections, "too_many_connections") \
  X(36, kTooManyVisitors, "too_many_visitors")       \
  X(37, kTooManyRooms, "too_many_rooms")             \
  X(38, kTooManyWatches, "too_many_watches")         \
  X(39, kDiskSlow, "disk_slow")                      \
  X(40, kMemoryFull, "memory_full")

#define ANTEROOM_MODES(X)           \
  X(1, kQueue, "queue")             \
  X(2, kPassthrough, "passthrough") \
  X(3, kPaused, "paused")           \
  X(4, kClosed, "closed")

#define ANTEROOM_NO_SHOWS(X) \
  X(1, kEnd, "end")          \
  X(2, kRequeue, "requeue")

#define ANTEROOM_RENEWALS(X) \
  X(1, kSliding, "sliding")  \
  X(2, kFixed, "fixed")

#define ANTEROOM_OUTCOMES(X)    \
  X(1, kCompleted, "completed") \
  X(2, kCancelled, "cancelled")

// Who may ask for what, least first: each may do what those before it may. Not on the wire; the
// names are those of a file of credentials.
#define ANTEROOM_ROLES(X)                              \
  X(1, kAnyone, "anyone") /* who has proven nothing */ \
  X(2, kReader, "reader")                              \
  X(3, kApp, "app")                                    \
  X(4, kOperator, "operator")

#define ANTEROOM_ERRORS(X)             \
  X(1, kNotFound, "not_found")         \
  X(2, kBadToken, "bad_token")         \
  X(3, kExpired, "expired")            \
  X(4, kLineFull, "line_full")         \
  X(5, kClosed, "closed")              \
  X(6, kSoldOut, "sold_out")           \
  X(7, kNotOpen, "not_open")           \
  X(8, kNoSlot, "no_slot")             \
  X(9, kBlocked, "blocked")            \
  X(10, kConflict, "conflict")         \
  X(11, kInvalid, "invalid")           \
  X(12, kUnauthorized, "unauthorized") \
  X(13, kTooLarge, "too_large")        \
  X(14, kUnavailable, "unavailable")

#define ANTEROOM_ENUMERATOR(number, enumerator, name) enumerator = number,
#define ANTEROOM_DECLARE_KIND(Type, TABLE)                                \
  enum class Type : uint8_t { TABLE(ANTEROOM_ENUMERATOR) };               \
  /* The name, or an empty view for a number that is not in the table. */ \
  std::string_view NameOf(Type value);                                    \
  std::optional<Type> Parse##Type(std::string_view name);                 \
  std::span<const std::string_view> Type##Names();

ANTEROOM_DECLARE_KIND(State, ANTEROOM_STATES)
ANTEROOM_DECLARE_KIND(Reason, ANTEROOM_REASONS)
ANTEROOM_DECLARE_KIND(Mode, ANTEROOM_MODES)
ANTEROOM_DECLARE_KIND(NoShow, ANTEROOM_NO_SHOWS)
ANTEROOM_DECLARE_KIND(Renewal, ANTEROOM_RENEWALS)
ANTEROOM_DECLARE_KIND(Outcome, ANTEROOM_OUTCOMES)
ANTEROOM_DECLARE_KIND(Role, ANTEROOM_ROLES)
ANTEROOM_DECLARE_KIND(ErrorCode, ANTEROOM_ERRORS)

#undef ANTEROOM_DECLARE_KIND
#undef ANTEROOM_ENUMERATOR

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_KINDS_H_
