// Limits of the client's queues, buffers and tables. The wire's own are in protocol/limits.h.
#ifndef ANTEROOM_CLIENT_LIMITS_H_
#define ANTEROOM_CLIENT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace anteroom::client {

// Requests sent or waiting to be sent, of one client. The default, and the most it can be set to.
inline constexpr size_t kRequestsInFlightDefault = 16384;
inline constexpr size_t kRequestsInFlightMax = 262144;

// Bytes accepted for sending and not yet taken by the kernel; beyond it calls fail at once.
inline constexpr size_t kOutputBytesMax = size_t{64} << 20;

// What one turn of the loop reads from the connection, so that the caller's other handles get their
// share of the loop.
inline constexpr size_t kReadBytesPerTurnMax = size_t{1} << 20;
inline constexpr size_t kReadBytesAtOnce = size_t{64} << 10;

// Sizes at which an emptied buffer is given back rather than kept.
inline constexpr size_t kIdleBufferBytesMax = size_t{1} << 20;

// Live watches of one client.
inline constexpr size_t kWatchesMax = 10000;

// Finishes that wait for the daemon: the default, the most it can be set to, and how many are under
// way at once.
inline constexpr size_t kFinishLaterDefault = 10000;
inline constexpr size_t kFinishLaterMax = 1000000;
inline constexpr size_t kFinishLaterInFlightMax = 64;

// Addresses of one client, and socket addresses that one host name may stand for.
inline constexpr size_t kAddressesMax = 64;
inline constexpr size_t kResolvedAddressesMax = 16;

// The longest deadline, time-out or delay that is taken: one day.
inline constexpr int64_t kDelayMsMax = int64_t{24} * 3600 * 1000;

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_LIMITS_H_
