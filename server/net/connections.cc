#include "server/net/connections.h"

#include <algorithm>
#include <utility>

#include "protocol/limits.h"
#include "protocol/version.h"
#include "server/base/check.h"
#include "server/base/limits.h"
#include "server/net/refusals.h"

namespace anteroom::net {

using protocol::ErrorCode;
using protocol::FrameHeader;
using protocol::FrameKind;
using protocol::FrameStatus;
using protocol::kPageItemsMax;
using protocol::Operation;
using protocol::Reason;
using protocol::Refusal;
using protocol::Refuse;
using protocol::Role;

namespace {

// Connections that a list has room for whether it needs it or not.
constexpr size_t kListKept = 1024;

// How many requests this one counts for in the budgets of a turn.
size_t CostOf(const protocol::Request& request) {
  if (const auto* joins = std::get_if<protocol::JoinManyOperation>(&request)) {
    return 1 + joins->message.items.size();
  }
  if (const auto* statuses = std::get_if<protocol::StatusManyOperation>(&request)) {
    return 1 + statuses->message.items.size();
  }
  if (const auto* watch = std::get_if<protocol::WatchOperation>(&request)) {
    return 1 + watch->message.visitors.size();
  }
  // More than may be asked for is refused, which costs nothing.
  const auto page = [](uint32_t count) { return 1 + std::min<size_t>(count, kPageItemsMax); };
  if (const auto* peek = std::get_if<protocol::PeekOperation>(&request)) {
    return page(peek->message.count);
  }
  if (const auto* inside = std::get_if<protocol::InsideOperation>(&request)) {
    return page(inside->message.count);
  }
  if (const auto* rooms = std::get_if<protocol::RoomListOperation>(&request)) {
    return page(rooms->message.count);
  }
  return 1;
}

Refusal MayNot(uint8_t operation, Role least, const Connection& connection) {
  const std::string_view name = protocol::FindOperation(operation)->name;
  const bool without_token =
      operation == static_cast<uint8_t>(Operation::kFinish) && least == Role::kOperator;
  std::string message(name);
  message += without_token ? " without a token" : "";
  message.append(" takes the role ").append(protocol::NameOf(least)).append("; ");
  message.append(connection.name()).append(" is ").append(protocol::NameOf(connection.role()));
  return Refuse(ErrorCode::kUnauthorized, std::move(message));
}

}  // namespace

Connections::Connections(RequestWorker* worker, const Limits& limits, const Gatekeeper* gatekeeper)
    : worker_(worker),
      gatekeeper_(gatekeeper),
      limits_(limits),
      chunk_(limits::kRequestsPerChunk),
      arrivals_(limits::kRequestsPerChunk) {}

Connections::~Connections() {
  CHECK(all_.empty());
}

void Connections::Accept(uv_stream_t* listener) {
  if (clock_ != nullptr) SetTime(clock_());
  auto made = std::make_unique<Connection>(static_cast<ConnectionHost*>(this));
  Connection* const connection = made.get();
  connection->slot = all_.size();
  connection->refused = count() >= limits_.connections || stopping_;
  refused_count_ += connection->refused;
  all_.push_back(std::move(made));
  Recount(connection);
  if (!connection->Accept(listener) || !connection->refused) return;
  if (refused_count_ > limits::kRefusedConnectionsMax) {
    connection->Close();
    return;
  }
  connection->Refuse(static_cast<uint8_t>(Operation::kHello), 0,
                     stopping_ ? Unavailable(Reason::kStopping, "the daemon is stopping")
                               : Unavailable(Reason::kTooManyConnections,
                                             "the daemon serves as many connections as it may: " +
                                                 std::to_string(limits_.connections)));
  connection->Drain();
}

void Connections::OnInput(Connection* connection) {
  connection->listed.ready = true;
  ready_.push_back(connection);
}

void Connections::OnOutput(Connection* connection) {
  connection->listed.output = true;
  output_.push_back(connection);
}

void Connections::OnClosed(Connection* connection) {
  if (connection->listed.ready) std::erase(ready_, connection);
  if (connection->listed.output) std::erase(output_, connection);
  if (connection->listed.held) std::erase(held_, connection);
  refused_count_ -= connection->refused;
  held_bytes_ -= connection->counted_bytes;
  const size_t slot = connection->slot;
  std::swap(all_[slot], all_.back());
  all_[slot]->slot = slot;
  all_.pop_back();
  given_back_bytes_ += sizeof(Connection);
}

void Connections::Unblock(Connection* connection) {
  connection->blocked = false;
  if (!connection->listed.ready) OnInput(connection);
}

void Connections::EndAwait(Connection* connection) {
  CHECK_GT(connection->awaited, 0u);
  --connection->awaited;
  if (!connection->listed.ready) OnInput(connection);
}

void Connections::Work() {
  size_t budget = limits_.requests;
  // Each that is ready now has its turn once, as far as the budget goes.
  for (size_t left = ready_.size(); left > 0 && budget > 0; --left) {
    Connection* const connection = ready_.front();
    ready_.pop_front();
    connection->listed.ready = false;
    budget -= std::min(budget, TakeRequests(connection));
    worked_.push_back(connection);
  }
  WorkChunk();
  for (Connection* connection : worked_) {
    const bool has_work = connection->takes_requests() && connection->has_work();
    connection->FinishWork();
    Recount(connection);
    if (!connection->takes_requests() || connection->blocked) continue;
    if (connection->over_high_water()) {
      connection->backed_up = true;
      if (!connection->listed.output) OnOutput(connection);
    } else if (has_work) {
      if (!connection->listed.ready) OnInput(connection);
    } else if (connection->input_ended() && connection->awaited == 0) {
      connection->Drain();
    }
  }
  worked_.clear();
}

size_t Connections::TakeRequests(Connection* connection) {
  size_t taken = 0;
  while (taken < limits_.connection_requests && connection->takes_requests() &&
         !connection->blocked && !connection->over_high_water()) {
    FrameHeader header;
    std::string_view payload;
    FrameStatus status = connection->NextFrame(&header, &payload);
    size_t payload_bytes_max = protocol::kPayloadBytesMax;
    if (connection->is_stranger()) {
      payload_bytes_max = limits_.hello_bytes;
      if (header.payload_bytes > payload_bytes_max && status != FrameStatus::kInvalid) {
        status = FrameStatus::kTooLarge;
      }
    }
    if (status == FrameStatus::kPartial) break;
    size_t cost = 1;
    if (status == FrameStatus::kTooLarge) {
      connection->Refuse(
          header.operation, header.request_id,
          Refuse(ErrorCode::kTooLarge, "a frame of " + std::to_string(header.payload_bytes) +
                                           " bytes; it takes " + std::to_string(payload_bytes_max) +
                                           " at most here"));
      connection->Drain();
    } else if (status == FrameStatus::kInvalid) {
      connection->Refuse(header.operation, header.request_id,
                         Refuse(ErrorCode::kInvalid, "not a frame of this protocol"));
      connection->Drain();
    } else if (!TakeFrame(connection, header, payload, &cost)) {
      connection->Drain();
    }
    taken += cost;
  }
  return taken;
}

// False when the connection cannot go on.
bool Connections::TakeFrame(Connection* connection, const FrameHeader& header,
                            std::string_view payload, size_t* cost) {
  const auto refuse = [&](const Refusal& refusal) {
    connection->Refuse(header.operation, header.request_id, refusal);
  };
  if (header.kind != FrameKind::kRequest) {
    refuse(Refuse(ErrorCode::kInvalid, "a client sends requests only"));
    return false;
  }
  const auto operation = static_cast<Operation>(header.operation);
  if (connection->state() == Connection::State::kGreeting) {
    if (operation != Operation::kHello) {
      refuse(Refuse(ErrorCode::kInvalid, "hello comes first"));
      return false;
    }
    return Greet(connection, header, payload);
  }
  if (operation == Operation::kHello) {
    refuse(Refuse(ErrorCode::kInvalid, "hello was said already"));
    return false;
  }
  if (stopping_) {
    refuse(Unavailable(Reason::kStopping, "the daemon is stopping"));
    return true;
  }
  if (operation == Operation::kAuthenticate) return Authenticate(connection, header, payload);
  if (connection->role() == Role::kAnyone && operation != Operation::kPing) {
    // Whatever it is: a stranger is told nothing more.
    refuse(Refuse(ErrorCode::kUnauthorized,
                  "this daemon asks for credentials, which are to be proven first"));
    return true;
  }
  protocol::Request& request = chunk_[chunk_size_];
  switch (protocol::DecodeRequest(header.operation, payload, &request)) {
    case protocol::RequestStatus::kUnknownOperation:
      refuse(Refuse(ErrorCode::kInvalid, "there is no operation " +
                                             std::to_string(header.operation) + " in version " +
                                             std::string(protocol::kVersion)));
      return true;
    case protocol::RequestStatus::kMalformed:
      refuse(Refuse(ErrorCode::kInvalid,
                    "malformed: not the fields of " +
                        std::string(protocol::FindOperation(header.operation)->name)));
      return true;
    case protocol::RequestStatus::kRight:
      break;
  }
  if (const Role least = protocol::LeastRole(request); connection->role() < least) {
    refuse(MayNot(header.operation, least, *connection));
    return true;
  }
  *cost = CostOf(request);
  arrivals_[chunk_size_++] = {connection, header.request_id};
  // What comes behind a clock advance is to see the clock advanced.
  if (std::holds_alternative<protocol::ClockAdvanceOperation>(request)) connection->blocked = true;
  if (chunk_size_ == chunk_.size()) WorkChunk();
  return true;
}

void Connections::WorkChunk() {
  if (chunk_size_ == 0) return;
  worker_->Work(std::span(chunk_).first(chunk_size_), std::span(arrivals_).first(chunk_size_));
  chunk_size_ = 0;
}

void Connections::Release(uint64_t sequence) {
  if (sequence <= released_sequence_) return;
  released_sequence_ = sequence;
  size_t kept = 0;
  for (Connection* connection : held_) {
    connection->Release(sequence);
    connection->listed.held = connection->holds();
    if (connection->listed.held) held_[kept++] = connection;
  }
  held_.resize(kept);
}

void Connections::Flush() {
  // Flushing can make a connection ask for another flush, at once or in a later turn.
  flushing_.swap(output_);
  for (Connection* connection : flushing_) {
    connection->listed.output = false;
    connection->Flush();
    Recount(connection);
    if (connection->holds() && !connection->listed.held &&
        connection->state() != Connection::State::kClosed) {
      connection->listed.held = true;
      held_.push_back(connection);
    }
  }
  flushing_.clear();
}

void Connections::CheckDeadlines(uint64_t linger_ms_max) {
  for (const auto& connection : all_) {
    given_back_bytes_ += connection->CheckDeadlines(linger_ms_max);
    Recount(connection.get());
  }
  // The lists of a crowd that has gone.
  const auto shrink = [](auto* list) {
    if (list->capacity() > kListKept && list->size() < list->capacity() / 4) list->shrink_to_fit();
  };
  shrink(&all_);
  for (auto* list : {&worked_, &output_, &held_, &flushing_}) shrink(list);
}

void Connections::Recount(Connection* connection) {
  const size_t bytes = connection->held_bytes();
  held_bytes_ += bytes - connection->counted_bytes;
  connection->counted_bytes = bytes;
}

void Connections::DrainAll() {
  for (const auto& connection : all_) connection->Drain();
}

void Connections::CloseAll() {
  for (const auto& connection : all_) connection->Close();
}

void Connections::check_invariants() const {
  size_t refused = 0;
  size_t held_bytes = 0;
  for (size_t slot = 0; slot < all_.size(); ++slot) {
    const Connection* connection = all_[slot].get();
    connection->check_invariants();
    CHECK_EQ(connection->slot, slot);
    refused += connection->refused;
    held_bytes += connection->counted_bytes;
    CHECK_EQ(std::count(ready_.begin(), ready_.end(), connection),
             connection->listed.ready ? 1 : 0);
    CHECK_EQ(std::count(output_.begin(), output_.end(), connection),
             connection->listed.output ? 1 : 0);
    CHECK_EQ(std::count(held_.begin(), held_.end(), connection), connection->listed.held ? 1 : 0);
  }
  CHECK_EQ(refused, refused_count_);
  CHECK_EQ(held_bytes, held_bytes_);
  CHECK_EQ(chunk_size_, 0u);
}

}  // namespace anteroom::net
