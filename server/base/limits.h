#ifndef ANTEROOM_SERVER_BASE_LIMITS_H_
#define ANTEROOM_SERVER_BASE_LIMITS_H_

// Every bound of the server's queues, buffers and tables, each with its unit in its name and the
// reason for its value. Nothing in the server may grow without a name here. What stands on the wire
// (lengths of names and ids, frames) is in protocol/limits.h, what bounds the client library in
// client/limits.h.
//
// Raising a number here is always safe for the files on disk and for peers; where it is not, the
// constant says so.
//
// The table ANTEROOM_LIMITS at the end is of those that the operator of a daemon sets, each by a
// flag: it makes the members of Limits, the flags, their checks and their part of --help. Nothing
// of it decides what a record of the log does: who would go beyond a limit is refused before there
// is a record, so a log is replayed to the same state whatever the flags say, and a directory that
// holds more than they allow opens. The engine's own bounds stand behind them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anteroom {
namespace limits {

// --- engine ---

// Rooms that exist at a time. A room costs some 2 KiB.
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

// Descriptors kept for everything that is not a client: the log, listeners, the loop's own.
inline constexpr size_t kDescriptorsReserved = 128;
// Connections beyond the limit that are being told so. More than these are closed without a word.
inline constexpr size_t kRefusedConnectionsMax = 32;
// Connections waiting in the kernel to be accepted.
inline constexpr int kListenBacklog = 4096;

// Of one connection's input: the first buffer, which is all that a stranger costs before HELLO and
// the proof of credentials as long as max-hello-bytes fits into it, and the most, which a frame of
// the largest size must fit into.
inline constexpr size_t kInputBytesMin = 1024;
inline constexpr size_t kInputBytesMax = (size_t{1} << 20) + 4096;
// Wrong proofs of one connection; with the last of them it is closed.
inline constexpr int kWrongProofsMax = 3;
// An emptied buffer of input larger than this is given back at once, one below it when its
// connection has been quiet for a second or two.
inline constexpr size_t kIdleBufferBytesMax = 64 * 1024;
// The same of output. Small: what is kept for a second between connections that stay leaves holes
// that nobody can use when it goes, while what goes at once is what the next connection takes.
inline constexpr size_t kIdleOutputBytesMax = 256;
// Memory that connections have let go of is given to the system when there is so much of it, and at
// most so often: that takes some milliseconds when thousands have gone, and under a crowd that
// comes and goes it would only be asked for again. Not much, for the last few of a crowd, scattered
// over what it had, keep a page each.
inline constexpr size_t kTrimBytesMin = 16 * 1024;
inline constexpr uint64_t kTrimPauseMs = 5'000;
// Requests decoded and prefetched together. More would push the first ones out of the cache.
inline constexpr size_t kRequestsPerChunk = 32;

// How long a connection may take to read anything of its output, and, once closing, to read the
// last of it.
inline constexpr uint64_t kOutputStalledMsMax = 60'000;
inline constexpr uint64_t kLingerMsMax = 1'000;
// A peer that is silent for so long is asked by the kernel whether it is still there.
inline constexpr unsigned kKeepaliveSeconds = 60;

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
// Turns with requests whose answers wait for the disk; further ones are timed together.
inline constexpr size_t kTurnsTimedMax = 4096;
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

// The operator who was told that memory is full is told that it is not when one part in so many of
// the limit is free.
inline constexpr uint64_t kMemoryFreeShare = 20;

// What --max-memory is unless it is said: as much as the machine makes sensible.
inline constexpr uint64_t kMemoryOfMachine = UINT64_MAX;

}  // namespace limits

enum class LimitUnit : uint8_t { kCount, kBytes, kMs };

// Each limit that a flag sets, in the order of --help:
// X(member, unit, flag, default, smallest, largest, help)
//
// Connections: a process has 20,000 descriptors on many machines, and each connection takes one.
// Time to HELLO and for a frame: looked at every second.
// Input: the largest still fits into a buffer. Output: the smallest of the most is two frames.
// Requests: each item of a batch counts as one, and each that a page asks for.
// Watches: each visitor watched is one, and each watch of a room.
#define ANTEROOM_LIMITS(X)                                                                         \
  X(connections, kCount, "max-connections", 19'000, 1, 1'000'000,                                  \
    "Most connections at a time; further ones are closed, and told `unavailable` "                 \
    "(too_many_connections) unless very many come at once. Never more than the process has "       \
    "descriptors for (ulimit -n).")                                                                \
  X(hello_bytes, kBytes, "max-hello-bytes", 512, 256, 64 << 10,                                    \
    "Longest frame of who has not said HELLO yet, or not proven their credentials.")               \
  X(hello_ms, kMs, "max-hello-time", 10'000, 100, 3'600'000,                                       \
    "Who has not said HELLO by then, or not proven their credentials, is closed.")                 \
  X(frame_ms, kMs, "max-frame-time", 30'000, 100, 3'600'000,                                       \
    "Whose frame, once begun, is not complete by then is closed.")                                 \
  X(input_bytes, kBytes, "max-input-bytes", 128 << 10, 1 << 10, 1 << 20,                           \
    "Of one connection, sent and not worked yet; beyond it the connection is not read from. "      \
    "A single frame may be as long as the protocol allows.")                                       \
  X(output_high_bytes, kBytes, "max-unread-bytes", 256 << 10, 1 << 10, 64 << 20,                   \
    "Of one connection, answered and not read by it; beyond it no more requests are taken from "   \
    "it, and it gets no pushes until it reads.")                                                   \
  X(output_bytes, kBytes, "max-output-bytes", 64 << 20, 2 << 20, 1 << 30,                          \
    "As before, but it is closed. One turn can answer 32 frames of up to 1M at once.")             \
  X(connection_requests, kCount, "max-connection-requests", 512, 1, 1'000'000,                     \
    "Requests of one connection in one turn of the loop, so that its neighbours stay fast. Items " \
    "of batches and pages count.")                                                                 \
  X(requests, kCount, "max-requests", 8192, 1, 1'000'000,                                          \
    "Requests of all connections in one turn of the loop, so that no turn is long.")               \
  X(connection_watches, kCount, "max-connection-watches", 250'000, 1, 100'000'000,                 \
    "Visitors watched by one connection, a whole room counting as one. Beyond it `unavailable` "   \
    "(too_many_watches).")                                                                         \
  X(watches, kCount, "max-watches", 1'000'000, 1, 100'000'000,                                     \
    "The same, of all connections together.")                                                      \
  X(visitors, kCount, "max-visitors", limits::kVisitorsMax, 1, limits::kVisitorsMax,               \
    "People waiting or inside, of all rooms. Beyond it newcomers are told `unavailable` "          \
    "(too_many_visitors); everybody already here goes on.")                                        \
  X(rooms, kCount, "max-rooms", limits::kRoomsMax, 1, limits::kRoomsMax,                           \
    "Rooms; those deleted count until all is freed that they held. Beyond it `unavailable` "       \
    "(too_many_rooms).")                                                                           \
  X(memory_bytes, kBytes, "max-memory", limits::kMemoryOfMachine, 1 << 20, uint64_t{1} << 50,      \
    "What people, rooms, watches and connections take together (`anteroom health` says how much "  \
    "that is). Beyond it newcomers, new rooms and new blocks of who is not here are told "         \
    "`unavailable` (memory_full); everybody already here goes on, and newcomers are taken again "  \
    "when there is less. The process takes more: what was freed is kept for the next ones, and "   \
    "while a snapshot is made the state is there twice.")

// Every limit as one daemon has it.
struct Limits {
#define ANTEROOM_LIMIT(member, unit, flag, by_default, smallest, largest, help) \
  uint64_t member = by_default;
  ANTEROOM_LIMITS(ANTEROOM_LIMIT)
#undef ANTEROOM_LIMIT
};

// A row of the table.
struct LimitFlag {
  uint64_t Limits::*member;
  LimitUnit unit;
  std::string_view name;
  uint64_t by_default;
  uint64_t smallest;
  uint64_t largest;
  std::string_view help;
};

#define ANTEROOM_LIMIT(member, unit, flag, by_default, smallest, largest, help) \
  LimitFlag{&Limits::member, LimitUnit::unit, flag, by_default, smallest, largest, help},
inline constexpr auto kLimitFlags = std::to_array<LimitFlag>({ANTEROOM_LIMITS(ANTEROOM_LIMIT)});
#undef ANTEROOM_LIMIT

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_BASE_LIMITS_H_
