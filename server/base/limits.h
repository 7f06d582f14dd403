#ifndef ANTEROOM_SERVER_BASE_LIMITS_H_
#define ANTEROOM_SERVER_BASE_LIMITS_H_

// Every bound of the server's queues, buffers and tables, each with its unit in its name and the
// reason for its value. Nothing in the server may grow without a name here. What stands on the wire
// (lengths of names and ids, frames) is in protocol/limits.h, what bounds the client library in
// client/limits.h.
//
// Raising a number here is always safe for the files on disk and for peers; where it is not, the
// constant says so.

#include <cstddef>
#include <cstdint>

namespace anteroom::limits {

// --- engine ---

// Rooms that exist at a time. A room costs some hundreds of bytes and a name.
inline constexpr size_t kRoomsMax = 1'000'000;
// People waiting or inside, all rooms together; some 60 bytes each, twice that inside, and the rest
// of an id beyond 16 bytes.
inline constexpr size_t kVisitorsMax = 100'000'000;
// Ended visitors remembered in a room; the oldest goes first.
inline constexpr size_t kMemoriesPerRoomMax = 100'000;
// The newest memories of one visitor in a room that are gone through to tell whose a token is.
// Beyond them an ended one is a wrong one.
inline constexpr size_t kMemoriesComparedMax = 1000;
// People kept out of a room at a time.
inline constexpr size_t kBlocksPerRoomMax = 100'000;
// Admissions by key that a room remembers; the oldest goes first.
inline constexpr size_t kAdmitKeysPerRoomMax = 1000;
// Keys that tokens were ever made with, and ranges of admissions that each was used for. Rotated
// every day, that is three years; a key costs a line of the file and some hundred bytes.
inline constexpr size_t kTokenKeysMax = 1000;
// What one record does at most besides its own work, so that no record takes long: deadlines
// handled, people admitted, entries of deleted rooms freed. The format of the log depends on these:
// a log replayed with other numbers gives another state.
inline constexpr size_t kDuePerRecordMax = 256;
inline constexpr size_t kAdmissionsPerRecordMax = 256;
inline constexpr size_t kFreedPerRecordMax = 256;
// Visitors given a soft deadline in one turn, when a room begins to ask for signs of life.
inline constexpr size_t kSoftSweepPerTurn = 8192;
// Soft deadlines looked at in one turn.
inline constexpr size_t kSoftDuePerTurn = 1024;

// --- storage ---

// Buffers of written frames kept for the next ones (each up to a frame of 1 MiB): more would keep
// the memory of one bad second for ever.
inline constexpr size_t kLogSpareBuffersMax = 4;
// Of the file `secrets`: far above any number of keys; a larger file is not ours.
inline constexpr uint64_t kSecretsBytesMax = 1u << 20;

// --- net ---

// Connections at a time, unless --max-connections or the process's descriptors allow fewer.
inline constexpr size_t kConnectionsMax = 19'000;
// Descriptors kept for everything that is not a client: the log, listeners, the loop's own.
inline constexpr size_t kDescriptorsReserved = 128;
// Connections beyond the limit that are being told so. More than these are closed without a word.
inline constexpr size_t kRefusedConnectionsMax = 32;
// Connections waiting in the kernel to be accepted.
inline constexpr int kListenBacklog = 4096;

// Of one connection's input: the first buffer, which is all that a stranger costs before HELLO and
// the proof of credentials, and the most, which a frame of the largest size must fit into.
inline constexpr size_t kInputBytesMin = 1024;
inline constexpr size_t kHelloPayloadBytesMax = 512;
inline constexpr size_t kInputBytesMax = (size_t{1} << 20) + 4096;
// Wrong proofs of one connection; with the last of them it is closed.
inline constexpr int kWrongProofsMax = 3;
// A connection is not read from while this much of its input has not been worked.
inline constexpr size_t kInputUnworkedBytesMax = 128 * 1024;
// An emptied buffer larger than this is given back.
inline constexpr size_t kIdleBufferBytesMax = 64 * 1024;
// Requests worked in one turn: of one connection, so that its neighbours stay fast, and of all, so
// that no turn is long. Each item of a batch counts.
inline constexpr size_t kRequestsPerConnectionTurn = 512;
inline constexpr size_t kRequestsPerTurn = 8192;
// Requests decoded and prefetched together. More would push the first ones out of the cache.
inline constexpr size_t kRequestsPerChunk = 32;

// Output of one connection that nobody has read yet. Over the high water it is not read from and
// gets no pushes; over the most it is closed.
inline constexpr size_t kOutputBytesHigh = 256 * 1024;
inline constexpr size_t kOutputBytesMax = 64 << 20;

// How long a connection may take: to say HELLO and prove its credentials, to finish a frame once
// begun, to read anything of its output, and, once closing, to read the last of it.
inline constexpr uint64_t kHelloMsMax = 10'000;
inline constexpr uint64_t kFrameMsMax = 30'000;
inline constexpr uint64_t kOutputStalledMsMax = 60'000;
inline constexpr uint64_t kLingerMsMax = 1'000;
// A peer that is silent for so long is asked by the kernel whether it is still there.
inline constexpr unsigned kKeepaliveSeconds = 60;

// Visitors watched, each watch of a room counted as one: of one connection and of all.
inline constexpr size_t kWatchedPerConnectionMax = 250'000;
inline constexpr size_t kWatchedMax = 1'000'000;
// Pushes built in one turn; the rest in the next ones.
inline constexpr size_t kPushesPerTurn = 1024;
// Events of watched rooms that wait for the end of the turn, all rooms together, so that they go
// out in one push; when there are so many, they are pushed at once. Fits into one push.
inline constexpr size_t kRoomEventsGatheredMax = 1000;
// Events of rooms told in one turn, those of each subscriber counted; what is beyond is missed by
// whom it would have been told. A connection's own output takes a third of it.
inline constexpr size_t kRoomEventsToldPerTurn = 16384;
// Watched visitors passed over in one turn when a watch ends or its room changes.
inline constexpr size_t kWatchStepsPerTurn = 4096;

// --- app ---

// Log bytes staged or being written and not yet on disk. Beyond it changes are refused and the
// engine's clock stands still until the disk has caught up.
inline constexpr size_t kUndurableBytesMax = size_t{256} << 20;
// Of the reserved log space: what is kept free for what is under way when it is looked at.
inline constexpr uint64_t kLogMarginBytes = 64 * 1024;
// How often space that was not to be had is asked for again.
inline constexpr uint64_t kPrepareRetryMs = 1000;
// Syncs whose times health's percentiles are taken from.
inline constexpr size_t kSyncTimesKept = 1024;
// With durability none and interval: batches are begun at most so often, or when there is a frame's
// worth of them.
inline constexpr uint64_t kBackgroundBatchMs = 20;
inline constexpr size_t kBackgroundBatchBytes = 512 * 1024;
// Engine turns of one clock advance worked in one turn of the loop, and advances that wait.
inline constexpr size_t kAdvanceStepsPerTurn = 256;
inline constexpr size_t kAdvancesWaitingMax = 1000;
// Rotations of the tokens' key that wait for the one being written.
inline constexpr size_t kTokenKeyRotationsWaitingMax = 16;
// From a signal to the end of the process.
inline constexpr uint64_t kStopMsMax = 5'000;
// Of that, for peers to close their side once all is said.
inline constexpr uint64_t kStopLingerMsMax = 200;

}  // namespace anteroom::limits

#endif  // ANTEROOM_SERVER_BASE_LIMITS_H_
