#include "client/client.h"

#include <utility>

#include "client/loop_thread.h"

namespace anteroom::client {

using protocol::Operation;

Client::Client(const ClientOptions& options)
    : thread_(std::make_unique<LoopThread>(options)), when_unreachable_(options.when_unreachable) {}

Client::~Client() {
  if (!thread_->forked()) return;
  // The thread is the parent's, and so is what it works with: neither stopped nor freed. Kept
  // reachable, so that a leak checker in the child sees it for what it is.
  static std::vector<LoopThread*>* const left =
      new std::vector<LoopThread*>;  // NOLINT(bugprone-unhandled-exception-at-new)
  left->push_back(thread_.release());
}

void Client::Close() {
  thread_->Close();
}

bool Client::connected() const {
  return thread_->connected();
}
void Client::check_invariants() const {
  thread_->check_invariants();
}

absl::Status Client::Submit(Operation operation, std::string frame, const CallOptions& call,
                            std::unique_ptr<PendingCall> pending) {
  return thread_->Submit(operation, std::move(frame), call, std::move(pending));
}

// ---- visitors ----

absl::StatusOr<protocol::VisitorReply> Client::Join(std::string_view room, std::string_view visitor,
                                                    const JoinOptions& options,
                                                    const CallOptions& call) {
  return Call<Operation::kJoin>({room, visitor, options.lane}, call);
}

absl::StatusOr<EnterReply> Client::Enter(std::string_view room, std::string_view visitor,
                                         const JoinOptions& options, const CallOptions& call) {
  return ToEnterReply(Call<Operation::kEnter>({room, visitor, options.lane}, call),
                      when_unreachable_);
}

absl::StatusOr<protocol::VisitorReply> Client::Status(std::string_view room,
                                                      std::string_view visitor,
                                                      const CallOptions& call) {
  return Call<Operation::kStatus>({room, visitor}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::Leave(std::string_view room,
                                                     std::string_view visitor,
                                                     const CallOptions& call) {
  return Call<Operation::kLeave>({room, visitor}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::Verify(std::string_view room,
                                                      std::string_view visitor,
                                                      std::string_view token,
                                                      const CallOptions& call) {
  return Call<Operation::kVerify>({room, visitor, token}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::Claim(std::string_view room,
                                                     std::string_view visitor,
                                                     std::string_view token,
                                                     const CallOptions& call) {
  return Call<Operation::kClaim>({room, visitor, token}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::Touch(std::string_view room,
                                                     std::string_view visitor,
                                                     std::string_view token,
                                                     const CallOptions& call) {
  return Call<Operation::kTouch>({room, visitor, token}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::Finish(std::string_view room,
                                                      std::string_view visitor,
                                                      const FinishOptions& options,
                                                      const CallOptions& call) {
  return Call<Operation::kFinish>({room, visitor, options.token, options.outcome}, call);
}

absl::Status Client::FinishLater(std::string_view room, std::string_view visitor,
                                 const FinishOptions& options) {
  std::string frame;
  const absl::Status status = EncodeRequest(
      Operation::kFinish,
      protocol::FinishRequest{room, visitor, options.token, options.outcome, options.units},
      &frame);
  return status.ok() ? thread_->FinishLater(std::move(frame)) : status;
}

FinishLaterCounts Client::finish_later_counts() const {
  return thread_->finish_later_counts();
}

bool Client::FlushFinishes(int64_t within_ms) {
  return thread_->FlushFinishes(within_ms);
}

// ---- batches ----

absl::StatusOr<protocol::VisitorResults> Client::JoinMany(std::vector<protocol::JoinRequest> items,
                                                          const CallOptions& call) {
  return Call<Operation::kJoinMany>({std::move(items)}, call);
}

absl::StatusOr<protocol::VisitorResults> Client::StatusMany(
    std::vector<protocol::VisitorRequest> items, const CallOptions& call) {
  return Call<Operation::kStatusMany>({std::move(items)}, call);
}

// ---- watches ----

absl::StatusOr<WatchHandle> Client::Watch(std::string_view room,
                                          std::span<const std::string_view> visitors,
                                          OnVisitorEvent on_event) {
  return thread_->Watch(PendingWatch::Visitors(room, visitors, std::move(on_event)));
}

absl::StatusOr<WatchHandle> Client::Watch(std::string_view room, std::string_view visitor,
                                          OnVisitorEvent on_event) {
  return thread_->Watch(PendingWatch::Visitors(room, std::span(&visitor, 1), std::move(on_event)));
}

absl::StatusOr<WatchHandle> Client::WatchRoom(std::string_view room, OnRoomEvent on_event) {
  return thread_->Watch(PendingWatch::Room(room, std::move(on_event)));
}

void Client::Unwatch(WatchHandle watch) {
  thread_->Unwatch(watch);
}

// ---- the operator ----

absl::StatusOr<protocol::AdmitReply> Client::Admit(std::string_view room, uint32_t count,
                                                   const AdmitOptions& options,
                                                   const CallOptions& call) {
  return Call<Operation::kAdmit>({room, count, options.key}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::AdmitVisitor(std::string_view room,
                                                            std::string_view visitor,
                                                            const AdmitVisitorOptions& options,
                                                            const CallOptions& call) {
  return Call<Operation::kAdmitVisitor>({room, visitor, options.over}, call);
}

absl::StatusOr<protocol::VisitorReply> Client::Revoke(std::string_view room,
                                                      std::string_view visitor,
                                                      const RevokeOptions& options,
                                                      const CallOptions& call) {
  return Call<Operation::kRevoke>({room, visitor, options.block_ms}, call);
}

absl::StatusOr<protocol::RoomReply> Client::RoomCreate(std::string_view room,
                                                       const protocol::RoomSettings& settings,
                                                       const CallOptions& call) {
  return Call<Operation::kRoomCreate>({room, settings}, call);
}

absl::StatusOr<protocol::RoomReply> Client::RoomSet(std::string_view room,
                                                    const protocol::RoomSettings& settings,
                                                    const RoomSetOptions& options,
                                                    const CallOptions& call) {
  return Call<Operation::kRoomSet>({room, settings, options.if_revision}, call);
}

absl::StatusOr<protocol::RoomReply> Client::RoomShow(std::string_view room,
                                                     const CallOptions& call) {
  return Call<Operation::kRoomShow>({room}, call);
}

absl::StatusOr<protocol::RoomListReply> Client::RoomList(std::string_view after, uint32_t count,
                                                         const CallOptions& call) {
  return Call<Operation::kRoomList>({after, count}, call);
}

absl::Status Client::RoomDelete(std::string_view room, const RoomDeleteOptions& options,
                                const CallOptions& call) {
  return Call<Operation::kRoomDelete>({room, options.force}, call).status();
}

absl::StatusOr<protocol::RoomReply> Client::RoomReset(std::string_view room,
                                                      const CallOptions& call) {
  return Call<Operation::kRoomReset>({room}, call);
}

absl::StatusOr<protocol::PageReply> Client::Peek(std::string_view room, uint64_t from,
                                                 uint32_t count, const CallOptions& call) {
  return Call<Operation::kPeek>({room, from, count}, call);
}

absl::StatusOr<protocol::PageReply> Client::Inside(std::string_view room, uint64_t from,
                                                   uint32_t count, const CallOptions& call) {
  return Call<Operation::kInside>({room, from, count}, call);
}

// ---- the daemon ----

absl::StatusOr<protocol::PingReply> Client::Ping(const CallOptions& call) {
  return Call<Operation::kPing>({}, call);
}

absl::StatusOr<protocol::HealthReply> Client::Health(const CallOptions& call) {
  return Call<Operation::kHealth>({}, call);
}

absl::StatusOr<protocol::StatsReply> Client::Stats(std::optional<std::string_view> room,
                                                   const CallOptions& call) {
  return Call<Operation::kStats>({room}, call);
}

absl::StatusOr<protocol::TokenKeyReply> Client::RotateTokenKey(const CallOptions& call) {
  return Call<Operation::kRotateTokenKey>({}, call);
}

absl::StatusOr<protocol::ClockReply> Client::ClockAdvance(int64_t duration_ms,
                                                          const CallOptions& call) {
  return Call<Operation::kClockAdvance>({duration_ms}, call);
}

}  // namespace anteroom::client
