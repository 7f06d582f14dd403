#include "client/failure.h"

#include <utility>

#include "absl/strings/cord.h"
#include "protocol/codec.h"
#include "protocol/text.h"

namespace anteroom::client {

namespace {

using protocol::ErrorCode;
using protocol::ToAbsl;

constexpr std::string_view kPayloadUrl = "anteroom/failure";

absl::StatusCode CodeOf(ErrorCode error) {
  switch (error) {
    case ErrorCode::kNotFound:
      return absl::StatusCode::kNotFound;
    case ErrorCode::kBadToken:
    case ErrorCode::kBlocked:
      return absl::StatusCode::kPermissionDenied;
    case ErrorCode::kUnauthorized:
      return absl::StatusCode::kUnauthenticated;
    case ErrorCode::kInvalid:
    case ErrorCode::kTooLarge:
      return absl::StatusCode::kInvalidArgument;
    case ErrorCode::kConflict:
      return absl::StatusCode::kAborted;
    case ErrorCode::kLineFull:
    case ErrorCode::kNoSlot:
      return absl::StatusCode::kResourceExhausted;
    case ErrorCode::kExpired:
    case ErrorCode::kClosed:
    case ErrorCode::kSoldOut:
    case ErrorCode::kNotOpen:
      return absl::StatusCode::kFailedPrecondition;
    case ErrorCode::kUnavailable:
      return absl::StatusCode::kUnavailable;
  }
  return absl::StatusCode::kUnknown;
}

absl::StatusCode CodeOf(const Failure& failure) {
  switch (failure.cause) {
    case FailureCause::kRefused:
      return CodeOf(failure.refusal.error);
    case FailureCause::kUnreachable:
    case FailureCause::kConnectionLost:
      return absl::StatusCode::kUnavailable;
    case FailureCause::kDeadline:
      return absl::StatusCode::kDeadlineExceeded;
    case FailureCause::kTooManyInFlight:
      return absl::StatusCode::kResourceExhausted;
    case FailureCause::kInvalidRequest:
      return absl::StatusCode::kInvalidArgument;
    case FailureCause::kBadAnswer:
      return absl::StatusCode::kDataLoss;
    case FailureCause::kUnauthorized:
      return absl::StatusCode::kUnauthenticated;
    case FailureCause::kClosed:
    case FailureCause::kForked:
    case FailureCause::kWrongThread:
      return absl::StatusCode::kFailedPrecondition;
  }
  return absl::StatusCode::kUnknown;
}

}  // namespace

std::string_view NameOf(FailureCause cause) {
  switch (cause) {
    case FailureCause::kRefused:
      return "refused";
    case FailureCause::kUnreachable:
      return "unreachable";
    case FailureCause::kConnectionLost:
      return "connection_lost";
    case FailureCause::kDeadline:
      return "deadline";
    case FailureCause::kTooManyInFlight:
      return "too_many_in_flight";
    case FailureCause::kInvalidRequest:
      return "invalid_request";
    case FailureCause::kBadAnswer:
      return "bad_answer";
    case FailureCause::kClosed:
      return "closed";
    case FailureCause::kForked:
      return "forked";
    case FailureCause::kWrongThread:
      return "wrong_thread";
    case FailureCause::kUnauthorized:
      return "unauthorized";
  }
  return {};
}

absl::Status ToStatus(const Failure& failure) {
  std::string message(failure.cause == FailureCause::kRefused
                          ? protocol::NameOf(failure.refusal.error)
                          : NameOf(failure.cause));
  if (!failure.refusal.message.empty()) message += ": " + failure.refusal.message;
  absl::Status status(CodeOf(failure), message);
  std::string bytes;
  protocol::Encode(failure, &bytes);
  status.SetPayload(ToAbsl(kPayloadUrl), absl::Cord(std::move(bytes)));
  return status;
}

absl::Status RefusedStatus(const protocol::Refusal& refusal) {
  return ToStatus({FailureCause::kRefused, false, refusal});
}

absl::Status LocalStatus(FailureCause cause, std::string message, bool may_have_been_applied,
                         std::optional<uint64_t> retry_after_ms) {
  Failure failure;
  failure.cause = cause;
  failure.may_have_been_applied = may_have_been_applied;
  const bool invalid =
      cause == FailureCause::kInvalidRequest || cause == FailureCause::kWrongThread;
  failure.refusal.error = invalid ? ErrorCode::kInvalid : ErrorCode::kUnavailable;
  if (cause == FailureCause::kUnauthorized) failure.refusal.error = ErrorCode::kUnauthorized;
  failure.refusal.retry =
      cause == FailureCause::kUnreachable || cause == FailureCause::kConnectionLost ||
      cause == FailureCause::kDeadline || cause == FailureCause::kTooManyInFlight;
  failure.refusal.retry_after_ms = retry_after_ms;
  failure.refusal.message = std::move(message);
  return ToStatus(failure);
}

std::optional<Failure> FailureOf(const absl::Status& status) {
  if (status.ok()) return std::nullopt;
  const absl::optional<absl::Cord> payload = status.GetPayload(ToAbsl(kPayloadUrl));
  if (!payload.has_value()) return std::nullopt;
  Failure failure;
  if (!protocol::Decode(std::string(*payload), &failure)) return std::nullopt;
  return failure;
}

std::optional<protocol::Refusal> RefusalOf(const absl::Status& status) {
  std::optional<Failure> failure = FailureOf(status);
  if (!failure.has_value()) return std::nullopt;
  return std::move(failure->refusal);
}

bool MayHaveBeenApplied(const absl::Status& status) {
  const std::optional<Failure> failure = FailureOf(status);
  return failure.has_value() && failure->may_have_been_applied;
}

bool IsUnreachable(const absl::Status& status) {
  const std::optional<Failure> failure = FailureOf(status);
  if (!failure.has_value()) return false;
  switch (failure->cause) {
    case FailureCause::kUnreachable:
    case FailureCause::kConnectionLost:
    case FailureCause::kDeadline:
      return true;
    case FailureCause::kRefused:
      return failure->refusal.error == ErrorCode::kUnavailable &&
             (failure->refusal.reason == protocol::Reason::kStarting ||
              failure->refusal.reason == protocol::Reason::kStopping);
    default:
      return false;
  }
}

}  // namespace anteroom::client
