#include "bench/loadgen/contestant.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "bench/loadgen/processes.h"

namespace anteroom::loadgen {
namespace {

// On one connection, so that the line is in the order of the numbers.
constexpr uint32_t kPreloadBatch = 100;
constexpr uint64_t kUnexpectedOneIn = 1000;

}  // namespace

absl::StatusOr<std::unique_ptr<Contestant>> Contestant::Open(Side* side, const Server& server,
                                                             const Plan& plan) {
  std::unique_ptr<Contestant> contestant(new Contestant(side, server.process, plan));
  if (absl::Status status = side->Prepare(); !status.ok()) return status;
  auto load = Load::Open(side, server.address, plan.connections, server.process);
  if (!load.ok()) return load.status();
  contestant->load_ = *std::move(load);
  return contestant;
}

absl::StatusOr<double> Contestant::Measure(std::string_view what, uint64_t requests,
                                           uint32_t per_request, size_t connections,
                                           const Ask& ask) {
  absl::StatusOr<RunResult> result = load_->Do(
      {.ask = ask, .requests = requests, .connections = connections, .depth = plan_.depth});
  if (!result.ok()) {
    return absl::Status(result.status().code(), std::string(side_.name()) + ", " +
                                                    std::string(what) + ": " +
                                                    std::string(result.status().message()));
  }
  load_->check_invariants();
  answers_ = result->answers;
  if (answers_.unexpected > std::max<uint64_t>(1, requests / kUnexpectedOneIn)) {
    return absl::InternalError(std::string(side_.name()) + ", " + std::string(what) + ": " +
                               std::to_string(answers_.unexpected) + " of " +
                               std::to_string(requests) + " answers were not what they should be");
  }
  const double units = static_cast<double>(requests) * per_request;
  const double per_s = units / result->seconds;
  std::fprintf(stderr,
               "  %-15s %-9s %10.0f /s   processor time for one: server %7.0f ns, load %5.0f ns\n",
               std::string(side_.name()).c_str(), std::string(what).c_str(), per_s,
               result->server_cpu_seconds / units * 1e9, result->load_cpu_seconds / units * 1e9);
  return per_s;
}

absl::StatusOr<double> Contestant::Preload() {
  const uint64_t batches = plan_.people / kPreloadBatch;
  const uint64_t resident_before = ResidentBytes(process_);
  const auto ask = [](Conversation& conversation, uint64_t i, std::string* out) {
    conversation.JoinMany(i * kPreloadBatch, kPreloadBatch, out);
  };
  const auto per_s = Measure("preload", batches, kPreloadBatch, 1, ask);
  if (!per_s.ok()) return per_s;
  crowd_.joined = batches * kPreloadBatch;
  const uint64_t resident = ResidentBytes(process_);
  return static_cast<double>(resident - std::min(resident, resident_before)) /
         static_cast<double>(crowd_.joined);
}

absl::StatusOr<double> Contestant::Join() {
  const auto ask = [first = crowd_.joined](Conversation& conversation, uint64_t i,
                                           std::string* out) { conversation.Join(first + i, out); };
  const auto per_s = Measure("join", plan_.joins, 1, plan_.connections, ask);
  crowd_.joined += plan_.joins;
  return per_s;
}

absl::StatusOr<double> Contestant::AskPositions() {
  const auto ask = [this](Conversation& conversation, uint64_t, std::string* out) {
    conversation.Position(crowd_.SomeoneWaiting(draws_++), out);
  };
  return Measure("position", plan_.positions, 1, plan_.connections, ask);
}

absl::StatusOr<double> Contestant::Admit() {
  const uint32_t at_a_time = plan_.admitted_at_a_time;
  const uint64_t requests = plan_.joins / at_a_time;
  const auto ask = [at_a_time](Conversation& conversation, uint64_t, std::string* out) {
    conversation.Admit(at_a_time, out);
  };
  const auto per_s = Measure("admit", requests, at_a_time, plan_.connections, ask);
  if (!per_s.ok()) return per_s;
  if (answers_.admitted != requests * at_a_time) {
    return absl::InternalError(std::string(side_.name()) + ": let in " +
                               std::to_string(answers_.admitted) + " people instead of " +
                               std::to_string(requests * at_a_time));
  }
  crowd_.admitted += answers_.admitted;
  return per_s;
}

}  // namespace anteroom::loadgen
