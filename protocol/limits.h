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

// Credentials: the name that a client goes by, its secret as text, and what the two ends exchange
// to prove it. A secret fits into one block of SHA-256, so that a proof is the same work for each.
inline constexpr size_t kCredentialNameBytesMax = 64;
inline constexpr size_t kSecretCharsMin = 32;
inline constexpr size_t kSecretCharsMax = 64;
inline constexpr size_t kNonceBytes = 16;
inline constexpr size_t kProofBytes = 32;
// Of a file of credentials: far above any number of clients; a larger file is something else.
inline constexpr size_t kCredentialsFileBytesMax = size_t{1} << 20;

// The lane of a visitor whose lane is not said; 0 is first, 255 last.
inline constexpr uint8_t kLaneDefault = 128;

// Payload of one frame, either way. A frame that claims more closes the connection.
inline constexpr size_t kPayloadBytesMax = size_t{1} << 20;

inline constexpr size_t kBatchItemsMax = 1000;
inline constexpr size_t kAdmitCountMax = 1000;
inline constexpr size_t kPageItemsMax = 1000;
// Units of a stock that one finish takes.
inline constexpr uint32_t kFinishUnitsMax = 1'000'000;
inline constexpr size_t kWatchVisitorsMax = 1000;
// Events of one push of a room.
inline constexpr size_t kRoomEventsMax = 1000;

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_LIMITS_H_
