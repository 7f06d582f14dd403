#include "client/async_client.h"

#include <string>
#include <utility>

#include "client/link.h"
#include "client/session.h"

namespace anteroom::client {

using protocol::Operation;

AsyncClient::AsyncClient(uv_loop_t* loop, const ClientOptions& options)
    : session_(Session::Start(loop, options, nullptr)),
      when_unreachable_(options.when_unreachable) {}

AsyncClient::~AsyncClient() {
  Close();
}

void AsyncClient::Close(std::function<void()> closed) {
  session_->Close(std::move(closed));
}

bool AsyncClient::connected() const {
  return session_->connected();
}
size_t AsyncClient::requests_in_flight() const {
  return session_->requests_in_flight();
}
void AsyncClient::check_invariants() const {
  session_->check_invariants();
}

void AsyncClient::Submit(Operation operation, std::string_view frame, const CallOptions& call,
                         std::unique_ptr<PendingCall> pending) {
  session_->Submit(operation, frame, session_->DeadlineMs(call, NowMs()), std::move(pending));
}

void AsyncClient::Refuse(absl::Status status, std::unique_ptr<PendingCall> pending) {
  session_->Refuse(std::move(status), std::move(pending));
}

// ---- visitors ----

void AsyncClient::Join(std::string_view room, std::string_view visitor, const JoinOptions& options,
                       Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kJoin>({room, visitor, options.lane}, std::move(done), call);
}

void AsyncClient::Enter(std::string_view room, std::string_view visitor, const JoinOptions& options,
                        Callback<EnterReply> done, const CallOptions& call) {
  Call<Operation::kEnter>(
      {room, visitor, options.lane},
      [done = std::move(done),
       policy = when_unreachable_](absl::StatusOr<protocol::VisitorReply> reply) {
        done(ToEnterReply(std::move(reply), policy));
      },
      call);
}

void AsyncClient::Status(std::string_view room, std::string_view visitor,
                         Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kStatus>({room, visitor}, std::move(done), call);
}

void AsyncClient::Leave(std::string_view room, std::string_view visitor,
                        Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kLeave>({room, visitor}, std::move(done), call);
}

void AsyncClient::Verify(std::string_view room, std::string_view visitor, std::string_view token,
                         Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kVerify>({room, visitor, token}, std::move(done), call);
}

void AsyncClient::Claim(std::string_view room, std::string_view visitor, std::string_view token,
                        Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kClaim>({room, visitor, token}, std::move(done), call);
}

void AsyncClient::Touch(std::string_view room, std::string_view visitor, std::string_view token,
                        Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kTouch>({room, visitor, token}, std::move(done), call);
}

void AsyncClient::Finish(std::string_view room, std::string_view visitor,
                         const FinishOptions& options, Callback<protocol::VisitorReply> done,
                         const CallOptions& call) {
  Call<Operation::kFinish>({room, visitor, options.token, options.outcome}, std::move(done), call);
}

absl::Status AsyncClient::FinishLater(std::string_view room, std::string_view visitor,
                                      const FinishOptions& options) {
  std::string frame;
  absl::Status status = EncodeRequest(
      Operation::kFinish,
      protocol::FinishRequest{room, visitor, options.token, options.outcome, options.units},
      &frame);
  if (status.ok()) status = session_->CheckOpen();
  if (status.ok()) status = session_->finishes().Reserve();
  if (status.ok()) session_->AddFinish(std::move(frame));
  return status;
}

FinishLaterCounts AsyncClient::finish_later_counts() const {
  return session_->finishes().counts();
}

// ---- batches ----

void AsyncClient::JoinMany(std::vector<protocol::JoinRequest> items,
                           Callback<protocol::VisitorResults> done, const CallOptions& call) {
  Call<Operation::kJoinMany>({std::move(items)}, std::move(done), call);
}

void AsyncClient::StatusMany(std::vector<protocol::VisitorRequest> items,
                             Callback<protocol::VisitorResults> done, const CallOptions& call) {
  Call<Operation::kStatusMany>({std::move(items)}, std::move(done), call);
}

// ---- watches ----

WatchHandle AsyncClient::Watch(std::string_view room, std::span<const std::string_view> visitors,
                               OnVisitorEvent on_event) {
  return AddWatch(PendingWatch::Visitors(room, visitors, std::move(on_event)));
}

WatchHandle AsyncClient::Watch(std::string_view room, std::string_view visitor,
                               OnVisitorEvent on_event) {
  return AddWatch(PendingWatch::Visitors(room, std::span(&visitor, 1), std::move(on_event)));
}

WatchHandle AsyncClient::WatchRoom(std::string_view room, OnRoomEvent on_event) {
  return AddWatch(PendingWatch::Room(room, std::move(on_event)));
}

WatchHandle AsyncClient::AddWatch(PendingWatch watch) {
  const WatchHandle handle = session_->NewWatchHandle();
  const absl::Status status = session_->AddWatch(handle, watch);
  if (!status.ok()) session_->Defer([watch = std::move(watch), status] { watch.End(status); });
  return handle;
}

void AsyncClient::Unwatch(WatchHandle watch) {
  session_->RemoveWatch(watch);
}

// ---- the operator ----

void AsyncClient::Admit(std::string_view room, uint32_t count, const AdmitOptions& options,
                        Callback<protocol::AdmitReply> done, const CallOptions& call) {
  Call<Operation::kAdmit>({room, count, options.key}, std::move(done), call);
}

void AsyncClient::AdmitVisitor(std::string_view room, std::string_view visitor,
                               const AdmitVisitorOptions& options,
                               Callback<protocol::VisitorReply> done, const CallOptions& call) {
  Call<Operation::kAdmitVisitor>({room, visitor, options.over}, std::move(done), call);
}

void AsyncClient::Revoke(std::string_view room, std::string_view visitor,
                         const RevokeOptions& options, Callback<protocol::VisitorReply> done,
                         const CallOptions& call) {
  Call<Operation::kRevoke>({room, visitor, options.block_ms}, std::move(done), call);
}

void AsyncClient::RoomCreate(std::string_view room, const protocol::RoomSettings& settings,
                             Callback<protocol::RoomReply> done, const CallOptions& call) {
  Call<Operation::kRoomCreate>({room, settings}, std::move(done), call);
}

void AsyncClient::RoomSet(std::string_view room, const protocol::RoomSettings& settings,
                          const RoomSetOptions& options, Callback<protocol::RoomReply> done,
                          const CallOptions& call) {
  Call<Operation::kRoomSet>({room, settings, options.if_revision}, std::move(done), call);
}

void AsyncClient::RoomShow(std::string_view room, Callback<protocol::RoomReply> done,
                           const CallOptions& call) {
  Call<Operation::kRoomShow>({room}, std::move(done), call);
}

void AsyncClient::RoomList(std::string_view after, uint32_t count,
                           Callback<protocol::RoomListReply> done, const CallOptions& call) {
  Call<Operation::kRoomList>({after, count}, std::move(done), call);
}

void AsyncClient::RoomDelete(std::string_view room, const RoomDeleteOptions& options,
                             Callback<protocol::Empty> done, const CallOptions& call) {
  Call<Operation::kRoomDelete>({room, options.force}, std::move(done), call);
}

void AsyncClient::RoomReset(std::string_view room, Callback<protocol::RoomReply> done,
                            const CallOptions& call) {
  Call<Operation::kRoomReset>({room}, std::move(done), call);
}

void AsyncClient::Peek(std::string_view room, uint64_t from, uint32_t count,
                       Callback<protocol::PageReply> done, const CallOptions& call) {
  Call<Operation::kPeek>({room, from, count}, std::move(done), call);
}

void AsyncClient::Inside(std::string_view room, uint64_t from, uint32_t count,
                         Callback<protocol::PageReply> done, const CallOptions& call) {
  Call<Operation::kInside>({room, from, count}, std::move(done), call);
}

// ---- the daemon ----

void AsyncClient::Ping(Callback<protocol::PingReply> done, const CallOptions& call) {
  Call<Operation::kPing>({}, std::move(done), call);
}

void AsyncClient::Health(Callback<protocol::HealthReply> done, const CallOptions& call) {
  Call<Operation::kHealth>({}, std::move(done), call);
}

void AsyncClient::Stats(std::optional<std::string_view> room, Callback<protocol::StatsReply> done,
                        const CallOptions& call) {
  Call<Operation::kStats>({room}, std::move(done), call);
}

void AsyncClient::RotateTokenKey(Callback<protocol::TokenKeyReply> done, const CallOptions& call) {
  Call<Operation::kRotateTokenKey>({}, std::move(done), call);
}

void AsyncClient::ClockAdvance(int64_t duration_ms, Callback<protocol::ClockReply> done,
                               const CallOptions& call) {
  Call<Operation::kClockAdvance>({duration_ms}, std::move(done), call);
}

}  // namespace anteroom::client
