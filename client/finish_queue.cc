#include "client/finish_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/check.h"
#include "client/failure.h"
#include "client/limits.h"
#include "client/link.h"
#include "protocol/frame.h"

namespace anteroom::client {

namespace {

// How often finishes that are too old are looked for while others wait.
constexpr int64_t kLookMs = 1000;

}  // namespace

FinishQueue::FinishQueue(const std::shared_ptr<LoopRef>& ref, Wire* wire,
                         const ClientOptions& options, std::function<void()> on_settled)
    : wire_(wire),
      pending_max_(std::min(options.finish_later_max, kFinishLaterMax)),
      keep_ms_(options.finish_later_keep_ms),
      retry_min_ms_(std::clamp<int64_t>(options.reconnect_delay_min_ms, 1, kDelayMsMax)),
      retry_max_ms_(
          std::clamp<int64_t>(options.reconnect_delay_max_ms, retry_min_ms_, kDelayMsMax)),
      on_lost_(options.on_finish_lost),
      on_settled_(std::move(on_settled)),
      random_(std::random_device()()),
      timer_(std::make_unique<Timer>(ref, [this] { Pump(); })) {}

absl::Status FinishQueue::Reserve() {
  if (pending_.fetch_add(1) < pending_max_) return absl::OkStatus();
  --pending_;
  return LocalStatus(FailureCause::kTooManyInFlight,
                     std::to_string(pending_max_) + " finishes wait for the daemon already");
}

FinishLaterCounts FinishQueue::counts() const {
  return {pending_, delivered_, lost_};
}

void FinishQueue::Add(std::string frame) {
  const int64_t now_ms = NowMs();
  waiting_.emplace(now_ms, Entry{std::move(frame), now_ms, 0});
  Pump();
}

void FinishQueue::Pump() {
  const int64_t now_ms = NowMs();
  while (wire_->up() && under_way_ < kFinishLaterInFlightMax && !waiting_.empty() &&
         waiting_.begin()->first <= now_ms) {
    SendOne(std::move(waiting_.extract(waiting_.begin()).mapped()));
  }
  if (now_ms - looked_ms_ >= kLookMs) {
    looked_ms_ = now_ms;
    LoseOld();
  }
  if (waiting_.empty()) return timer_->Stop();
  const bool can_send = wire_->up() && under_way_ < kFinishLaterInFlightMax;
  timer_->Start(can_send ? std::clamp<int64_t>(waiting_.begin()->first - now_ms, 1, kLookMs)
                         : kLookMs);
}

void FinishQueue::SendOne(Entry entry) {
  ++under_way_;
  ++entry.attempts;
  const std::string frame = entry.frame;
  auto done = [this, entry = std::move(entry)](
                  const absl::StatusOr<protocol::VisitorReply>& reply) mutable {
    OnAnswer(std::move(entry), reply.status());
  };
  wire_->SendOwnCall(
      protocol::Operation::kFinish, frame,
      std::make_unique<TypedCall<protocol::Operation::kFinish, decltype(done)>>(std::move(done)));
}

void FinishQueue::OnAnswer(Entry entry, const absl::Status& status) {
  --under_way_;
  if (status.ok()) {
    --pending_;
    ++delivered_;
    if (on_settled_) on_settled_();
  } else if (const std::optional<Failure> failure = FailureOf(status);
             failure->refusal.retry || failure->cause == FailureCause::kBadAnswer) {
    const int64_t due_ms = NowMs() + RetryDelayMs(entry, status);
    waiting_.emplace(due_ms, std::move(entry));
  } else {
    Lose(entry, status);
  }
  Pump();
}

int64_t FinishQueue::RetryDelayMs(const Entry& entry, const absl::Status& status) {
  const int doublings = std::min(entry.attempts - 1, 20);
  const int64_t whole_ms = std::min(retry_max_ms_, retry_min_ms_ << doublings);
  const int64_t jittered_ms =
      std::uniform_int_distribution<int64_t>((whole_ms + 1) / 2, whole_ms)(random_);
  const uint64_t said_ms = RefusalOf(status)->retry_after_ms.value_or(0);
  return std::max(jittered_ms, static_cast<int64_t>(std::min<uint64_t>(said_ms, kDelayMsMax)));
}

void FinishQueue::LoseOld() {
  const int64_t oldest_ms = NowMs() - keep_ms_;
  std::vector<Entry> old;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.since_ms <= oldest_ms) {
      old.push_back(std::move(it->second));
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
  if (old.empty()) return;
  const absl::Status why = LocalStatus(
      FailureCause::kDeadline, "not delivered within " + std::to_string(keep_ms_) + " ms", true);
  for (const Entry& entry : old) Lose(entry, why);
}

void FinishQueue::Lose(const Entry& entry, const absl::Status& why) {
  --pending_;
  ++lost_;
  if (on_lost_) {
    protocol::FinishRequest request;
    CLIENT_CHECK(
        protocol::Decode(std::string_view(entry.frame).substr(protocol::kHeaderBytes), &request));
    on_lost_({std::string(request.room), std::string(request.visitor), why});
  }
  if (on_settled_) on_settled_();
}

void FinishQueue::AddLost(std::string frame, const absl::Status& why) {
  Lose(Entry{std::move(frame), 0, 0}, why);
}

void FinishQueue::LoseAll(const absl::Status& why) {
  std::multimap<int64_t, Entry> lost;
  lost.swap(waiting_);
  timer_->Stop();
  for (const auto& [due_ms, entry] : lost) Lose(entry, why);
}

void FinishQueue::check_invariants() const {
  CLIENT_CHECK(waiting_.size() + under_way_ <= pending_);
  CLIENT_CHECK(pending_ <= pending_max_ || pending_max_ == 0);
  CLIENT_CHECK(under_way_ <= kFinishLaterInFlightMax);
}

}  // namespace anteroom::client
