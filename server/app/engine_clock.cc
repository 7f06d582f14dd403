#include "server/app/engine_clock.h"

#include "server/base/check.h"

namespace anteroom::app {

int64_t EngineClock::Read(uint64_t now_ns) {
  if (kind_ == Kind::kReal && !stopped_ && now_ns > base_ns_) {
    const int64_t now_ms = base_ms_ + static_cast<int64_t>((now_ns - base_ns_) / 1'000'000);
    if (now_ms > shown_ms_) shown_ms_ = now_ms;
  }
  return shown_ms_;
}

void EngineClock::Stop() {
  stopped_ = true;
}

void EngineClock::Resume(uint64_t now_ns) {
  if (!stopped_) return;
  stopped_ = false;
  base_ms_ = shown_ms_;
  base_ns_ = now_ns;
}

void EngineClock::MoveTo(int64_t to_ms) {
  CHECK(is_virtual());
  CHECK_GE(to_ms, shown_ms_);
  shown_ms_ = to_ms;
}

void EngineClock::check_invariants() const {
  if (is_virtual()) return;
  CHECK_GE(shown_ms_, base_ms_);
}

}  // namespace anteroom::app
