// Frames: the header in front of every message, both ways.
//
//   offset  size  field
//   0       4     payload_bytes   length of what follows the header
//   4       1     operation       number in the table of operations
//   5       1     kind            FrameKind
//   6       2     zero
//   8       4     request_id      chosen by the client, repeated in every frame that answers it
#ifndef ANTEROOM_PROTOCOL_FRAME_H_
#define ANTEROOM_PROTOCOL_FRAME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/bytes.h"
#include "protocol/codec.h"
#include "protocol/limits.h"

namespace anteroom::protocol {

inline constexpr size_t kHeaderBytes = 12;

enum class FrameKind : uint8_t {
  kRequest = 0,
  kReply = 1,    // the reply message of the operation
  kRefusal = 2,  // a Refusal
  kPush = 3,     // an event of a watch; more may follow
  kEnd = 4,      // the last event of a watch, a Refusal that says why
};

struct FrameHeader {
  uint32_t payload_bytes = 0;
  uint8_t operation = 0;
  FrameKind kind = FrameKind::kRequest;
  uint32_t request_id = 0;
};

enum class FrameStatus {
  kComplete,  // *header and *payload are set, *consumed bytes were used
  kPartial,   // more bytes are needed
  kTooLarge,  // the header claims a payload beyond kPayloadBytesMax: close the connection
  kInvalid,   // the header's fixed bytes are wrong: close the connection
};

// Takes the first frame off `bytes`. The header is checked as soon as it is there, so a length that
// is too large is known before any of its payload is waited for.
FrameStatus TakeFrame(std::string_view bytes, FrameHeader* header, std::string_view* payload,
                      size_t* consumed);

// What TakeFrame would say.
FrameStatus PeekFrame(std::string_view bytes);

// Another request id for the frame that begins at frame[0].
inline void SetRequestId(char* frame, uint32_t request_id) {
  std::memcpy(frame + kHeaderBytes - sizeof request_id, &request_id, sizeof request_id);
}

// Appends a whole frame with the bytes of `message` as its payload.
template <typename Message>
void AppendFrame(uint8_t operation, FrameKind kind, uint32_t request_id, const Message& message,
                 std::string* out) {
  const size_t start = out->size();
  ByteWriter writer(out);
  writer.Put(uint32_t{0});
  writer.Put(operation);
  writer.Put(static_cast<uint8_t>(kind));
  writer.Put(uint16_t{0});
  writer.Put(request_id);
  Encode(message, out);
  const auto payload_bytes = static_cast<uint32_t>(out->size() - start - kHeaderBytes);
  std::memcpy(out->data() + start, &payload_bytes, sizeof payload_bytes);
}

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_FRAME_H_
