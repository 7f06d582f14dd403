#include "client/session.h"

#include <algorithm>
#include <utility>

#include "client/check.h"
#include "client/failure.h"
#include "client/limits.h"

namespace anteroom::client {

namespace {

// Whether a request of this operation, once sent, may have changed something.
bool Changes(protocol::Operation operation) {
  const auto info = protocol::FindOperation(static_cast<uint8_t>(operation));
  return info.has_value() && info->least_role >= protocol::Role::kApp;
}

}  // namespace

std::shared_ptr<Session> Session::Start(uv_loop_t* loop, const ClientOptions& options,
                                        std::function<void()> on_finish_settled) {
  std::shared_ptr<Session> session(new Session(loop, options, std::move(on_finish_settled)));
  session->self_ = session;
  return session;
}

Session::Session(uv_loop_t* loop, const ClientOptions& options,
                 std::function<void()> on_finish_settled)
    : loop_(loop),
      options_(options),
      requests_in_flight_max_(std::min(options.requests_in_flight_max, kRequestsInFlightMax)),
      ref_(std::make_shared<LoopRef>(loop)),
      idle_(std::make_unique<Idle>(ref_, [this] { OnIdle(); })),
      prepare_(std::make_unique<Prepare>(ref_, [this] { OnPrepare(); })),
      deadline_timer_(std::make_unique<Timer>(ref_, [this] { OnDeadlineTimer(); })),
      finishes_(std::make_unique<FinishQueue>(ref_, static_cast<Wire*>(this), options,
                                              std::move(on_finish_settled))),
      watches_(std::make_unique<WatchSet>(ref_, static_cast<Wire*>(this), options.reconnect)),
      link_(std::make_unique<Link>(ref_, options, static_cast<Link::Owner*>(this))) {}

Session::~Session() = default;

// ---- calls ----

int64_t Session::DeadlineMs(const CallOptions& call, int64_t since_ms) const {
  return since_ms + std::min(call.deadline_ms.value_or(options_.call_deadline_ms), kDelayMsMax);
}

absl::Status Session::CheckRoom(int64_t deadline_ms, int64_t now_ms) const {
  if (closing()) return ClosingStatus(false);
  if (link_->down() || link_->unauthorized() || (link_->away() && !options_.wait_for_connection)) {
    return link_->AwayStatus();
  }
  if (calls_.counted() >= requests_in_flight_max_) {
    return LocalStatus(FailureCause::kTooManyInFlight,
                       std::to_string(calls_.counted()) + " requests are in flight already");
  }
  if (calls_.held_bytes() + link_->unsent_bytes() >= kOutputBytesMax) {
    return LocalStatus(FailureCause::kTooManyInFlight,
                       std::to_string(kOutputBytesMax) + " bytes wait to be sent already");
  }
  if (deadline_ms <= now_ms) {
    return LocalStatus(FailureCause::kDeadline, "no time was left when it was asked");
  }
  return absl::OkStatus();
}

void Session::Submit(protocol::Operation operation, std::string_view frame, int64_t deadline_ms,
                     std::unique_ptr<PendingCall> call) {
  AbandonIfForked();
  const int64_t now_ms = NowMs();
  absl::Status status = CheckRoom(deadline_ms, now_ms);
  if (!status.ok()) return Refuse(std::move(status), std::move(call));
  const uint32_t request_id = calls_.Add(operation, std::move(call), now_ms, deadline_ms, true);
  if (up()) {
    SendFrame(request_id, frame);
    calls_.MarkSent(request_id);
  } else {
    calls_.Hold(request_id, frame);
    waiting_ids_.push_back(request_id);
    if (waiting_ids_.size() > 2 * calls_.counted() + 1024) ForgetWaitingIds();
  }
  WatchDeadline(deadline_ms);
}

// Calls that ran out of time while they waited leave their ids behind.
void Session::ForgetWaitingIds() {
  std::erase_if(waiting_ids_, [this](uint32_t request_id) {
    const CallTable::Place* place = calls_.Find(request_id);
    return place == nullptr || place->state != CallTable::PlaceState::kWaiting;
  });
}

void Session::SendFrame(uint32_t request_id, std::string_view frame) {
  std::string* const output = link_->output();
  const size_t start = output->size();
  output->append(frame);
  protocol::SetRequestId(output->data() + start, request_id);
  // One write for all that is asked in this turn.
  if (start == 0) prepare_->Start();
}

void Session::SendOwnCall(protocol::Operation operation, std::string_view frame,
                          std::unique_ptr<PendingCall> call) {
  const int64_t now_ms = NowMs();
  const int64_t deadline_ms = std::max(now_ms + 1, DeadlineMs({}, now_ms));
  const uint32_t request_id = calls_.Add(operation, std::move(call), now_ms, deadline_ms, false);
  SendFrame(request_id, frame);
  calls_.MarkSent(request_id);
  WatchDeadline(deadline_ms);
}

void Session::ReleaseId(uint32_t request_id) {
  if (calls_.Find(request_id) != nullptr) calls_.Release(request_id);
}

void Session::OnPrepare() {
  prepare_->Stop();
  if (!AbandonIfForked()) link_->Flush();
}

// ---- deadlines ----

void Session::WatchDeadline(int64_t deadline_ms) {
  const int64_t at_ms = deadline_ms + CallTable::kTickMs;
  if (deadline_timer_ms_ != 0 && deadline_timer_ms_ <= at_ms) return;
  deadline_timer_ms_ = at_ms;
  deadline_timer_->Start(at_ms - NowMs());
}

void Session::OnDeadlineTimer() {
  deadline_timer_ms_ = 0;
  if (AbandonIfForked()) return;
  // After a long turn of the caller's loop the answers may lie there unread.
  link_->ReadNow();
  std::vector<CallTable::Taken> expired = calls_.TakeExpired(NowMs());
  if (const int64_t next_ms = calls_.NextExpiryMs(); next_ms >= 0) WatchDeadline(next_ms);
  FailTaken(std::move(expired), FailureCause::kDeadline, "no answer in time");
}

void Session::FailTaken(std::vector<CallTable::Taken> taken, FailureCause cause,
                        const std::string& why) {
  for (CallTable::Taken& one : taken) {
    one.call->Fail(LocalStatus(cause, why, one.sent && Changes(one.operation)));
  }
}

// ---- the link ----

void Session::OnUp() {
  if (AbandonIfForked() || closing()) return;
  connected_ = true;
  watches_->OnUp();
  std::vector<uint32_t> waiting_ids;
  waiting_ids.swap(waiting_ids_);
  for (const uint32_t request_id : waiting_ids) {
    const CallTable::Place* place = calls_.Find(request_id);
    if (place == nullptr || place->state != CallTable::PlaceState::kWaiting) continue;
    SendFrame(request_id, place->frame);
    calls_.MarkSent(request_id);
  }
  finishes_->OnUp();
}

void Session::OnFrame(const protocol::FrameHeader& header, std::string_view payload) {
  const auto operation = static_cast<protocol::Operation>(header.operation);
  if (operation == protocol::Operation::kWatch || operation == protocol::Operation::kWatchRoom) {
    return watches_->OnFrame(header, payload);
  }
  const CallTable::Place* place = calls_.Find(header.request_id);
  if (place == nullptr) return;
  const bool awaited = place->state == CallTable::PlaceState::kSent ||
                       place->state == CallTable::PlaceState::kAbandoned;
  const bool fits = awaited && place->operation == operation;
  if (!fits) return link_->Break("the daemon answered what was not asked");
  const std::unique_ptr<PendingCall> call = calls_.Take(header.request_id);
  if (call == nullptr) return;
  protocol::Refusal refusal;
  if (header.kind == protocol::FrameKind::kReply && call->Succeed(payload)) return;
  if (header.kind == protocol::FrameKind::kRefusal && protocol::Decode(payload, &refusal)) {
    return call->Fail(RefusedStatus(refusal));
  }
  link_->Break("the daemon's answer cannot be read");
  call->Fail(LocalStatus(FailureCause::kBadAnswer, "the daemon's answer cannot be read",
                         Changes(operation)));
}

void Session::OnLost(const std::string& why) {
  connected_ = false;
  watches_->OnLost();
  FailTaken(calls_.TakeSent(), FailureCause::kConnectionLost, why);
}

void Session::OnAway() {
  if (closing()) return;
  const absl::Status status = link_->AwayStatus();
  if (link_->down() || link_->unauthorized() || !options_.wait_for_connection) {
    waiting_ids_.clear();
    for (CallTable::Taken& one : calls_.TakeWaiting()) one.call->Fail(status);
  }
  if (!link_->down()) return;
  watches_->EndAll(status);
  finishes_->LoseAll(status);
}

// ---- watches and finishes ----

absl::Status Session::CheckOpen() {
  AbandonIfForked();
  if (closing()) return ClosingStatus(false);
  if (link_->down()) return link_->AwayStatus();
  return absl::OkStatus();
}

absl::Status Session::AddWatch(WatchHandle handle, PendingWatch watch) {
  absl::Status status = CheckOpen();
  if (!status.ok()) return status;
  if (watches_->size() >= kWatchesMax) {
    return LocalStatus(FailureCause::kTooManyInFlight,
                       std::to_string(kWatchesMax) + " watches are open already");
  }
  std::string frame;
  status = watch.Encode(&frame);
  if (status.ok()) watches_->Add(handle, std::move(watch));
  return status;
}

void Session::RemoveWatch(WatchHandle handle) {
  if (AbandonIfForked() || closing()) return;
  watches_->Remove(handle);
}

void Session::AddFinish(std::string frame) {
  absl::Status status = CheckOpen();
  if (status.ok()) return finishes_->Add(std::move(frame));
  // It was taken before anybody knew; told as lost, like any other.
  Defer([this, frame = std::move(frame), status = std::move(status)]() mutable {
    finishes_->AddLost(std::move(frame), status);
  });
}

// ---- what is put off, and the end ----

void Session::Deferred::Run() {
  if (call != nullptr) {
    call->Fail(std::move(status));
  } else {
    action();
  }
}

void Session::Refuse(absl::Status status, std::unique_ptr<PendingCall> call) {
  PutOff({std::move(call), std::move(status), nullptr});
}

void Session::Defer(std::function<void()> action) {
  PutOff({nullptr, absl::OkStatus(), std::move(action)});
}

void Session::PutOff(Deferred deferred) {
  if (idle_ != nullptr) {
    deferred_.push_back(std::move(deferred));
    return idle_->Start();
  }
  // Torn down already: an idle handle of its own for this one.
  struct OneShot {
    Deferred deferred;
    std::shared_ptr<Session> session;
    std::unique_ptr<Idle> idle;
  };
  auto* const shot = new OneShot{std::move(deferred), shared_from_this(), nullptr};
  shot->idle = std::make_unique<Idle>(std::make_shared<LoopRef>(loop_), [shot] {
    const std::unique_ptr<OneShot> owned(shot);
    owned->deferred.Run();
  });
  shot->idle->Start();
}

void Session::RunDeferred() {
  std::vector<Deferred> deferred;
  deferred.swap(deferred_);
  for (Deferred& one : deferred) one.Run();
}

void Session::OnIdle() {
  const std::shared_ptr<Session> keep = shared_from_this();
  AbandonIfForked();
  RunDeferred();
  if (closing()) {
    TearDown();
  } else if (deferred_.empty()) {
    idle_->Stop();
  }
}

bool Session::AbandonIfForked() {
  if (!fork_guard_.forked()) return false;
  if (ref_ != nullptr && closing_ != FailureCause::kForked) {
    closing_ = FailureCause::kForked;
    idle_->Start();
  }
  return true;
}

absl::Status Session::ClosingStatus(bool may_have_been_applied) const {
  const FailureCause cause = fork_guard_.forked() ? FailureCause::kForked : FailureCause::kClosed;
  return LocalStatus(cause,
                     cause == FailureCause::kForked
                         ? "the client belongs to the parent process; make one after fork"
                         : "the client was closed",
                     may_have_been_applied);
}

void Session::Close(std::function<void()> closed) {
  if (ref_ == nullptr) return;
  if (AbandonIfForked() || closing()) {
    // A child's close, or one after another.
    if (ref_->closed == nullptr) ref_->closed = std::move(closed);
    return;
  }
  ref_->closed = std::move(closed);
  closing_ = FailureCause::kClosed;
  idle_->Start();
}

void Session::TearDown() {
  connected_ = false;
  link_->Shutdown();
  watches_->OnLost();
  // From here on, what a callback asks for is put off to a handle of its own.
  std::vector<Deferred> deferred;
  deferred.swap(deferred_);
  idle_.reset();
  prepare_.reset();
  deadline_timer_.reset();
  std::vector<CallTable::Taken> taken = calls_.TakeSent();
  for (CallTable::Taken& one : calls_.TakeWaiting()) taken.push_back(std::move(one));
  for (CallTable::Taken& one : taken) {
    one.call->Fail(ClosingStatus(one.sent && Changes(one.operation)));
  }
  const absl::Status status = ClosingStatus(false);
  watches_->EndAll(status);
  finishes_->LoseAll(status);
  for (Deferred& one : deferred) one.Run();
  finishes_->CloseTimer();
  watches_.reset();
  link_.reset();
  ref_.reset();
  self_.reset();
}

void Session::check_invariants() const {
  calls_.check_invariants();
  if (ref_ == nullptr) return;
  finishes_->check_invariants();
  watches_->check_invariants();
  link_->check_invariants();
  CLIENT_CHECK(self_ != nullptr);
  CLIENT_CHECK(calls_.NextExpiryMs() < 0 || deadline_timer_ms_ != 0);
  CLIENT_CHECK(connected_ == link_->up() || closing());
}

}  // namespace anteroom::client
