// The engine's clock: a count of milliseconds that only goes forward, and only while the daemon
// runs. It goes on from where the log ends, by the system's monotonic clock; nobody's wall clock
// has a say.
//
// It can be stopped for a while, when the disk takes no more, and the time of the stop does not
// count. The virtual one stands still until it is told to go on.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_APP_ENGINE_CLOCK_H_
#define ANTEROOM_SERVER_APP_ENGINE_CLOCK_H_

#include <cstdint>

namespace anteroom::app {

// Invariant: Read never gives less than it gave before.
class EngineClock {
 public:
  enum class Kind { kReal, kVirtual };

  // Shows `start_ms` at the monotonic time `now_ns` (uv_hrtime).
  EngineClock(Kind kind, int64_t start_ms, uint64_t now_ns)
      : kind_(kind), shown_ms_(start_ms), base_ms_(start_ms), base_ns_(now_ns) {}

  bool is_virtual() const { return kind_ == Kind::kVirtual; }
  bool stopped() const { return stopped_; }

  int64_t Read(uint64_t now_ns);
  // Stands still at what was read last: what is due by then has been done, and nothing more can be.
  void Stop();
  void Resume(uint64_t now_ns);

  // Moves a virtual clock; `to_ms` is not before what it shows.
  void MoveTo(int64_t to_ms);

  void check_invariants() const;

 private:
  const Kind kind_;
  bool stopped_ = false;
  int64_t shown_ms_;
  // A real clock shows base_ms_ at base_ns_.
  int64_t base_ms_;
  uint64_t base_ns_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_ENGINE_CLOCK_H_
