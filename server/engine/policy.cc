#include "server/engine/policy.h"

namespace anteroom {

using protocol::Duration;
using protocol::Factor;
using protocol::Limit;
using protocol::RoomSettings;
using protocol::Stock;

namespace {

// What can be taken from, or added to, is only what there is.
uint64_t Changed(uint64_t units, const protocol::Stock& said) {
  if (!said.relative()) return said.units;
  if (units == Policy::kNoLimit) return units;
  if (said.change == protocol::Stock::kTake) return units - std::min(units, said.units);
  return std::min(units + said.units, protocol::kStockUnitsMax);
}

}  // namespace

Policy Changed(const Policy& policy, const RoomSettings& said) {
  Policy changed = policy;
  if (said.mode) changed.mode = *said.mode;
  if (said.rate) {
    changed.rate = *said.rate;
    changed.rate_said = true;
  }
  if (said.admit_interval) changed.admit_interval_ms = said.admit_interval->ms;
  if (said.capacity) {
    changed.capacity = said.capacity->value;
    changed.capacity_said = true;
  }
  if (said.claim_ttl) changed.claim_ttl_ms = said.claim_ttl->ms;
  if (said.no_show) changed.no_show = *said.no_show;
  if (said.requeue_max) changed.requeue_max = *said.requeue_max;
  if (said.session_ttl) changed.session_ttl_ms = said.session_ttl->ms;
  if (said.session_renewal) changed.session_renewal = *said.session_renewal;
  if (said.waiting_ttl) changed.waiting_ttl_ms = said.waiting_ttl->ms;
  if (said.max_waiting) changed.max_waiting = said.max_waiting->value;
  if (said.remember_ttl) changed.remember_ttl_ms = said.remember_ttl->ms;
  if (said.stock) {
    changed.stock = Changed(changed.stock, *said.stock);
    changed.stock_said |= !said.stock->relative();
  }
  if (said.stock_oversubscribe) changed.oversubscribe_milli = said.stock_oversubscribe->milli;
  return changed;
}

RoomSettings SettingsOf(const Policy& policy) {
  RoomSettings settings;
  settings.mode = policy.mode;
  if (policy.rate_said) settings.rate = policy.rate;
  settings.admit_interval = Duration{policy.admit_interval_ms};
  if (policy.capacity_said) settings.capacity = Limit{policy.capacity};
  settings.claim_ttl = Duration{policy.claim_ttl_ms};
  settings.no_show = policy.no_show;
  settings.requeue_max = policy.requeue_max;
  settings.session_ttl = Duration{policy.session_ttl_ms};
  settings.session_renewal = policy.session_renewal;
  settings.waiting_ttl = Duration{policy.waiting_ttl_ms};
  settings.max_waiting = Limit{policy.max_waiting};
  settings.remember_ttl = Duration{policy.remember_ttl_ms};
  if (policy.stock_said) settings.stock = Stock{policy.stock};
  // Absent in a room that has never had either, as in logs of before there was one.
  if (policy.stock_said || policy.oversubscribe_milli != Factor::kOne) {
    settings.stock_oversubscribe = Factor{policy.oversubscribe_milli};
  }
  return settings;
}

}  // namespace anteroom
