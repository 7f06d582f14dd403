// From requests to answers.

#include <type_traits>
#include <utility>

#include "protocol/version.h"
#include "server/app/server.h"
#include "server/base/check.h"
#include "server/base/limits.h"
#include "server/storage/storage_status.h"

namespace anteroom::app {

using protocol::ErrorCode;
using protocol::FrameKind;
using protocol::Operation;
using protocol::Reason;
using protocol::Refusal;

namespace {

// Whether a refusal says nothing of any room's state, and so need not wait for the disk; when the
// disk is what is missing, it must not.
bool IsImmediate(const Refusal& refusal) {
  return refusal.error == ErrorCode::kUnavailable &&
         (refusal.reason == Reason::kDiskFull || refusal.reason == Reason::kDiskSlow);
}

// Of the file with a new key in it.
Refusal NotWritten(const absl::Status& status) {
  Refusal refusal =
      protocol::Refuse(ErrorCode::kUnavailable,
                       "tokens are made with the key that they were made with, for a new "
                       "one cannot be kept: " +
                           std::string(status.message()));
  if (storage::KindOf(status) == storage::FailureKind::kNoSpace) refusal.reason = Reason::kDiskFull;
  return refusal;
}

}  // namespace

template <Operation kOperation, typename Reply>
void Server::Answer(const net::Arrival& arrival, const anteroom::Answer<Reply>& answer) {
  constexpr auto kNumber = static_cast<uint8_t>(kOperation);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    if (IsImmediate(*refusal)) {
      arrival.connection->Refuse(kNumber, arrival.request_id, *refusal);
      return;
    }
    protocol::AppendFrame(kNumber, FrameKind::kRefusal, arrival.request_id, *refusal,
                          arrival.connection->Marked(commit_.last_sequence()));
    return;
  }
  constexpr bool kShowsNothing =
      std::is_same_v<Reply, protocol::PingReply> || std::is_same_v<Reply, protocol::HealthReply>;
  std::string* const out = kShowsNothing ? arrival.connection->Immediate()
                                         : arrival.connection->Marked(commit_.last_sequence());
  const size_t start = out->size();
  protocol::AppendFrame(kNumber, FrameKind::kReply, arrival.request_id, std::get<Reply>(answer),
                        out);
  if (out->size() - start <= protocol::kHeaderBytes + protocol::kPayloadBytesMax) [[likely]] {
    return;
  }
  out->resize(start);
  protocol::AppendFrame(
      kNumber, FrameKind::kRefusal, arrival.request_id,
      protocol::Refuse(ErrorCode::kTooLarge, "the answer does not fit into a frame: ask for fewer"),
      out);
}

template <typename OneOperation>
void Server::WorkOne(const net::Arrival& arrival, const OneOperation& one) {
  constexpr Operation kOperation = OneOperation::kOperation;
  using protocol::Empty;
  if constexpr (kOperation == Operation::kHello || kOperation == Operation::kAuthenticate) {
    CHECK(false);  // the table of connections answers it
  } else if constexpr (kOperation == Operation::kPing) {
    Answer<kOperation>(arrival, anteroom::Answer<protocol::PingReply>(
                                    protocol::PingReply{static_cast<uint64_t>(desk_.now_ms())}));
  } else if constexpr (kOperation == Operation::kHealth) {
    Answer<kOperation>(arrival, anteroom::Answer<protocol::HealthReply>(DescribeHealth()));
  } else if constexpr (kOperation == Operation::kStats) {
    auto answer = desk_.Handle(one);
    if (auto* reply = std::get_if<protocol::StatsReply>(&answer)) {
      reply->requests_per_s_milli = requests_.PerSecondMilli(static_cast<int64_t>(loop_ms_));
    }
    Answer<kOperation>(arrival, answer);
  } else if constexpr (kOperation == Operation::kClockAdvance) {
    auto refusal = advances_.Add(arrival, one.message);
    if (!refusal) return;
    Answer<kOperation>(arrival, anteroom::Answer<protocol::ClockReply>(*std::move(refusal)));
    connections_.Unblock(arrival.connection);
  } else if constexpr (kOperation == Operation::kRotateTokenKey) {
    auto refusal = desk_.CheckUseTokenKey();
    if (!refusal) refusal = rotations_.Add(arrival, arrival.connection->name());
    if (!refusal) return connections_.Await(arrival.connection);
    Answer<kOperation>(arrival, anteroom::Answer<protocol::TokenKeyReply>(*std::move(refusal)));
  } else if constexpr (kOperation == Operation::kWatch || kOperation == Operation::kWatchRoom ||
                       kOperation == Operation::kUnwatch) {
    std::optional<Refusal> refusal;
    if constexpr (kOperation == Operation::kWatch) {
      refusal = watches_.Watch(arrival.connection, arrival.request_id, one.message);
    } else if constexpr (kOperation == Operation::kWatchRoom) {
      refusal = watches_.WatchRoom(arrival.connection, arrival.request_id, one.message);
    } else {
      refusal = watches_.Unwatch(arrival.connection, one.message.watch_id);
    }
    Answer<kOperation>(arrival, refusal ? anteroom::Answer<Empty>(*std::move(refusal))
                                        : anteroom::Answer<Empty>(Empty{}));
  } else {
    Answer<kOperation>(arrival, desk_.Handle(one));
  }
}

void Server::Work(std::span<const protocol::Request> requests,
                  std::span<const net::Arrival> arrivals) {
  commit_.Advance();
  SettleSpace();
  requests_.Count(static_cast<int64_t>(loop_ms_), static_cast<uint32_t>(requests.size()));
  desk_.Prefetch(requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    // A bad frame behind this request may have ended the connection; nobody hears the answer of a
    // closed one, and a watch, an advance or a rotation needs somebody to belong to.
    if (arrivals[i].connection->state() == net::Connection::State::kClosed) continue;
    desk_.SetAsker(arrivals[i].connection->name());
    std::visit(
        [&](const auto& one) {
          using OneOperation = std::remove_cvref_t<decltype(one)>;
          if constexpr (std::is_same_v<OneOperation, std::monostate>) {
            CHECK(false);
          } else {
            constexpr Operation kOperation = OneOperation::kOperation;
            constexpr bool kStays =
                kOperation == Operation::kWatch || kOperation == Operation::kWatchRoom ||
                kOperation == Operation::kClockAdvance || kOperation == Operation::kRotateTokenKey;
            if (kStays && !arrivals[i].connection->takes_requests()) return;
            WorkOne(arrivals[i], one);
          }
        },
        requests[i]);
    if (watches_.has_dirty()) watches_.Push();
  }
  answer_times_.Count(requests.size(), commit_.last_sequence());
}

void Server::OnGone(net::Connection* connection) {
  watches_.OnGone(connection);
  advances_.OnGone(connection);
  rotations_.OnGone(connection);
}

void Server::TakeRotations() {
  while (const auto written = rotations_.TakeWritten()) {
    anteroom::Answer<protocol::TokenKeyReply> answer;
    if (written->status.ok()) {
      desk_.SetAsker(written->by);
      answer = desk_.UseTokenKey(written->key_id);
      desk_.SetAsker({});
    } else {
      answer = NotWritten(written->status);
    }
    net::Connection* const connection = written->arrival.connection;
    if (connection == nullptr) continue;
    Answer<Operation::kRotateTokenKey>(written->arrival, answer);
    connections_.EndAwait(connection);
  }
}

protocol::HealthReply Server::DescribeHealth() {
  protocol::HealthReply health;
  health.version = protocol::kVersion;
  health.role = "leader";
  if (stop_asked_) {
    health.status = "stopping";
  } else if (space_.space != LogSpace::kPlenty) {
    health.status = protocol::NameOf(space_.reason);
  } else if (desk_.memory_full()) {
    health.status = protocol::NameOf(Reason::kMemoryFull);
  } else {
    health.status = "ok";
  }
  health.durability = NameOf(options_.durability);
  health.snapshots = NameOf(snapshots_.state());
  health.virtual_clock = clock_.is_virtual();
  health.at_ms = static_cast<uint64_t>(desk_.now_ms());
  health.uptime_ms = loop_ms_ - started_ms_;
  health.sequence = commit_.last_sequence();
  health.durable_sequence = commit_.durable_sequence();
  health.log_bytes = recovered_.log_bytes + commit_.log_bytes();
  health.reserved_bytes = commit_.reserved_bytes();
  if (const uint64_t bytes_per_s = commit_.bytes_per_s(); bytes_per_s > 0) {
    health.reserved_minutes = health.reserved_bytes / bytes_per_s / 60;
  }
  health.disk_free_bytes = disk_free_bytes_;
  health.sync_p50_us = commit_.sync_times().Percentile(50);
  health.sync_p99_us = commit_.sync_times().Percentile(99);
  health.connections = connections_.count();
  health.watches = watches_.count();
  health.memory_bytes = desk_.memory_bytes();
  health.memory_max_bytes = options_.limits.memory_bytes;
  health.syncs = commit_.sync_times().histogram().Describe();
  health.answers = answer_times_.times().Describe();
  return health;
}

template void Server::Answer<Operation::kClockAdvance, protocol::ClockReply>(
    const net::Arrival&, const anteroom::Answer<protocol::ClockReply>&);

}  // namespace anteroom::app
