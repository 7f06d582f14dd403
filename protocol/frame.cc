#include "protocol/frame.h"

namespace anteroom::protocol {

FrameStatus TakeFrame(std::string_view bytes, FrameHeader* header, std::string_view* payload,
                      size_t* consumed) {
  if (bytes.size() < kHeaderBytes) return FrameStatus::kPartial;
  ByteReader reader(bytes);
  header->payload_bytes = reader.Get<uint32_t>();
  header->operation = reader.Get<uint8_t>();
  const auto kind = reader.Get<uint8_t>();
  const auto zero = reader.Get<uint16_t>();
  header->request_id = reader.Get<uint32_t>();
  if (kind > static_cast<uint8_t>(FrameKind::kEnd) || zero != 0) return FrameStatus::kInvalid;
  header->kind = static_cast<FrameKind>(kind);
  if (header->payload_bytes > kPayloadBytesMax) return FrameStatus::kTooLarge;
  if (header->payload_bytes > reader.left_bytes()) return FrameStatus::kPartial;
  *payload = reader.GetBytes(header->payload_bytes);
  *consumed = kHeaderBytes + header->payload_bytes;
  return FrameStatus::kComplete;
}

FrameStatus PeekFrame(std::string_view bytes) {
  FrameHeader header;
  std::string_view payload;
  size_t consumed = 0;
  return TakeFrame(bytes, &header, &payload, &consumed);
}

}  // namespace anteroom::protocol
