// How the daemon stops: what has arrived is answered and on disk, the log gets its end, everybody
// gets what is owed, within limits::kStopMsMax.

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "server/app/server.h"
#include "server/base/limits.h"

namespace anteroom::app {
namespace {

// What has arrived before the signal is worked for at most so long.
constexpr uint64_t kBacklogMsMax = 1000;

protocol::Refusal Stopping() {
  protocol::Refusal refusal =
      protocol::Refuse(protocol::ErrorCode::kUnavailable, "the daemon is stopping");
  refusal.reason = protocol::Reason::kStopping;
  return refusal;
}

}  // namespace

void Server::OnSignal(int) {
  if (stop_asked_) return;
  stop_asked_ = true;
  stop_asked_ms_ = uv_hrtime() / 1'000'000;
  for (const auto& listener : listeners_) listener->Close();
}

void Server::BeginStop() {
  phase_ = Phase::kStopping;
  connections_.BeginStopping();
  commit_.Hurry();
  snapshots_.Stop();
  for (const net::Arrival& arrival : advances_.TakeAll()) {
    arrival.connection->Refuse(static_cast<uint8_t>(protocol::Operation::kClockAdvance),
                               arrival.request_id, Stopping());
    connections_.Unblock(arrival.connection);
  }
  for (const net::Arrival& arrival : rotations_.TakeAll()) {
    arrival.connection->Refuse(static_cast<uint8_t>(protocol::Operation::kRotateTokenKey),
                               arrival.request_id, Stopping());
    connections_.EndAwait(arrival.connection);
  }
  watches_.EndAll(Stopping());
}

void Server::StepStop() {
  const uint64_t waited_ms = loop_ms_ - std::min(loop_ms_, stop_asked_ms_);
  switch (phase_) {
    case Phase::kRunning:
      if (connections_.has_backlog() && waited_ms < kBacklogMsMax) return;
      BeginStop();
      [[fallthrough]];
    case Phase::kStopping:
      if (!commit_.idle() || rotations_.busy()) break;
      phase_ = Phase::kEnding;
      commit_.StartEnd();
      break;
    case Phase::kEnding:
      if (!commit_.ended()) break;
      phase_ = Phase::kDraining;
      connections_.DrainAll();
      [[fallthrough]];
    case Phase::kDraining:
      if (connections_.empty()) {
        phase_ = Phase::kStopped;
        CloseHandles();
        return;
      }
      connections_.CheckDeadlines(limits::kStopLingerMsMax);
      break;
    case Phase::kStopped:
      return;
  }
  if (waited_ms < limits::kStopMsMax) return;
  if (phase_ < Phase::kDraining) {
    // The pool hangs in the disk: there is no waiting for it. Nothing was answered that is not on
    // disk, so this is no worse than a crash.
    std::fprintf(stderr, "anteroomd: the disk does not take the rest of the log; giving up\n");
    std::fflush(stderr);
    _exit(1);
  }
  connections_.CloseAll();
}

void Server::CloseHandles() {
  for (const auto& listener : listeners_) listener->Close();
  connections_.CloseAll();
  const auto close = [](auto* handle) {
    auto* base = reinterpret_cast<uv_handle_t*>(handle);
    if (uv_is_closing(base) == 0) uv_close(base, nullptr);
  };
  close(&turn_);
  close(&backlog_);
  close(&wake_);
  close(&second_);
  close(&terminate_);
  close(&interrupt_);
  close(&hangup_);
}

}  // namespace anteroom::app
