// What one visitor of a rehearsal hears and does.
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/failure.h"
#include "protocol/text.h"
#include "server/base/check.h"
#include "tools/rehearse/crowd.h"
#include "tools/rehearse/limits.h"

namespace anteroom::tools {

void Crowd::OnEvent(const client::VisitorEvent& event) {
  if (over_) return;
  if (event.visitor.empty()) {
    // The watch as a whole is over, which nobody asked for.
    if (event.last) Break(event.status);
    return;
  }
  Visitor* const visitor = Find(event.visitor);
  if (visitor == nullptr) return;
  if (event.reply) {
    Hear(visitor, *event.reply);
  } else if (event.refusal) {
    watches_.Remove(visitor);
    visitor->polled = true;
    Ask(visitor);
  }
}

void Crowd::Hear(Visitor* visitor, const protocol::VisitorReply& reply) {
  counts_.longest_line = std::max(counts_.longest_line, reply.waiting.value_or(0));
  switch (reply.state) {
    case protocol::State::kWaiting:
      return HearWaiting(visitor, reply);
    case protocol::State::kAdmitted:
      return HearAdmitted(visitor, reply);
    case protocol::State::kActive:
      return HearActive(visitor, reply);
    case protocol::State::kEnded:
      return HearEnded(visitor, reply);
  }
}

void Crowd::HearWaiting(Visitor* visitor, const protocol::VisitorReply& reply) {
  const uint64_t arrival = reply.arrival.value_or(0);
  if (visitor->stage != Stage::kJoining && arrival == visitor->arrival) {
    if (visitor->polled) ActAt(visitor, elapsed_ms() + reply.poll_after_ms.value_or(kRetryMsMin));
    return;
  }
  if (visitor->admission != Visitor::kNone) {
    // Back in line, with a new arrival: not claimed in time.
    ++counts_.no_shows;
    CloseAdmission(visitor, reply.at_ms.value_or(Admission::kUnknown));
  }
  visitor->arrival = arrival;
  visitor->waiting_since_ms = reply.at_ms.value_or(0);
  MoveTo(visitor, Stage::kWaiting);
}

void Crowd::HearAdmitted(Visitor* visitor, const protocol::VisitorReply& reply) {
  const uint64_t number = reply.admission.value_or(0);
  const uint64_t arrival = reply.arrival.value_or(0);
  if (visitor->admission != Visitor::kNone) {
    const Admission& open = admissions_[visitor->admission];
    if (open.number == number) return;  // told again
    if (open.arrival == arrival) {
      violations_.Add(absl::StrCat("admitted twice: ", protocol::EscapeId(visitor->id),
                                   ", arrival ", arrival, ", is admission ", open.number, " and ",
                                   number));
    } else {
      ++counts_.no_shows;  // and the push of the return to the line was overtaken by this one
    }
    CloseAdmission(visitor, Admission::kUnknown);
  }
  visitor->token = reply.token.value_or(protocol::Token{});
  // Of those who are being sent home nothing counts any more.
  if (!going_home_) {
    const uint64_t at_ms = reply.at_ms.value_or(0);
    const bool waited = visitor->stage != Stage::kJoining;
    visitor->admission = admissions_.size();
    admissions_.push_back({.number = number, .arrival = arrival, .admitted_at_ms = at_ms});
    waits_ms_.push_back(waited ? at_ms - std::min(at_ms, visitor->waiting_since_ms) : 0);
    ++counts_.admitted;
  }
  visitor->arrival = arrival;
  MoveTo(visitor, Stage::kClaiming);
  if (!going_home_) Claim(visitor);
}

void Crowd::HearActive(Visitor* visitor, const protocol::VisitorReply& reply) {
  if (visitor->stage == Stage::kActive || visitor->stage == Stage::kFinishing) return;
  MoveTo(visitor, Stage::kActive);
  if (going_home_) {
    // Its leave, if one was sent, came too late; finishing is what is left.
    Finish(visitor, protocol::Outcome::kCancelled);
    return;
  }
  visitor->session_ends_ms = elapsed_ms() + SessionMs(*visitor);
  StayFor(visitor, reply);
}

void Crowd::HearEnded(Visitor* visitor, const protocol::VisitorReply& reply) {
  // A finish that came after the session had run out is told with the time of the finish.
  const bool late = reply.late.value_or(false);
  CloseAdmission(visitor, late ? Admission::kUnknown : reply.at_ms.value_or(Admission::kUnknown));
  switch (reply.reason.value_or(protocol::Reason::kLeft)) {
    case protocol::Reason::kCompleted:
      ++counts_.finished;
      break;
    case protocol::Reason::kNoShow:
      ++counts_.no_shows;
      break;
    case protocol::Reason::kExpired:
      ++(visitor->stage == Stage::kActive || visitor->stage == Stage::kFinishing ? counts_.expired
                                                                                 : counts_.removed);
      break;
    case protocol::Reason::kCancelled:
    case protocol::Reason::kLeft:
      ++(visitor->going_home ? counts_.sent_home : counts_.removed);
      break;
    default:
      ++counts_.removed;
  }
  Remove(visitor);
}

// What was due on the agenda.
void Crowd::Act(Visitor* visitor) {
  switch (visitor->stage) {
    case Stage::kClaiming:
      return Claim(visitor);
    case Stage::kActive:
      if (elapsed_ms() >= visitor->session_ends_ms) {
        return Finish(visitor, protocol::Outcome::kCompleted);
      }
      return Touch(visitor);
    case Stage::kFinishing:
      return Finish(visitor, protocol::Outcome::kCompleted);
    case Stage::kWaiting:
      return Ask(visitor);
    case Stage::kJoining:
      return;
  }
}

void Crowd::Claim(Visitor* visitor) {
  client_->Claim(plan_.room, visitor->id, visitor->token.view(),
                 Answer(visitor, &Crowd::RetryOrAsk));
}

void Crowd::Finish(Visitor* visitor, protocol::Outcome outcome) {
  if (outcome == protocol::Outcome::kCancelled) visitor->going_home = true;
  MoveTo(visitor, Stage::kFinishing);
  client_->Finish(plan_.room, visitor->id, {.token = visitor->token.view(), .outcome = outcome},
                  Answer(visitor, &Crowd::RetryOrAsk));
}

void Crowd::Touch(Visitor* visitor) {
  client_->Touch(plan_.room, visitor->id, visitor->token.view(),
                 [this, id = visitor->id](const absl::StatusOr<protocol::VisitorReply>& reply) {
                   if (over_) return;
                   Visitor* const visitor = Find(id);
                   if (visitor == nullptr || visitor->stage != Stage::kActive || going_home_)
                     return;
                   if (reply.ok()) return StayFor(visitor, *reply);
                   if (client::IsUnreachable(reply.status())) return Break(reply.status());
                   Ask(visitor);
                   ActAt(visitor, visitor->session_ends_ms);
                 });
}

// Leaves, whatever the visitor is doing; a session that cannot be left is finished as cancelled.
void Crowd::SendHome(Visitor* visitor) {
  if (visitor->stage == Stage::kFinishing) return;
  visitor->going_home = true;
  if (visitor->due) agenda_.erase(*std::exchange(visitor->due, std::nullopt));
  if (visitor->stage == Stage::kActive) return Finish(visitor, protocol::Outcome::kCancelled);
  client_->Leave(plan_.room, visitor->id, Answer(visitor, &Crowd::RetryOrAsk));
}

void Crowd::Ask(Visitor* visitor) {
  client_->Status(plan_.room, visitor->id, Answer(visitor, &Crowd::AskAgain));
}

client::Callback<protocol::VisitorReply> Crowd::Answer(
    Visitor* visitor, void (Crowd::*refused)(Visitor*, const protocol::Refusal&)) {
  return [this, id = visitor->id, refused](const absl::StatusOr<protocol::VisitorReply>& reply) {
    if (over_) return;
    if (going_home_) WorkSoon();
    Visitor* const visitor = Find(id);
    if (visitor == nullptr) return;  // a push told it before
    if (reply.ok()) return Hear(visitor, *reply);
    if (client::IsUnreachable(reply.status())) return Break(reply.status());
    (this->*refused)(visitor, client::RefusalOf(reply.status()).value_or(protocol::Refusal{}));
  };
}

// A claim or a finish was refused: again later if that can help, otherwise what is the matter?
void Crowd::RetryOrAsk(Visitor* visitor, const protocol::Refusal& refusal) {
  if (refusal.error == protocol::ErrorCode::kUnavailable) {
    if (going_home_) return;
    const auto after_ms =
        static_cast<int64_t>(std::min<uint64_t>(refusal.retry_after_ms.value_or(0), 60000));
    return ActAt(visitor, elapsed_ms() + std::max(kRetryMsMin, after_ms));
  }
  Ask(visitor);
}

void Crowd::AskAgain(Visitor* visitor, const protocol::Refusal& refusal) {
  if (refusal.error == protocol::ErrorCode::kUnavailable) return RetryOrAsk(visitor, refusal);
  Vanish(visitor, refusal);
}

// The daemon does not know somebody who did not leave. After a session that is a memory that was
// short; before it, a turn was lost.
void Crowd::Vanish(Visitor* visitor, const protocol::Refusal& refusal) {
  CloseAdmission(visitor, Admission::kUnknown);
  if (visitor->stage == Stage::kWaiting && !going_home_) {
    violations_.Add(absl::StrCat("lost in line: ", protocol::EscapeId(visitor->id), ", arrival ",
                                 visitor->arrival, ": ", refusal.message));
  } else {
    ++counts_.removed;
  }
  Remove(visitor);
}

Visitor* Crowd::Find(std::string_view id) {
  const auto found = visitors_.find(id);
  return found == visitors_.end() ? nullptr : &found->second;
}

void Crowd::MoveTo(Visitor* visitor, Stage stage) {
  --staged_[static_cast<size_t>(visitor->stage)];
  visitor->stage = stage;
  ++staged_[static_cast<size_t>(stage)];
  moved_at_ms_ = elapsed_ms();
}

void Crowd::ActAt(Visitor* visitor, int64_t at_ms) {
  if (visitor->due) agenda_.erase(*visitor->due);
  visitor->due = agenda_.emplace(at_ms, visitor);
  if (visitor->due == agenda_.begin()) WorkSoon();
}

// Until the session ends; before it would run out, a sign of life.
void Crowd::StayFor(Visitor* visitor, const protocol::VisitorReply& reply) {
  int64_t next_ms = visitor->session_ends_ms;
  if (plan_.sliding && reply.expires_in_ms) {
    const auto half_ms =
        static_cast<int64_t>(std::min<uint64_t>(*reply.expires_in_ms, client::kDelayMsMax) / 2);
    next_ms = std::min(next_ms, elapsed_ms() + std::max<int64_t>(1, half_ms));
  }
  ActAt(visitor, next_ms);
}

// Exponential, from the seed and the visitor alone, so that it does not depend on who comes first.
int64_t Crowd::SessionMs(const Visitor& visitor) const {
  const uint64_t hash = XXH3_64bits_withSeed(visitor.id.data(), visitor.id.size(), plan_.seed);
  const double uniform = static_cast<double>(hash >> 11) * 0x1p-53;  // in [0, 1)
  const double session_ms = -std::log1p(-uniform) * static_cast<double>(plan_.session_ms);
  return static_cast<int64_t>(std::llround(session_ms));
}

void Crowd::CloseAdmission(Visitor* visitor, uint64_t ended_at_ms) {
  if (visitor->admission == Visitor::kNone) return;
  admissions_[visitor->admission].ended_at_ms = ended_at_ms;
  visitor->admission = Visitor::kNone;
}

void Crowd::Remove(Visitor* visitor) {
  --staged_[static_cast<size_t>(visitor->stage)];
  moved_at_ms_ = elapsed_ms();
  if (visitor->due) agenda_.erase(*visitor->due);
  watches_.Remove(visitor);
  visitors_.erase(visitors_.find(visitor->id));
  WorkSoon();
}

}  // namespace anteroom::tools
