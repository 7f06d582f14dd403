// The asynchronous client, for programs that have a libuv loop of their own.
//
//   AsyncClient client(loop, {.addresses = {"10.0.0.5:7411", "10.0.0.6:7411"}});
//   client.Join("concert", "ann", {}, [](absl::StatusOr<protocol::VisitorReply> reply) {
//     if (reply.ok()) Show(*reply);
//   });
//   uv_run(loop, UV_RUN_DEFAULT);
//
// One connection carries any number of requests; no pool is needed. Every callback is called
// exactly once, on the loop, never from inside the call that was given it. Arguments are borrowed
// only during the call. What is asked within one turn of the loop leaves in one write.
//
// Threads: everything on the loop's thread. A callback may call anything, Close and the destructor
// included.
//
// Closing: Close (or the destructor) fails what is still open (kClosed), in a later turn of the
// loop, so the loop must go on running until it has no more to do; `closed` is called last. An open
// client keeps its loop alive.
//
// Fork: in the child every call fails with kForked, delivered when the child runs the loop, for
// which libuv demands uv_loop_fork first. The connection stays the parent's.
//
// Neither SIGPIPE nor inherited descriptors: writes say MSG_NOSIGNAL, sockets are close-on-exec.
#ifndef ANTEROOM_CLIENT_ASYNC_CLIENT_H_
#define ANTEROOM_CLIENT_ASYNC_CLIENT_H_

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/events.h"
#include "client/failure.h"
#include "client/options.h"
#include "client/pending_call.h"
#include "client/request_frame.h"
#include "protocol/operations.h"

namespace anteroom::client {

class Session;
struct PendingWatch;

class AsyncClient {
 public:
  // Begins to connect at once. `loop` must outlive the closing.
  explicit AsyncClient(uv_loop_t* loop, const ClientOptions& options = {});
  ~AsyncClient();
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  // Calls after it fail with kClosed. Harmless when repeated, but then `closed` is not called.
  void Close(std::function<void()> closed = nullptr);

  bool connected() const;
  size_t requests_in_flight() const;

  // Any operation of the table but hello, authenticate and those of watches, as its message:
  //   client.Call<protocol::Operation::kPing>({}, done);
  // `done` takes an absl::StatusOr of the operation's reply and may be move-only.
  template <protocol::Operation kOperation, typename Done>
  void Call(const typename protocol::RequestOf<kOperation>::Message& message, Done done,
            const CallOptions& call = {}) {
    static_assert(IsPlainCall(kOperation), "watches go through Watch, WatchRoom and Unwatch");
    auto pending = std::make_unique<TypedCall<kOperation, Done>>(std::move(done));
    absl::Status status = EncodeRequest(kOperation, message, &frame_);
    if (status.ok()) {
      Submit(kOperation, frame_, call, std::move(pending));
    } else {
      Refuse(std::move(status), std::move(pending));
    }
  }

  // ---- visitors ----

  // Takes a place, or tells the one held.
  void Join(std::string_view room, std::string_view visitor, const JoinOptions& options,
            Callback<protocol::VisitorReply> done, const CallOptions& call = {});
  // What a door asks: join, and if admitted, claim. See EnterReply for an unreachable daemon.
  void Enter(std::string_view room, std::string_view visitor, const JoinOptions& options,
             Callback<EnterReply> done, const CallOptions& call = {});
  // The answer without joining.
  void Status(std::string_view room, std::string_view visitor,
              Callback<protocol::VisitorReply> done, const CallOptions& call = {});
  // Gives up the place, or the admission not yet claimed.
  void Leave(std::string_view room, std::string_view visitor, Callback<protocol::VisitorReply> done,
             const CallOptions& call = {});
  // Is the token good? Changes nothing.
  void Verify(std::string_view room, std::string_view visitor, std::string_view token,
              Callback<protocol::VisitorReply> done, const CallOptions& call = {});
  // Admitted becomes active.
  void Claim(std::string_view room, std::string_view visitor, std::string_view token,
             Callback<protocol::VisitorReply> done, const CallOptions& call = {});
  // Keeps a sliding session alive.
  void Touch(std::string_view room, std::string_view visitor, std::string_view token,
             Callback<protocol::VisitorReply> done, const CallOptions& call = {});
  // Ends a session; the next is admitted in the same step.
  void Finish(std::string_view room, std::string_view visitor, const FinishOptions& options,
              Callback<protocol::VisitorReply> done, const CallOptions& call = {});

  // Finish without waiting: taken at once, sent when the daemon can be reached, retried until it
  // has answered, for up to finish_later_keep_ms. OK means taken. What cannot be delivered is told
  // to on_finish_lost.
  absl::Status FinishLater(std::string_view room, std::string_view visitor,
                           const FinishOptions& options = {});
  FinishLaterCounts finish_later_counts() const;

  // ---- batches: worked in order, each item with its own result ----

  void JoinMany(std::vector<protocol::JoinRequest> items, Callback<protocol::VisitorResults> done,
                const CallOptions& call = {});
  void StatusMany(std::vector<protocol::VisitorRequest> items,
                  Callback<protocol::VisitorResults> done, const CallOptions& call = {});

  // ---- watches ----

  // Told at once of each change of state, and of positions at a cadence. Resumed by itself after a
  // reconnect. `on_event` is called on the loop, never from inside Watch.
  WatchHandle Watch(std::string_view room, std::span<const std::string_view> visitors,
                    OnVisitorEvent on_event);
  WatchHandle Watch(std::string_view room, std::string_view visitor, OnVisitorEvent on_event);
  // A room's counts, and each change of state of anybody there, the same way.
  WatchHandle WatchRoom(std::string_view room, OnRoomEvent on_event);
  // From here on the watch tells nothing more. Harmless for one that has ended.
  void Unwatch(WatchHandle watch);

  // ---- the operator ----

  // Lets the first `count` in now, beyond rate, within capacity. With a key, a repeat is harmless.
  void Admit(std::string_view room, uint32_t count, const AdmitOptions& options,
             Callback<protocol::AdmitReply> done, const CallOptions& call = {});
  // Lets this one in now, wherever they stand.
  void AdmitVisitor(std::string_view room, std::string_view visitor,
                    const AdmitVisitorOptions& options, Callback<protocol::VisitorReply> done,
                    const CallOptions& call = {});
  // Removes someone from whatever state, and can keep them out.
  void Revoke(std::string_view room, std::string_view visitor, const RevokeOptions& options,
              Callback<protocol::VisitorReply> done, const CallOptions& call = {});

  void RoomCreate(std::string_view room, const protocol::RoomSettings& settings,
                  Callback<protocol::RoomReply> done, const CallOptions& call = {});
  void RoomSet(std::string_view room, const protocol::RoomSettings& settings,
               const RoomSetOptions& options, Callback<protocol::RoomReply> done,
               const CallOptions& call = {});
  void RoomShow(std::string_view room, Callback<protocol::RoomReply> done,
                const CallOptions& call = {});
  // Rooms by name, those after `after`; at most protocol::kPageItemsMax.
  void RoomList(std::string_view after, uint32_t count, Callback<protocol::RoomListReply> done,
                const CallOptions& call = {});
  void RoomDelete(std::string_view room, const RoomDeleteOptions& options,
                  Callback<protocol::Empty> done, const CallOptions& call = {});
  // Empties a room, voids its tokens, keeps its settings.
  void RoomReset(std::string_view room, Callback<protocol::RoomReply> done,
                 const CallOptions& call = {});

  // Who stands at these positions, from 0.
  void Peek(std::string_view room, uint64_t from, uint32_t count,
            Callback<protocol::PageReply> done, const CallOptions& call = {});
  // Who is inside, by admission number.
  void Inside(std::string_view room, uint64_t from, uint32_t count,
              Callback<protocol::PageReply> done, const CallOptions& call = {});

  // ---- the daemon ----

  void Ping(Callback<protocol::PingReply> done, const CallOptions& call = {});
  void Health(Callback<protocol::HealthReply> done, const CallOptions& call = {});
  // Of one room, or of all together.
  void Stats(std::optional<std::string_view> room, Callback<protocol::StatsReply> done,
             const CallOptions& call = {});
  // Makes the tokens of admissions to come with a new key; those given before stay good.
  void RotateTokenKey(Callback<protocol::TokenKeyReply> done, const CallOptions& call = {});
  // Moves a virtual clock; refused on a real one.
  void ClockAdvance(int64_t duration_ms, Callback<protocol::ClockReply> done,
                    const CallOptions& call = {});

  void check_invariants() const;

 private:
  void Submit(protocol::Operation operation, std::string_view frame, const CallOptions& call,
              std::unique_ptr<PendingCall> pending);
  void Refuse(absl::Status status, std::unique_ptr<PendingCall> pending);
  WatchHandle AddWatch(PendingWatch watch);

  // Outlives this object until everything of it on the loop is closed.
  std::shared_ptr<Session> session_;
  UnreachablePolicy when_unreachable_;
  std::string frame_;  // kept to spare an allocation a call
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_ASYNC_CLIENT_H_
