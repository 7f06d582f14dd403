// The blocking client. Share one between all threads of a program: one connection carries any
// number of requests, no pool is needed.
//
//   Client client({.addresses = {"127.0.0.1:7411"}});
//   absl::StatusOr<protocol::VisitorReply> reply = client.Join("concert", "ann");
//
// A call returns when the daemon has answered or its deadline has passed. What a failure tells is
// in client/failure.h. Arguments are borrowed only during the call.
//
// Threads: any, but for the constructor and the destructor. The client has one thread of its own;
// watches and on_finish_lost are called there, one after another, and must not linger: while one
// runs, no call is answered. From there only FinishLater, Watch, WatchRoom and Unwatch may be used;
// a call that would block fails at once with kWrongThread, and the client must not be destroyed.
//
// Fork: in the child every call fails at once with kForked; destroying the client there leaves the
// parent's connection alone.
//
// Neither SIGPIPE nor inherited descriptors: writes say MSG_NOSIGNAL, sockets are close-on-exec,
// and the client's thread takes no signals.
#ifndef ANTEROOM_CLIENT_CLIENT_H_
#define ANTEROOM_CLIENT_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/events.h"
#include "client/failure.h"
#include "client/options.h"
#include "client/pending_call.h"
#include "client/request_frame.h"
#include "client/waiter.h"
#include "protocol/operations.h"

namespace anteroom::client {

class LoopThread;

class Client {
 public:
  // Begins to connect at once, on its own thread, and does not wait for it: ask Ping for that.
  explicit Client(const ClientOptions& options = {});
  // Close.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Fails what is still open with kClosed; returns when every callback has run. Calls after it fail
  // with kClosed. Finishes that still wait are lost: FlushFinishes first.
  void Close();

  bool connected() const;

  // Any operation of the table but hello, authenticate and those of watches, as its message:
  //   client.Call<protocol::Operation::kPing>({});
  template <protocol::Operation kOperation>
  absl::StatusOr<typename protocol::ReplyOf<kOperation>::Message> Call(
      const typename protocol::RequestOf<kOperation>::Message& message,
      const CallOptions& call = {}) {
    static_assert(IsPlainCall(kOperation), "watches go through Watch, WatchRoom and Unwatch");
    using Result = absl::StatusOr<typename protocol::ReplyOf<kOperation>::Message>;
    std::string frame;
    absl::Status status = EncodeRequest(kOperation, message, &frame);
    if (!status.ok()) return status;
    Result result;
    Waiter waiter;
    auto done = [&result, &waiter](Result answer) {
      result = std::move(answer);
      waiter.Notify();
    };
    status = Submit(kOperation, std::move(frame), call,
                    std::make_unique<TypedCall<kOperation, decltype(done)>>(std::move(done)));
    if (!status.ok()) return status;
    waiter.Wait();
    return result;
  }

  // ---- visitors ----

  // Takes a place, or tells the one held.
  absl::StatusOr<protocol::VisitorReply> Join(std::string_view room, std::string_view visitor,
                                              const JoinOptions& options = {},
                                              const CallOptions& call = {});
  // What a door asks: join, and if admitted, claim. See EnterReply for an unreachable daemon.
  absl::StatusOr<EnterReply> Enter(std::string_view room, std::string_view visitor,
                                   const JoinOptions& options = {}, const CallOptions& call = {});
  // The answer without joining.
  absl::StatusOr<protocol::VisitorReply> Status(std::string_view room, std::string_view visitor,
                                                const CallOptions& call = {});
  // Gives up the place, or the admission not yet claimed.
  absl::StatusOr<protocol::VisitorReply> Leave(std::string_view room, std::string_view visitor,
                                               const CallOptions& call = {});
  // Is the token good? Changes nothing.
  absl::StatusOr<protocol::VisitorReply> Verify(std::string_view room, std::string_view visitor,
                                                std::string_view token,
                                                const CallOptions& call = {});
  // Admitted becomes active.
  absl::StatusOr<protocol::VisitorReply> Claim(std::string_view room, std::string_view visitor,
                                               std::string_view token,
                                               const CallOptions& call = {});
  // Keeps a sliding session alive.
  absl::StatusOr<protocol::VisitorReply> Touch(std::string_view room, std::string_view visitor,
                                               std::string_view token,
                                               const CallOptions& call = {});
  // Ends a session; the next is admitted in the same step.
  absl::StatusOr<protocol::VisitorReply> Finish(std::string_view room, std::string_view visitor,
                                                const FinishOptions& options = {},
                                                const CallOptions& call = {});

  // Finish without waiting: taken at once, sent when the daemon can be reached, retried until it
  // has answered, for up to finish_later_keep_ms. OK means taken. What cannot be delivered is told
  // to on_finish_lost.
  absl::Status FinishLater(std::string_view room, std::string_view visitor,
                           const FinishOptions& options = {});
  FinishLaterCounts finish_later_counts() const;
  // Waits until none is pending, or that long; whether none is.
  bool FlushFinishes(int64_t within_ms);

  // ---- batches: worked in order, each item with its own result ----

  absl::StatusOr<protocol::VisitorResults> JoinMany(std::vector<protocol::JoinRequest> items,
                                                    const CallOptions& call = {});
  absl::StatusOr<protocol::VisitorResults> StatusMany(std::vector<protocol::VisitorRequest> items,
                                                      const CallOptions& call = {});

  // ---- watches ----

  // Told at once of each change of state, and of positions at a cadence, on the client's own
  // thread. Resumed by itself after a reconnect. On an error `on_event` is never called.
  absl::StatusOr<WatchHandle> Watch(std::string_view room,
                                    std::span<const std::string_view> visitors,
                                    OnVisitorEvent on_event);
  absl::StatusOr<WatchHandle> Watch(std::string_view room, std::string_view visitor,
                                    OnVisitorEvent on_event);
  // A room's counts, and each change of state of anybody there, the same way.
  absl::StatusOr<WatchHandle> WatchRoom(std::string_view room, OnRoomEvent on_event);
  // When it returns, the watch's callback is not running and will not be called again (called from
  // that callback itself: not again). Harmless for a watch that has ended.
  void Unwatch(WatchHandle watch);

  // ---- the operator ----

  // Lets the first `count` in now, beyond rate, within capacity. With a key, a repeat is harmless.
  absl::StatusOr<protocol::AdmitReply> Admit(std::string_view room, uint32_t count,
                                             const AdmitOptions& options = {},
                                             const CallOptions& call = {});
  // Lets this one in now, wherever they stand.
  absl::StatusOr<protocol::VisitorReply> AdmitVisitor(std::string_view room,
                                                      std::string_view visitor,
                                                      const AdmitVisitorOptions& options = {},
                                                      const CallOptions& call = {});
  // Removes someone from whatever state, and can keep them out.
  absl::StatusOr<protocol::VisitorReply> Revoke(std::string_view room, std::string_view visitor,
                                                const RevokeOptions& options = {},
                                                const CallOptions& call = {});

  absl::StatusOr<protocol::RoomReply> RoomCreate(std::string_view room,
                                                 const protocol::RoomSettings& settings,
                                                 const CallOptions& call = {});
  absl::StatusOr<protocol::RoomReply> RoomSet(std::string_view room,
                                              const protocol::RoomSettings& settings,
                                              const RoomSetOptions& options = {},
                                              const CallOptions& call = {});
  absl::StatusOr<protocol::RoomReply> RoomShow(std::string_view room, const CallOptions& call = {});
  // Rooms by name, those after `after`; at most protocol::kPageItemsMax.
  absl::StatusOr<protocol::RoomListReply> RoomList(std::string_view after, uint32_t count,
                                                   const CallOptions& call = {});
  absl::Status RoomDelete(std::string_view room, const RoomDeleteOptions& options = {},
                          const CallOptions& call = {});
  // Empties a room, voids its tokens, keeps its settings.
  absl::StatusOr<protocol::RoomReply> RoomReset(std::string_view room,
                                                const CallOptions& call = {});

  // Who stands at these positions, from 0.
  absl::StatusOr<protocol::PageReply> Peek(std::string_view room, uint64_t from, uint32_t count,
                                           const CallOptions& call = {});
  // Who is inside, by admission number.
  absl::StatusOr<protocol::PageReply> Inside(std::string_view room, uint64_t from, uint32_t count,
                                             const CallOptions& call = {});

  // ---- the daemon ----

  absl::StatusOr<protocol::PingReply> Ping(const CallOptions& call = {});
  absl::StatusOr<protocol::HealthReply> Health(const CallOptions& call = {});
  // Of one room, or of all together.
  absl::StatusOr<protocol::StatsReply> Stats(std::optional<std::string_view> room = std::nullopt,
                                             const CallOptions& call = {});
  // Makes the tokens of admissions to come with a new key; those given before stay good.
  absl::StatusOr<protocol::TokenKeyReply> RotateTokenKey(const CallOptions& call = {});
  // Moves a virtual clock; refused on a real one.
  absl::StatusOr<protocol::ClockReply> ClockAdvance(int64_t duration_ms,
                                                    const CallOptions& call = {});

  void check_invariants() const;

 private:
  // OK when `pending` will be answered; otherwise it never is.
  absl::Status Submit(protocol::Operation operation, std::string frame, const CallOptions& call,
                      std::unique_ptr<PendingCall> pending);

  std::unique_ptr<LoopThread> thread_;
  UnreachablePolicy when_unreachable_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_CLIENT_H_
