// Bounds of the rehearsal's buffers and tables.
#ifndef ANTEROOM_TOOLS_REHEARSE_LIMITS_H_
#define ANTEROOM_TOOLS_REHEARSE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace anteroom::tools {

// A longer line of a file is unreadable. Request lines are at most 8 KiB in common servers.
inline constexpr size_t kLineBytesMax = size_t{64} << 10;

// Lines looked at to tell what kind of file it is; beyond them it is taken for an access log.
inline constexpr size_t kRecogniseLinesMax = 1000;

// Requests of one unit of a count file; a larger number is unreadable. The busiest minute of the
// World Cup of 1998 had 229,426.
inline constexpr uint64_t kRequestsPerUnitMax = 1'000'000'000;

// Servers write a request when it is done, stamped with when it began: so far back a line may lie
// and still take its place in the order of time. One further back arrives with its neighbours.
inline constexpr int64_t kReorderSecondsMax = 300;
// First requests held for that; when there are more, the oldest goes on early.
inline constexpr size_t kReorderRequestsMax = 1'000'000;

// Joins of one message, and joins that have no answer yet; beyond it arrivals wait for the daemon.
inline constexpr size_t kJoinBatchMax = 250;
inline constexpr size_t kJoinsInFlightMax = 4000;

// People in the room at a time, about 300 bytes each; beyond it arrivals wait.
inline constexpr size_t kPresentMax = 4'000'000;

// People watched at a time, below what the daemon grants one connection. In a longer line those
// nearest the door are watched, the others when they come nearer.
inline constexpr size_t kWatchedMax = 200'000;

// Watches at which those with few people left in them are put together.
inline constexpr size_t kWatchesBeforeMerge = 64;

// Watches opened at once when places among the watched have become free.
inline constexpr size_t kWatchRefillMin = 1000;

// Requests under way while the crowd is sent home, and how long that may take.
inline constexpr size_t kGoingHomeInFlightMax = 1000;
inline constexpr int64_t kGoingHomeMsMax = 10000;

// A request that the daemon could not serve just now is made again no sooner than this.
inline constexpr int64_t kRetryMsMin = 200;

// Violations that are told one by one; all are counted.
inline constexpr size_t kViolationsTold = 10;

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_LIMITS_H_
