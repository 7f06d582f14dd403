#include "tests/support/wire_examples.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "protocol/operations.h"
#include "protocol/proof.h"
#include "tests/support/annotated_hex.h"

namespace anteroom {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): the file is about nothing else

Token MakeToken(std::string_view chars) {
  Token token;
  std::copy_n(chars.begin(), std::min(chars.size(), kTokenChars), token.chars.begin());
  return token;
}

constexpr std::string_view kToken = "dGhlLXRva2VuLW9mLWFubg";

VisitorReply Waiting() {
  VisitorReply reply;
  reply.state = State::kWaiting;
  reply.position = 42;
  reply.ahead = 41;
  reply.waiting = 1200;
  reply.eta_ms = 820;
  reply.eta_low_ms = 700;
  reply.eta_high_ms = 1000;
  reply.poll_after_ms = 1000;
  reply.mode = Mode::kQueue;
  reply.arrival = 90041;
  reply.at_ms = 3'600'000;
  return reply;
}

VisitorReply Inside(State state, uint64_t expires_in_ms) {
  VisitorReply reply;
  reply.state = state;
  reply.token = MakeToken(kToken);
  reply.expires_in_ms = expires_in_ms;
  reply.mode = Mode::kQueue;
  reply.arrival = 90041;
  reply.admission = 70000;
  reply.at_ms = 3'600'820;
  return reply;
}

VisitorReply Ended(Reason reason) {
  VisitorReply reply;
  reply.state = State::kEnded;
  reply.reason = reason;
  reply.mode = Mode::kQueue;
  reply.admission = 70000;
  reply.at_ms = 3'660'000;
  return reply;
}

RoomReply Concert() {
  RoomReply reply;
  reply.room = "concert";
  reply.revision = 3;
  reply.settings = DefaultSettings();
  reply.settings.rate = Rate{50, 1000};
  reply.settings.capacity = Limit{100};
  reply.counts.waiting = 1200;
  reply.counts.admitted = 20;
  reply.counts.active = 80;
  reply.counts.occupied = 100;
  reply.counts.joined_total = 2000;
  reply.counts.admitted_total = 790;
  reply.counts.claimed_total = 760;
  reply.counts.completed_total = 600;
  reply.counts.cancelled_total = 50;
  reply.counts.no_show_total = 10;
  reply.counts.expired_total = 30;
  reply.counts.left_total = 8;
  reply.counts.revoked_total = 2;
  reply.counts.refused_total = {{ErrorCode::kLineFull, 17}, {ErrorCode::kBadToken, 2}};
  return reply;
}

HealthReply Healthy() {
  HealthReply reply;
  reply.version = "0.1.0";
  reply.role = "leader";
  reply.status = "ok";
  reply.durability = "commit";
  reply.snapshots = "ok";
  reply.virtual_clock = false;
  reply.at_ms = 3'600'820;
  reply.uptime_ms = 3'600'821;
  reply.sequence = 5000;
  reply.durable_sequence = 4998;
  reply.log_bytes = 200'000;
  reply.reserved_bytes = 134'017'728;
  reply.reserved_minutes = 900;
  reply.disk_free_bytes = 50'000'000'000;
  reply.sync_p50_us = 280;
  reply.sync_p99_us = 900;
  reply.connections = 3;
  reply.watches = 1;
  reply.memory_bytes = 1'200'000;
  reply.memory_max_bytes = 3'000'000'000;
  reply.syncs = {.count = 40, .sum_us = 12'000, .buckets = {{250, 12}, {500, 39}}};
  reply.answers = {.count = 5200, .sum_us = 2'600'000, .buckets = {{250, 20}, {500, 5100}}};
  return reply;
}

class Examples {
 public:
  template <Operation kOperation>
  void Request(const typename RequestOf<kOperation>::Message& message,
               std::string_view suffix = "") {
    ++request_id_;
    Add(kOperation, FrameKind::kRequest, message, suffix);
  }
  template <Operation kOperation>
  void Reply(const typename ReplyOf<kOperation>::Message& message) {
    Add(kOperation, FrameKind::kReply, message);
  }
  // Of the id of the last request, so that what belongs together has one id.
  template <typename Message>
  void Add(Operation operation, FrameKind kind, const Message& message,
           std::string_view suffix = "") {
    const OperationInfo info = *FindOperation(static_cast<uint8_t>(operation));
    WireExample example;
    example.name.append(info.name).append(" ").append(KindName(kind)).append(suffix);
    AppendFrame(static_cast<uint8_t>(operation), kind, request_id_, message, &example.frame);
    example.block = AnnotatedHex::OfFrame(info, kind, request_id_, message);
    examples_.push_back(std::move(example));
  }

  std::vector<WireExample> Take() { return std::move(examples_); }

 private:
  uint32_t request_id_ = 0;
  std::vector<WireExample> examples_;
};

// The handshake of the page: every byte of it can be computed from these.
void AddCredentials(Examples& examples) {
  HelloRequest hello;
  hello.key_id = kExampleName;
  examples.Request<Operation::kHello>(hello, " key_id");
  HelloReply reply{1, "anteroomd 0.1.0"};
  reply.challenge = kExampleChallenge;
  examples.Add(Operation::kHello, FrameKind::kReply, reply, " challenge");
  const Secret secret = *Secret::FromText(kExampleSecret);
  const Handshake handshake{1, kExampleName, kExampleChallenge, kExampleNonce};
  const Proof ours = MakeProof(secret, Prover::kClient, handshake);
  examples.Request<Operation::kAuthenticate>({kExampleNonce, {ours.data(), ours.size()}});
  const Proof theirs = MakeProof(secret, Prover::kDaemon, handshake);
  examples.Reply<Operation::kAuthenticate>({std::string(theirs.data(), theirs.size())});
}

void AddDaemon(Examples& examples) {
  examples.Request<Operation::kHello>(HelloRequest{});
  examples.Reply<Operation::kHello>({1, "anteroomd 0.1.0"});
  examples.Request<Operation::kPing>({});
  examples.Reply<Operation::kPing>({3'600'900});
  examples.Request<Operation::kHealth>({});
  examples.Reply<Operation::kHealth>(Healthy());
  examples.Request<Operation::kStats>({"concert"});
  StatsReply stats;
  stats.room = "concert";
  stats.rooms = 1;
  stats.counts = Concert().counts;
  stats.joins_per_s_milli = 61'500;
  stats.admissions_per_s_milli = 50'000;
  stats.requests_per_s_milli = 912'000;
  examples.Reply<Operation::kStats>(stats);
}

void AddVisitors(Examples& examples) {
  examples.Request<Operation::kJoin>({"concert1", "0123456789abcdef", std::nullopt});
  examples.Reply<Operation::kJoin>(Waiting());
  Refusal refusal = Refuse(ErrorCode::kLineFull, "the line of concert1 is full (1200 people)");
  refusal.retry_after_ms = 5000;
  examples.Add(Operation::kJoin, FrameKind::kRefusal, refusal);
  examples.Request<Operation::kEnter>({"concert", "ann", uint8_t{0}});
  examples.Reply<Operation::kEnter>(Inside(State::kActive, 600'000));
  examples.Request<Operation::kStatus>({"concert", "user:7\xff\x01"});
  VisitorReply held = Waiting();
  held.reason = Reason::kPaused;
  held.mode = Mode::kPaused;
  held.eta_ms = held.eta_low_ms = held.eta_high_ms = std::nullopt;
  examples.Reply<Operation::kStatus>(held);
  examples.Request<Operation::kLeave>({"concert", "ann"});
  examples.Reply<Operation::kLeave>(Ended(Reason::kLeft));
  examples.Request<Operation::kVerify>({"concert", "ann", kToken});
  examples.Reply<Operation::kVerify>(Inside(State::kAdmitted, 299'180));
  examples.Request<Operation::kClaim>({"concert", "ann", kToken});
  examples.Reply<Operation::kClaim>(Inside(State::kActive, 600'000));
  refusal = Refuse(ErrorCode::kExpired, "this admission ended: no_show");
  refusal.reason = Reason::kNoShow;
  examples.Add(Operation::kClaim, FrameKind::kRefusal, refusal);
  examples.Request<Operation::kTouch>({"concert", "ann", kToken});
  examples.Reply<Operation::kTouch>(Inside(State::kActive, 600'000));
  examples.Request<Operation::kFinish>({"concert", "ann", kToken, Outcome::kCompleted});
  VisitorReply late = Ended(Reason::kCompleted);
  late.late = true;
  examples.Reply<Operation::kFinish>(late);
}

void AddBatches(Examples& examples) {
  examples.Request<Operation::kJoinMany>(
      {{{"concert", "bob", std::nullopt}, {"opera", "eve", uint8_t{200}}}});
  VisitorResults results;
  results.items.resize(2);
  results.items[0].reply = Waiting();
  results.items[1].refusal = Refuse(ErrorCode::kNotFound, "there is no room opera");
  examples.Reply<Operation::kJoinMany>(results);
  examples.Request<Operation::kStatusMany>({{{"concert", "ann"}, {"concert", "eve"}}});
  results.items[0].reply = Inside(State::kActive, 540'000);
  results.items[1].refusal = Refuse(ErrorCode::kNotFound, "there is no visitor eve in concert");
  examples.Reply<Operation::kStatusMany>(results);
}

void AddWatches(Examples& examples) {
  examples.Request<Operation::kWatch>({"concert", {"ann", "eve"}});
  examples.Reply<Operation::kWatch>({});
  examples.Add(Operation::kWatch, FrameKind::kPush, VisitorPush{"ann", Waiting(), {}});
  examples.Add(
      Operation::kWatch, FrameKind::kPush,
      VisitorPush{"eve", {}, Refuse(ErrorCode::kNotFound, "there is no visitor eve in concert")},
      " refusal");
  Refusal stopping = Refuse(ErrorCode::kUnavailable, "the daemon is stopping");
  stopping.reason = Reason::kStopping;
  examples.Add(Operation::kWatch, FrameKind::kEnd, stopping);
  examples.Request<Operation::kWatchRoom>({"concert"});
  examples.Reply<Operation::kWatchRoom>({});
  examples.Add(Operation::kWatchRoom, FrameKind::kPush, RoomPush{{}, {}, Concert()});
  examples.Add(Operation::kWatchRoom, FrameKind::kPush,
               RoomPush{3,
                        {{"eve", State::kWaiting, Reason::kNoShow, 90042, 128, {}, 3'600'900},
                         {"ann", State::kEnded, Reason::kCompleted, {}, {}, 70000, 3'600'900},
                         {"bob", State::kAdmitted, {}, {}, {}, 70001, 3'600'900}},
                        {}},
               " events");
  examples.Add(Operation::kWatchRoom, FrameKind::kEnd,
               Refuse(ErrorCode::kNotFound, "the room concert was deleted"));
  examples.Request<Operation::kUnwatch>({16});
  examples.Reply<Operation::kUnwatch>({});
}

void AddOperator(Examples& examples) {
  examples.Request<Operation::kAdmit>({"concert", 2, "wave-7"});
  examples.Reply<Operation::kAdmit>(
      {2,
       70000,
       {{"ann", 70000, MakeToken(kToken)}, {"bob", 70001, MakeToken("dGhlLXRva2VuLW9mLWJvYg")}}});
  examples.Request<Operation::kAdmitVisitor>({"concert", "ann", true});
  examples.Reply<Operation::kAdmitVisitor>(Inside(State::kAdmitted, 300'000));
  examples.Request<Operation::kRevoke>({"concert", "ann", 3'600'000});
  examples.Reply<Operation::kRevoke>(Ended(Reason::kRevoked));
}

void AddRooms(Examples& examples) {
  RoomSettings said;
  said.rate = Rate{50, 1000};
  said.capacity = Limit{100};
  said.claim_ttl = Duration{300'000};
  examples.Request<Operation::kRoomCreate>({"concert", said});
  RoomReply created;
  created.room = "concert";
  created.revision = 1;
  created.settings = DefaultSettings();
  Overlay(said, &created.settings);
  examples.Reply<Operation::kRoomCreate>(created);
  RoomSettings paused;
  paused.mode = Mode::kPaused;
  paused.rate = Rate{};
  paused.waiting_ttl = Duration{};
  paused.max_waiting = Limit{};
  examples.Request<Operation::kRoomSet>({"concert", paused, 2});
  RoomReply changed = Concert();
  Overlay(paused, &changed.settings);
  examples.Reply<Operation::kRoomSet>(changed);
  examples.Request<Operation::kRoomShow>({"concert"});
  examples.Reply<Operation::kRoomShow>(Concert());
  examples.Request<Operation::kRoomList>({"ballet", 1});
  examples.Reply<Operation::kRoomList>({{Concert()}, true});
  examples.Request<Operation::kRoomDelete>({"concert", true});
  examples.Reply<Operation::kRoomDelete>({});
  examples.Request<Operation::kRoomReset>({"concert"});
  RoomReply reset = Concert();
  reset.counts = Counts{};
  examples.Reply<Operation::kRoomReset>(reset);
}

void AddTokenKeys(Examples& examples) {
  examples.Request<Operation::kRotateTokenKey>({});
  examples.Reply<Operation::kRotateTokenKey>({676'500'588, 70'001});
}

void AddLists(Examples& examples) {
  examples.Request<Operation::kPeek>({"concert", 41, 1});
  examples.Reply<Operation::kPeek>({{{"ann", 128, Waiting()}}, 42});
  examples.Request<Operation::kInside>({"concert", 70000, 100});
  VisitorReply inside = Inside(State::kActive, 540'000);
  inside.token.reset();
  examples.Reply<Operation::kInside>({{{"ann", 128, inside}}, {}});
  examples.Request<Operation::kClockAdvance>({300'000});
  examples.Reply<Operation::kClockAdvance>({3'900'820});
}

template <typename Message>
std::optional<std::string> Again(const FrameHeader& header, std::string_view payload) {
  Message message;
  if (!Decode(payload, &message)) return std::nullopt;
  std::string frame;
  AppendFrame(header.operation, header.kind, header.request_id, message, &frame);
  return frame;
}

}  // namespace

std::vector<WireExample> WireExamples() {
  Examples examples;
  AddDaemon(examples);
  AddVisitors(examples);
  AddBatches(examples);
  AddWatches(examples);
  AddOperator(examples);
  AddRooms(examples);
  AddLists(examples);
  AddCredentials(examples);
  AddTokenKeys(examples);
  return examples.Take();
}

std::optional<std::string> DecodeAndEncode(const FrameHeader& header, std::string_view payload) {
  const auto operation = static_cast<Operation>(header.operation);
  if (!FindOperation(header.operation)) return std::nullopt;
  const bool watch = operation == Operation::kWatch || operation == Operation::kWatchRoom;
  switch (header.kind) {
    case FrameKind::kRequest: {
      Request request;
      if (DecodeRequest(header.operation, payload, &request) != RequestStatus::kRight) {
        return std::nullopt;
      }
      std::string frame;
      std::visit(
          [&](const auto& one) {
            if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(one)>, std::monostate>) {
              AppendFrame(header.operation, header.kind, header.request_id, one.message, &frame);
            }
          },
          request);
      return frame;
    }
    case FrameKind::kReply:
      switch (operation) {
#define ANTEROOM_X(number, Name, ...) \
  case Operation::k##Name:            \
    return Again<ReplyOf<Operation::k##Name>::Message>(header, payload);
        ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
      }
      return std::nullopt;
    case FrameKind::kRefusal:
      return Again<Refusal>(header, payload);
    case FrameKind::kPush:
      if (!watch) return std::nullopt;
      return operation == Operation::kWatch ? Again<VisitorPush>(header, payload)
                                            : Again<RoomPush>(header, payload);
    case FrameKind::kEnd:
      return watch ? Again<Refusal>(header, payload) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace anteroom
