// From a request to the bytes of its frame, with a check of what the encoder would have to cut.
#ifndef ANTEROOM_CLIENT_REQUEST_FRAME_H_
#define ANTEROOM_CLIENT_REQUEST_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "client/failure.h"
#include "protocol/frame.h"
#include "protocol/operations.h"

namespace anteroom::client {

// Operations that are one request and one reply, as Call takes them.
constexpr bool IsPlainCall(protocol::Operation operation) {
  return operation != protocol::Operation::kHello &&
         operation != protocol::Operation::kAuthenticate &&
         operation != protocol::Operation::kWatch && operation != protocol::Operation::kWatchRoom &&
         operation != protocol::Operation::kUnwatch;
}

namespace request_frame_internal {

// Finds text or lists longer than their length on the wire can say.
struct LengthCheck {
  std::string_view too_long;  // the first such field

  template <typename Field>
  void operator()(std::string_view name, const Field& field) {
    if constexpr (std::is_same_v<Field, std::string_view>) {
      if (field.size() > 255) Found(name);
    } else if constexpr (requires { field.has_value(); }) {
      if (field.has_value()) (*this)(name, *field);
    } else if constexpr (requires { field.begin(); }) {
      if (field.size() > 65535) Found(name);
      for (const auto& item : field) (*this)(name, item);
    } else if constexpr (std::is_class_v<Field>) {
      Field::Fields(field, *this);
    }
  }
  void Found(std::string_view name) {
    if (too_long.empty()) too_long = name;
  }
};

absl::Status TooLong(std::string_view field);
absl::Status TooLarge(size_t payload_bytes);

}  // namespace request_frame_internal

// Puts the whole frame, with request id 0, into *frame. On an error, which is kInvalidRequest,
// *frame is not to be sent.
template <typename Message>
absl::Status EncodeRequest(protocol::Operation operation, const Message& message,
                           std::string* frame) {
  request_frame_internal::LengthCheck check;
  Message::Fields(message, check);
  if (!check.too_long.empty()) return request_frame_internal::TooLong(check.too_long);
  frame->clear();
  protocol::AppendFrame(static_cast<uint8_t>(operation), protocol::FrameKind::kRequest, 0, message,
                        frame);
  const size_t payload_bytes = frame->size() - protocol::kHeaderBytes;
  if (payload_bytes > protocol::kPayloadBytesMax) {
    return request_frame_internal::TooLarge(payload_bytes);
  }
  return absl::OkStatus();
}

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_REQUEST_FRAME_H_
