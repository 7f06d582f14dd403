#include "client/request_frame.h"

namespace anteroom::client::request_frame_internal {

absl::Status TooLong(std::string_view field) {
  return ToStatus({FailureCause::kInvalidRequest, false,
                   protocol::Refuse(protocol::ErrorCode::kInvalid,
                                    std::string(field) + " is longer than a message can carry")});
}

absl::Status TooLarge(size_t payload_bytes) {
  return ToStatus(
      {FailureCause::kInvalidRequest, false,
       protocol::Refuse(protocol::ErrorCode::kTooLarge,
                        "the request takes " + std::to_string(payload_bytes) + " bytes; at most " +
                            std::to_string(protocol::kPayloadBytesMax) + " are sent at once")});
}

}  // namespace anteroom::client::request_frame_internal
