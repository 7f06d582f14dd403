#include "tests/scripts/runner_rules.h"

#include <algorithm>
#include <initializer_list>

#include "tests/scripts/runner_script.h"

namespace anteroom::scripts {
namespace {

void Demand(bool right, const std::string& what, const Reply& reply) {
  if (!right) throw ScriptFailure("of every reply: " + what + "\n     got: " + reply.ToText());
}

void DemandFields(const Reply& reply, bool present, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const bool there = reply.fields.contains(std::string(name));
    Demand(there == present, std::string(name) + (present ? " is there" : " is absent"), reply);
  }
}

uint64_t Number(const Reply& reply, std::string_view name) {
  return std::stoull(reply.Field(name));
}

void CheckWaiting(const Reply& reply) {
  DemandFields(reply, true, {"position", "ahead", "waiting", "poll_after_ms", "mode", "arrival"});
  DemandFields(reply, true, {"at_ms"});
  DemandFields(reply, false, {"token", "expires_in_ms", "admission", "late"});
  Demand(Number(reply, "position") == Number(reply, "ahead") + 1, "position = ahead + 1", reply);
  Demand(Number(reply, "ahead") < Number(reply, "waiting"), "ahead < waiting", reply);
  const bool eta = reply.fields.contains("eta_ms");
  DemandFields(reply, eta, {"eta_low_ms", "eta_high_ms"});
  if (!eta) return;
  Demand(Number(reply, "eta_low_ms") <= Number(reply, "eta_ms"), "eta_low <= eta", reply);
  Demand(Number(reply, "eta_ms") <= Number(reply, "eta_high_ms"), "eta <= eta_high", reply);
}

void CheckNotWaiting(const Reply& reply) {
  DemandFields(reply, false, {"position", "ahead", "eta_ms", "eta_low_ms", "eta_high_ms"});
}

}  // namespace

void AdmissionRules::OnAdmission(const Room& room, int64_t at_ms) {
  if (!over && room.occupied() > room.policy.capacity) {
    throw ScriptFailure("an admission made " + std::to_string(room.occupied()) +
                        " occupied of a capacity of " + std::to_string(room.policy.capacity));
  }
  if (operator_admits || room.policy.mode != protocol::Mode::kQueue || room.policy.rate.none()) {
    return;
  }
  const protocol::Rate& rate = room.policy.rate;
  Window& window = windows_[room.name];
  const uint64_t depth = std::max<uint64_t>(
      rate.per_ms, uint64_t{rate.count} * static_cast<uint64_t>(room.policy.admit_interval_ms));
  if (window.rate != rate || window.admit_interval_ms != room.policy.admit_interval_ms) {
    window = {rate, room.policy.admit_interval_ms, 2 * depth, at_ms};
  }
  const auto elapsed_ms = static_cast<uint64_t>(at_ms - window.at_ms);
  window.level = std::min(2 * depth, window.level + elapsed_ms * rate.count);
  window.at_ms = at_ms;
  if (window.level < rate.per_ms) {
    throw ScriptFailure("more admissions than rate x W + 2 depths in a window that ends at " +
                        std::to_string(at_ms) + " ms");
  }
  window.level -= rate.per_ms;
}

void CheckShape(const Reply& reply) {
  if (reply.refused()) {
    DemandFields(reply, true, {"error", "retry", "message"});
    Demand(!reply.Field("message").empty(), "a refusal says what was wrong", reply);
    Demand(reply.Field("error") != "expired" || !reply.Field("reason").empty(),
           "expired says its reason", reply);
  } else if (reply.head == "waiting") {
    CheckWaiting(reply);
  } else if (reply.head == "admitted" || reply.head == "active") {
    CheckNotWaiting(reply);
    DemandFields(reply, true, {"token", "expires_in_ms", "arrival", "admission", "at_ms"});
    DemandFields(reply, false, {"late"});
  } else if (reply.head == "ended") {
    CheckNotWaiting(reply);
    DemandFields(reply, true, {"reason"});
    DemandFields(reply, false, {"token", "expires_in_ms"});
  }
}

void PositionRule::OnReply(std::string_view room, std::string_view visitor, const Reply& reply) {
  if (lanes_ || reply.head != "waiting") return;
  Shown& shown = shown_[std::string(room) + "/" + std::string(visitor)];
  const uint64_t ahead = Number(reply, "ahead");
  const std::string arrival = reply.Field("arrival");
  Demand(shown.arrival != arrival || ahead <= shown.ahead,
         "a position never gets worse (it was " + std::to_string(shown.ahead) + " ahead)", reply);
  shown = {arrival, ahead};
}

}  // namespace anteroom::scripts
