// Limits of the wire: what a peer may send at most. Both ends check them before anything is
// allocated; a value beyond one is answered `too_large` or `invalid`.
#ifndef ANTEROOM_PROTOCOL_LIMITS_H_
#define ANTEROOM_PROTOCOL_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace anteroom::protocol {

inline constexpr size_t kRoomNameBytesMax = 64;
inline constexpr size_t kVisitorIdBytesMax = 255;
inline constexpr size_t kAdmitKeyBytesMax = 64;
inline constexpr size_t kTokenChars = 22;

// The lane of a visitor whose lane is not said; 0 is first, 255 last.
inline constexpr uint8_t kLaneDefault = 128;

// Payload of one frame, either way. A frame that claims more closes the connection.
inline constexpr size_t kPayloadBytesMax = size_t{1} << 20;

inline constexpr size_t kBatchItemsMax = 1000;
inline constexpr size_t kAdmitCountMax = 1000;
inline constexpr size_t kPageItemsMax = 1000;
inline constexpr size_t kWatchVisitorsMax = 1000;
// Events of one push of a room.
inline constexpr size_t kRoomEventsMax = 1000;

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_LIMITS_H_
