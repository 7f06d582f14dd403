// Every message of the protocol. Requests borrow their text from the bytes they were decoded from;
// replies own it. The order of fields is the wire's: append optional fields only.
// PROTOCOL.md has each with a worked example.
#ifndef ANTEROOM_PROTOCOL_MESSAGES_H_
#define ANTEROOM_PROTOCOL_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/codec.h"
#include "protocol/kinds.h"
#include "protocol/refusal.h"
#include "protocol/settings.h"

namespace anteroom::protocol {

// Every message begins with a presence bitmap, also one that has no optional field yet: a later one
// then has room. Empty is no bytes, and RefusedCount is a value that stays as it is.
#define ANTEROOM_FIELDS(...)                  \
  static constexpr size_t kPresenceBytes = 1; \
  ANTEROOM_VALUE_FIELDS(__VA_ARGS__)
#define ANTEROOM_VALUE_FIELDS(...)                                                    \
  template <typename Self, typename Visitor>                                          \
  static void Fields([[maybe_unused]] Self& self, [[maybe_unused]] Visitor&& visit) { \
    __VA_ARGS__                                                                       \
  }
#define ANTEROOM_FIELD(name) visit(#name, self.name);

// A message without fields.
struct Empty {
  ANTEROOM_VALUE_FIELDS()
};

// ---- connection ----

inline constexpr uint32_t kHelloMagic = 0x52544e41;  // "ANTR"
inline constexpr uint16_t kVersionMin = 1;
inline constexpr uint16_t kVersionMax = 1;

// The first frame of a connection. The daemon picks the highest version that both know.
struct HelloRequest {
  uint32_t magic = kHelloMagic;
  uint16_t version_min = kVersionMin;
  uint16_t version_max = kVersionMax;
  std::optional<std::string_view> key_id = std::nullopt;  // the credentials it will prove to have
  ANTEROOM_FIELDS(ANTEROOM_FIELD(magic) ANTEROOM_FIELD(version_min) ANTEROOM_FIELD(version_max)
                      ANTEROOM_FIELD(key_id))
};

struct HelloReply {
  uint16_t version = kVersionMax;
  std::string server;  // "anteroomd 0.1.0"
  // kNonceBytes; when a key_id was said to a daemon that asks for credentials.
  std::optional<std::string> challenge = std::nullopt;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(version) ANTEROOM_FIELD(server) ANTEROOM_FIELD(challenge))
};

// Proofs are those of protocol/proof.h.
struct AuthenticateRequest {
  std::string_view nonce;  // kNonceBytes of the client's
  std::string_view proof;  // kProofBytes
  ANTEROOM_FIELDS(ANTEROOM_FIELD(nonce) ANTEROOM_FIELD(proof))
};

struct AuthenticateReply {
  std::string proof;  // kProofBytes: the daemon knows the secret too
  ANTEROOM_FIELDS(ANTEROOM_FIELD(proof))
};

// ---- visitors ----

struct JoinRequest {
  std::string_view room;
  std::string_view visitor;
  std::optional<uint8_t> lane;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(lane))
};

struct VisitorRequest {
  std::string_view room;
  std::string_view visitor;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitor))
};

struct TokenRequest {
  std::string_view room;
  std::string_view visitor;
  std::string_view token;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(token))
};

struct FinishRequest {
  std::string_view room;
  std::string_view visitor;
  std::optional<std::string_view> token;
  std::optional<Outcome> outcome;  // cancelled unless said
  std::optional<uint32_t> units =
      std::nullopt;  // completed: taken from the room's stock; 1 unless said
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(token)
                      ANTEROOM_FIELD(outcome) ANTEROOM_FIELD(units))
};

struct RevokeRequest {
  std::string_view room;
  std::string_view visitor;
  std::optional<int64_t> block_ms;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(block_ms))
};

// The one shape of a reply about a visitor. What does not apply is absent, never 0.
struct VisitorReply {
  static constexpr size_t kPresenceBytes = 3;

  // Not a default one: `VisitorReply()` would first zero the whole, at half the price of a status.
  VisitorReply() {}

  State state = State::kWaiting;
  std::optional<uint64_t> position;  // ahead + 1
  std::optional<uint64_t> ahead;     // people before this one, from 0
  std::optional<uint64_t> waiting;   // length of the line
  std::optional<uint64_t> eta_ms;
  std::optional<uint64_t> eta_low_ms;
  std::optional<uint64_t> eta_high_ms;
  std::optional<uint32_t> poll_after_ms;
  std::optional<Token> token;
  std::optional<uint64_t> expires_in_ms;
  std::optional<Reason> reason;
  std::optional<Mode> mode;
  std::optional<uint64_t> opens_in_ms;
  std::optional<LongText> notice;
  std::optional<uint64_t> arrival;
  std::optional<uint64_t> admission;
  std::optional<uint64_t> at_ms;  // engine time at which the state began
  std::optional<bool> late;       // completed after the session had run out
  ANTEROOM_VALUE_FIELDS(ANTEROOM_FIELD(state) ANTEROOM_FIELD(position) ANTEROOM_FIELD(ahead)
                            ANTEROOM_FIELD(waiting) ANTEROOM_FIELD(eta_ms)
                                ANTEROOM_FIELD(eta_low_ms) ANTEROOM_FIELD(eta_high_ms)
                                    ANTEROOM_FIELD(poll_after_ms) ANTEROOM_FIELD(token)
                                        ANTEROOM_FIELD(expires_in_ms) ANTEROOM_FIELD(reason)
                                            ANTEROOM_FIELD(mode) ANTEROOM_FIELD(opens_in_ms)
                                                ANTEROOM_FIELD(notice) ANTEROOM_FIELD(arrival)
                                                    ANTEROOM_FIELD(admission) ANTEROOM_FIELD(at_ms)
                                                        ANTEROOM_FIELD(late))
};

// One visitor among several, with the same shape.
struct VisitorEntry {
  std::string visitor;
  uint8_t lane = 0;
  VisitorReply reply;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(lane) ANTEROOM_FIELD(reply))
};

// ---- batches: worked in order, each item with its own result ----

struct JoinManyRequest {
  std::vector<JoinRequest> items;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(items))
};

struct StatusManyRequest {
  std::vector<VisitorRequest> items;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(items))
};

// Exactly one of the two is present; anything else is malformed.
struct VisitorResult {
  std::optional<VisitorReply> reply;
  std::optional<Refusal> refusal;
  bool well_formed() const { return reply.has_value() != refusal.has_value(); }
  ANTEROOM_FIELDS(ANTEROOM_FIELD(reply) ANTEROOM_FIELD(refusal))
};

struct VisitorResults {
  std::vector<VisitorResult> items;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(items))
};

// ---- admissions by the operator ----

struct AdmitRequest {
  std::string_view room;
  uint32_t count = 0;
  std::optional<std::string_view> key;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(count) ANTEROOM_FIELD(key))
};

struct AdmittedVisitor {
  std::string visitor;
  uint64_t admission = 0;
  Token token;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(admission) ANTEROOM_FIELD(token))
};

struct AdmitReply {
  uint32_t count = 0;                       // people let in, consecutive admission numbers
  std::optional<uint64_t> first_admission;  // absent when nobody was
  // Those let in; on a repeated key those of them who are still inside.
  std::vector<AdmittedVisitor> admitted;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(count) ANTEROOM_FIELD(first_admission) ANTEROOM_FIELD(admitted))
};

struct AdmitVisitorRequest {
  std::string_view room;
  std::string_view visitor;
  bool over = false;  // even beyond capacity
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(over))
};

// ---- rooms ----

struct RoomRequest {
  std::string_view room;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room))
};

struct RoomCreateRequest {
  std::string_view room;
  RoomSettings settings;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(settings))
};

struct RoomSetRequest {
  std::string_view room;
  RoomSettings settings;
  std::optional<uint64_t> if_revision;  // refused as `conflict` when the room's is another
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(settings) ANTEROOM_FIELD(if_revision))
};

struct RoomDeleteRequest {
  std::string_view room;
  bool force = false;  // even with people in it
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(force))
};

struct RefusedCount {
  ErrorCode error = ErrorCode::kInvalid;
  uint64_t count = 0;
  ANTEROOM_VALUE_FIELDS(ANTEROOM_FIELD(error) ANTEROOM_FIELD(count))
};

// Present counts are what the structures hold. Cumulative ones count from the room's creation or
// last reset; refusals, which change nothing and are not in the log, from the daemon's start.
struct Counts {
  uint64_t waiting = 0;
  uint64_t admitted = 0;
  uint64_t active = 0;
  uint64_t occupied = 0;
  uint64_t joined_total = 0;
  uint64_t admitted_total = 0;
  uint64_t claimed_total = 0;
  uint64_t completed_total = 0;
  uint64_t cancelled_total = 0;
  uint64_t no_show_total = 0;
  uint64_t expired_total = 0;
  uint64_t left_total = 0;
  uint64_t revoked_total = 0;
  std::vector<RefusedCount> refused_total;
  // Of a room that has had a stock: units that were there, and beyond what was there.
  std::optional<uint64_t> sold_units_total;
  std::optional<uint64_t> oversold_units_total;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(waiting) ANTEROOM_FIELD(admitted) ANTEROOM_FIELD(active)
                      ANTEROOM_FIELD(occupied) ANTEROOM_FIELD(joined_total)
                          ANTEROOM_FIELD(admitted_total) ANTEROOM_FIELD(claimed_total)
                              ANTEROOM_FIELD(completed_total) ANTEROOM_FIELD(cancelled_total)
                                  ANTEROOM_FIELD(no_show_total) ANTEROOM_FIELD(expired_total)
                                      ANTEROOM_FIELD(left_total) ANTEROOM_FIELD(revoked_total)
                                          ANTEROOM_FIELD(refused_total)
                                              ANTEROOM_FIELD(sold_units_total)
                                                  ANTEROOM_FIELD(oversold_units_total))
};

struct RoomReply {
  std::string room;
  uint64_t revision = 0;  // counts the changes of the settings, from 1
  RoomSettings settings;  // all of them
  Counts counts;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(revision) ANTEROOM_FIELD(settings)
                      ANTEROOM_FIELD(counts))
};

struct RoomListRequest {
  std::string_view after;  // the last name already seen; empty to begin
  uint32_t count = 0;      // at most kPageItemsMax
  ANTEROOM_FIELDS(ANTEROOM_FIELD(after) ANTEROOM_FIELD(count))
};

struct RoomListReply {
  std::vector<RoomReply> rooms;  // by name
  bool more = false;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(rooms) ANTEROOM_FIELD(more))
};

// ---- who is there ----

struct PageRequest {
  std::string_view room;
  uint64_t from = 0;   // peek: people ahead, from 0; inside: an admission number
  uint32_t count = 0;  // at most kPageItemsMax
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(from) ANTEROOM_FIELD(count))
};

struct PageReply {
  std::vector<VisitorEntry> items;
  std::optional<uint64_t> next;  // where to go on; absent at the end
  ANTEROOM_FIELDS(ANTEROOM_FIELD(items) ANTEROOM_FIELD(next))
};

// ---- watches ----

// Pushes (VisitorPush) carry this request's id. Begins with the present state of each.
struct WatchRequest {
  std::string_view room;
  std::vector<std::string_view> visitors;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(visitors))
};

struct UnwatchRequest {
  uint32_t watch_id = 0;  // the request id of the watch
  ANTEROOM_FIELDS(ANTEROOM_FIELD(watch_id))
};

// Exactly one of reply and refusal is present; anything else is malformed. A refusal ends the watch
// of this visitor.
struct VisitorPush {
  std::string visitor;
  std::optional<VisitorReply> reply;
  std::optional<Refusal> refusal;
  bool well_formed() const { return reply.has_value() != refusal.has_value(); }
  ANTEROOM_FIELDS(ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(reply) ANTEROOM_FIELD(refusal))
};

// Somebody's state began.
struct RoomEvent {
  std::string visitor;
  State state = State::kWaiting;
  std::optional<Reason> reason;       // ended: how; waiting: kNoShow when back in line
  std::optional<uint64_t> arrival;    // waiting: the place is that of (lane, arrival)
  std::optional<uint8_t> lane;        // waiting
  std::optional<uint64_t> admission;  // admitted, active, ended from there
  uint64_t at_ms = 0;                 // engine time
  ANTEROOM_FIELDS(ANTEROOM_FIELD(visitor) ANTEROOM_FIELD(state) ANTEROOM_FIELD(reason)
                      ANTEROOM_FIELD(arrival) ANTEROOM_FIELD(lane) ANTEROOM_FIELD(admission)
                          ANTEROOM_FIELD(at_ms))
};

// What a watch of a room pushes, in the order in which it came about: events that could not be
// told, events, and what the room was after them. At least one of the last two.
struct RoomPush {
  std::optional<uint64_t> missed;
  std::vector<RoomEvent> events;  // at most kRoomEventsMax
  std::optional<RoomReply> room;
  bool well_formed() const { return (room.has_value() || !events.empty()) && missed != 0u; }
  ANTEROOM_FIELDS(ANTEROOM_FIELD(missed) ANTEROOM_FIELD(events) ANTEROOM_FIELD(room))
};

// ---- the daemon ----

struct PingReply {
  uint64_t at_ms = 0;  // engine time
  ANTEROOM_FIELDS(ANTEROOM_FIELD(at_ms))
};

// How many of them took at most so long.
struct LatencyBucket {
  uint32_t at_most_us = 0;
  uint64_t count = 0;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(at_most_us) ANTEROOM_FIELD(count))
};

// How long something took, since the daemon's start.
struct Latencies {
  uint64_t count = 0;  // of all, those beyond the last bucket too
  uint64_t sum_us = 0;
  std::vector<LatencyBucket> buckets;  // by at_most_us; each counts those of the one before too
  ANTEROOM_FIELDS(ANTEROOM_FIELD(count) ANTEROOM_FIELD(sum_us) ANTEROOM_FIELD(buckets))
};

struct HealthReply {
  std::string version;
  std::string role;        // "leader"
  std::string status;      // "ok", "disk_full", "disk_slow", "memory_full", "stopping"
  std::string durability;  // "commit", "interval", "none"
  // "ok"; "failing": none can be made, tried every minute; "stopped": the log does not give its own
  // state; "log_stays": what they cover can be neither removed nor archived, tried every minute
  std::string snapshots;
  bool virtual_clock = false;
  uint64_t at_ms = 0;  // engine time
  uint64_t uptime_ms = 0;
  uint64_t sequence = 0;          // last record
  uint64_t durable_sequence = 0;  // last record on disk
  uint64_t log_bytes = 0;
  uint64_t reserved_bytes = 0;               // log space already had
  std::optional<uint64_t> reserved_minutes;  // how long that lasts at the present rate of writing
  uint64_t disk_free_bytes = 0;
  std::optional<uint64_t> sync_p50_us;
  std::optional<uint64_t> sync_p99_us;
  uint64_t connections = 0;
  uint64_t watches = 0;
  std::optional<uint64_t> memory_bytes;  // of people, rooms, watches and connections
  std::optional<uint64_t> memory_max_bytes;
  std::optional<Latencies> syncs;    // each write and sync of the log
  std::optional<Latencies> answers;  // from the turn that took a request to its answer's leaving
  ANTEROOM_FIELDS(
      ANTEROOM_FIELD(version) ANTEROOM_FIELD(role) ANTEROOM_FIELD(status) ANTEROOM_FIELD(durability)
          ANTEROOM_FIELD(snapshots) ANTEROOM_FIELD(virtual_clock) ANTEROOM_FIELD(at_ms)
              ANTEROOM_FIELD(uptime_ms) ANTEROOM_FIELD(sequence) ANTEROOM_FIELD(durable_sequence)
                  ANTEROOM_FIELD(log_bytes) ANTEROOM_FIELD(reserved_bytes)
                      ANTEROOM_FIELD(reserved_minutes) ANTEROOM_FIELD(disk_free_bytes)
                          ANTEROOM_FIELD(sync_p50_us) ANTEROOM_FIELD(sync_p99_us)
                              ANTEROOM_FIELD(connections) ANTEROOM_FIELD(watches)
                                  ANTEROOM_FIELD(memory_bytes) ANTEROOM_FIELD(memory_max_bytes)
                                      ANTEROOM_FIELD(syncs) ANTEROOM_FIELD(answers))
};

struct StatsRequest {
  std::optional<std::string_view> room;  // absent: all rooms together
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room))
};

struct StatsReply {
  std::optional<std::string> room;
  uint64_t rooms = 0;
  Counts counts;
  // Over the last ten seconds of the loop's time, in thousandths.
  uint64_t joins_per_s_milli = 0;
  uint64_t admissions_per_s_milli = 0;
  uint64_t requests_per_s_milli = 0;  // of the whole daemon
  ANTEROOM_FIELDS(ANTEROOM_FIELD(room) ANTEROOM_FIELD(rooms) ANTEROOM_FIELD(counts)
                      ANTEROOM_FIELD(joins_per_s_milli) ANTEROOM_FIELD(admissions_per_s_milli)
                          ANTEROOM_FIELD(requests_per_s_milli))
};

// Moves a virtual clock, stopping at every due moment on the way; refused on a real one.
struct ClockAdvanceRequest {
  int64_t duration_ms = 0;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(duration_ms))
};

struct ClockReply {
  uint64_t at_ms = 0;
  ANTEROOM_FIELDS(ANTEROOM_FIELD(at_ms))
};

// Ids of keys are no secret.
struct TokenKeyReply {
  uint32_t key_id = 0;
  uint64_t first_admission = 0;  // admissions from this one on use the key
  ANTEROOM_FIELDS(ANTEROOM_FIELD(key_id) ANTEROOM_FIELD(first_admission))
};

#undef ANTEROOM_FIELD
#undef ANTEROOM_FIELDS
#undef ANTEROOM_VALUE_FIELDS

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_MESSAGES_H_
