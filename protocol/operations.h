// The one table of operations. Dispatch, codec and names come from it; a test holds PROTOCOL.md to
// it.
// A number once given is never reused.
#ifndef ANTEROOM_PROTOCOL_OPERATIONS_H_
#define ANTEROOM_PROTOCOL_OPERATIONS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "protocol/messages.h"

namespace anteroom::protocol {

// X(number, Name, "name", Request, Reply, least_role, "summary"). The role is the least that may
// ask for it: of kAnyone what comes before credentials are proven, of kReader what changes nothing,
// of kApp what an application does for its visitors, of kOperator what the operator of a sale does.
#define ANTEROOM_OPERATIONS(X)                                                                     \
  X(1, Hello, "hello", HelloRequest, HelloReply, kAnyone, "opens a connection")                    \
  X(2, Ping, "ping", Empty, PingReply, kAnyone, "answers")                                         \
  X(3, Health, "health", Empty, HealthReply, kReader, "version, disk, sync latency")               \
  X(4, Stats, "stats", StatsRequest, StatsReply, kReader, "counts and rates now")                  \
  X(5, Authenticate, "authenticate", AuthenticateRequest, AuthenticateReply, kAnyone,              \
    "proves the credentials that hello named")                                                     \
  X(6, RotateTokenKey, "rotate_token_key", Empty, TokenKeyReply, kOperator,                        \
    "makes new tokens with a new key; those given before stay good")                               \
  X(10, Join, "join", JoinRequest, VisitorReply, kApp, "takes a place, or tells the one held")     \
  X(11, Enter, "enter", JoinRequest, VisitorReply, kApp, "join, and if admitted, claim")           \
  X(12, Status, "status", VisitorRequest, VisitorReply, kReader, "the answer without joining")     \
  X(13, Leave, "leave", VisitorRequest, VisitorReply, kApp,                                        \
    "gives up the place, or the admission not yet claimed")                                        \
  X(14, Verify, "verify", TokenRequest, VisitorReply, kReader,                                     \
    "is the token good? changes nothing")                                                          \
  X(15, Claim, "claim", TokenRequest, VisitorReply, kApp, "admitted becomes active")               \
  X(16, Touch, "touch", TokenRequest, VisitorReply, kApp, "keeps a sliding session alive")         \
  X(17, Finish, "finish", FinishRequest, VisitorReply, kApp,                                       \
    "ends a session; the next is admitted in the same step")                                       \
  X(20, JoinMany, "join_many", JoinManyRequest, VisitorResults, kApp, "many joins, in order")      \
  X(21, StatusMany, "status_many", StatusManyRequest, VisitorResults, kReader,                     \
    "many statuses, in order")                                                                     \
  X(30, Watch, "watch", WatchRequest, Empty, kReader, "pushes what happens to these visitors")     \
  X(31, WatchRoom, "watch_room", RoomRequest, Empty, kReader, "pushes a room's counts and events") \
  X(32, Unwatch, "unwatch", UnwatchRequest, Empty, kReader, "ends a watch")                        \
  X(40, Admit, "admit", AdmitRequest, AdmitReply, kOperator, "lets the first n in now")            \
  X(41, AdmitVisitor, "admit_visitor", AdmitVisitorRequest, VisitorReply, kOperator,               \
    "lets this one in now")                                                                        \
  X(42, Revoke, "revoke", RevokeRequest, VisitorReply, kOperator,                                  \
    "removes someone from whatever state, and can keep them out")                                  \
  X(50, RoomCreate, "room_create", RoomCreateRequest, RoomReply, kOperator, "makes a room")        \
  X(51, RoomSet, "room_set", RoomSetRequest, RoomReply, kOperator, "changes a room's settings")    \
  X(52, RoomShow, "room_show", RoomRequest, RoomReply, kReader, "a room's settings and counts")    \
  X(53, RoomList, "room_list", RoomListRequest, RoomListReply, kReader, "rooms by name")           \
  X(54, RoomDelete, "room_delete", RoomDeleteRequest, Empty, kOperator, "removes a room")          \
  X(55, RoomReset, "room_reset", RoomRequest, RoomReply, kOperator,                                \
    "empties a room, voids its tokens, keeps its settings")                                        \
  X(60, Peek, "peek", PageRequest, PageReply, kReader, "who stands at these positions")            \
  X(61, Inside, "inside", PageRequest, PageReply, kReader, "who is inside")                        \
  X(70, ClockAdvance, "clock_advance", ClockAdvanceRequest, ClockReply, kOperator,                 \
    "moves a virtual clock")

enum class Operation : uint8_t {
#define ANTEROOM_X(number, Name, ...) k##Name = number,
  ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
};

// A request of the operation `Op`; what a decoded request is a variant of.
template <Operation Op>
struct RequestOf;
template <Operation Op>
struct ReplyOf;

#define ANTEROOM_X(number, Name, name, Request, Reply, ...)     \
  template <>                                                   \
  struct RequestOf<Operation::k##Name> {                        \
    using Message = Request;                                    \
    static constexpr Operation kOperation = Operation::k##Name; \
    Request message;                                            \
  };                                                            \
  template <>                                                   \
  struct ReplyOf<Operation::k##Name> {                          \
    using Message = Reply;                                      \
  };                                                            \
  using Name##Operation = RequestOf<Operation::k##Name>;
ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X

// One of all requests. std::monostate is what a default-made one holds.
using Request = std::variant<std::monostate
#define ANTEROOM_X(number, Name, ...) , Name##Operation
                                 ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
                             >;

struct OperationInfo {
  Operation operation;
  std::string_view name;
  Role least_role;
  std::string_view summary;
};

// Nothing for a number that is not in the table.
std::optional<OperationInfo> FindOperation(uint8_t number);

// The least role that may ask for this: the operation's, but without the token that proves it a
// finish is the operator's. Of kAnyone for one that holds nothing.
Role LeastRole(const Request& request);

enum class RequestStatus { kRight, kUnknownOperation, kMalformed };

// Decodes the payload of a request frame. Views in *request point into `payload`.
RequestStatus DecodeRequest(uint8_t operation, std::string_view payload, Request* request);

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_OPERATIONS_H_
