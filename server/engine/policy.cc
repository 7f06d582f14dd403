#include "server/engine/policy.h"

namespace anteroom {

using protocol::Duration;
using protocol::Limit;
using protocol::RoomSettings;

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
  return settings;
}

}  // namespace anteroom
