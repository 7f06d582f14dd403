// What watches tell, and what a door is told.
#ifndef ANTEROOM_CLIENT_EVENTS_H_
#define ANTEROOM_CLIENT_EVENTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/options.h"
#include "protocol/messages.h"
#include "protocol/refusal.h"

namespace anteroom::client {

// Names a watch of one client; never reused.
struct WatchHandle {
  uint64_t id = 0;
  bool operator==(const WatchHandle&) const = default;
};

// One thing that a watch of visitors tells. A watch begins with the present state of each visitor,
// and does so again after every reconnect. A reply that is `ended`, or a refusal, is the last word
// about its visitor; who joins again is watched by a new watch. The watch ends with one event that
// has `last`: that of its last visitor, or one about the watch as a whole, also when the client is
// closed. After it nothing comes; only Unwatch ends a watch without one.
struct VisitorEvent {
  std::string visitor;                          // empty: the watch as a whole, in its last event
  std::optional<protocol::VisitorReply> reply;  // the visitor's state
  std::optional<protocol::Refusal> refusal;  // why nothing more comes about this visitor, or at all
  bool last = false;
  absl::Status status;  // of a last event: why the watch ended, as a call's status tells it
};

// The same for a watch of a room: it begins with the room as it is, then tells each change of state
// of anybody there, and now and then the room anew. What one RoomEvent holds came about in this
// order: events that were missed, `events`, and `reply`, which has them in its counts.
struct RoomEvent {
  // The watch begins, or begins again: what was before, since the connection was lost, is not told.
  bool begins = false;
  uint64_t missed = 0;  // events that the daemon could not tell, because they were read too slowly
  std::vector<protocol::RoomEvent> events;
  std::optional<protocol::RoomReply> reply;
  std::optional<protocol::Refusal> refusal;
  bool last = false;
  absl::Status status;
};

using OnVisitorEvent = std::function<void(const VisitorEvent&)>;
using OnRoomEvent = std::function<void(const RoomEvent&)>;

// What a door is told (Enter). Either the daemon answered, and `reply` is there, or it could not be
// asked (IsUnreachable), the policy is kLetPass, and `let_pass` is true. With kHold, and whenever
// the daemon refuses, Enter gives an error instead.
struct EnterReply {
  std::optional<protocol::VisitorReply> reply;
  bool let_pass = false;
  absl::Status unreachable;  // why, when let_pass

  // Whether to open the door.
  bool may_pass() const {
    return let_pass || (reply.has_value() && reply->state == protocol::State::kActive);
  }
};

// What Enter gives for the daemon's answer, or the lack of one.
absl::StatusOr<EnterReply> ToEnterReply(absl::StatusOr<protocol::VisitorReply> reply,
                                        UnreachablePolicy policy);

// For asynchronous calls. Called exactly once.
template <typename Reply>
using Callback = std::function<void(absl::StatusOr<Reply>)>;

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_EVENTS_H_
