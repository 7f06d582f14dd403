// Refusals: why a request was not done, whether trying again can help, and when.
#ifndef ANTEROOM_PROTOCOL_REFUSAL_H_
#define ANTEROOM_PROTOCOL_REFUSAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/kinds.h"

namespace anteroom::protocol {

struct Refusal {
  ErrorCode error = ErrorCode::kInvalid;
  // Whether the same request can succeed later without anybody changing it.
  bool retry = false;
  // When trying again first makes sense; absent when unknown.
  std::optional<uint64_t> retry_after_ms;
  // How the admission ended, when the error is `expired`; what is missing, when `unavailable`.
  std::optional<Reason> reason;
  // For people: what was wrong and what would be right.
  std::string message;

  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("error", self.error);
    visit("retry", self.retry);
    visit("retry_after_ms", self.retry_after_ms);
    visit("reason", self.reason);
    visit("message", self.message);
  }
};

inline Refusal Refuse(ErrorCode error, std::string message) {
  const bool retry = error == ErrorCode::kLineFull || error == ErrorCode::kNoSlot ||
                     error == ErrorCode::kBlocked || error == ErrorCode::kUnavailable ||
                     error == ErrorCode::kNotOpen;
  return Refusal{error, retry, std::nullopt, std::nullopt, std::move(message)};
}

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_REFUSAL_H_
