// A room's settings as the engine works with them: complete, and small because every room has one.
#ifndef ANTEROOM_SERVER_ENGINE_POLICY_H_
#define ANTEROOM_SERVER_ENGINE_POLICY_H_

#include <algorithm>
#include <cstdint>

#include "protocol/settings.h"

namespace anteroom {

struct Policy {
  static constexpr uint64_t kNoLimit = protocol::Limit::kNone;
  static constexpr int64_t kNoDuration = protocol::Duration::kNone;

  protocol::Mode mode = protocol::Mode::kQueue;
  protocol::NoShow no_show = protocol::NoShow::kEnd;
  protocol::Renewal session_renewal = protocol::Renewal::kSliding;
  uint8_t requeue_max = 0;
  bool rate_said = false;
  bool capacity_said = false;
  bool stock_said = false;
  protocol::Rate rate;
  int64_t admit_interval_ms = 0;
  uint64_t capacity = kNoLimit;
  uint64_t max_waiting = kNoLimit;
  uint64_t stock = kNoLimit;  // units left
  uint32_t oversubscribe_milli = protocol::Factor::kOne;
  int64_t claim_ttl_ms = 0;
  int64_t session_ttl_ms = 0;
  int64_t waiting_ttl_ms = kNoDuration;
  int64_t remember_ttl_ms = 0;

  bool operator==(const Policy&) const = default;

  // Whether people are let in by themselves.
  bool admits() const {
    return mode == protocol::Mode::kQueue || mode == protocol::Mode::kPassthrough;
  }
  // How many may be inside, unless an operator wants more.
  uint64_t slots() const {
    if (stock == kNoLimit) return capacity;
    return std::min(capacity, stock * oversubscribe_milli / protocol::Factor::kOne);
  }
  bool sold_out() const { return stock == 0; }
  // Whether the rate decides.
  bool rated() const { return mode == protocol::Mode::kQueue && !rate.none(); }
};

// The policy after `said` is laid over `policy`.
Policy Changed(const Policy& policy, const protocol::RoomSettings& said);

// Everything that is set, as it can be echoed.
protocol::RoomSettings SettingsOf(const Policy& policy);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_POLICY_H_
