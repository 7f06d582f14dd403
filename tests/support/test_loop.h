// A libuv loop that a test drives by hand, until something has happened.
//
// Threads: one.
#ifndef ANTEROOM_TESTS_SUPPORT_TEST_LOOP_H_
#define ANTEROOM_TESTS_SUPPORT_TEST_LOOP_H_

#include <uv.h>

#include <stdexcept>

namespace anteroom {

class TestLoop {
 public:
  TestLoop() {
    uv_loop_init(&loop_);
    // So that a wait for something outside the loop ends soon.
    uv_timer_init(&loop_, &tick_);
    uv_timer_start(
        &tick_, [](uv_timer_t*) {}, 1, 1);
    uv_unref(reinterpret_cast<uv_handle_t*>(&tick_));
  }
  // Runs what is left on the loop to its end; everything on it must be closing by now.
  ~TestLoop() {
    uv_close(reinterpret_cast<uv_handle_t*>(&tick_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  TestLoop(const TestLoop&) = delete;
  TestLoop& operator=(const TestLoop&) = delete;

  uv_loop_t* get() { return &loop_; }

  // Throws after a limit that only a failure reaches.
  template <typename Condition>
  void RunUntil(Condition condition) {
    const uint64_t limit_ns = uv_hrtime() + 60'000'000'000;
    while (!condition()) {
      if (uv_hrtime() > limit_ns) throw std::runtime_error("the loop ran in vain");
      uv_run(&loop_, UV_RUN_ONCE);
    }
  }
  // One turn that does not wait.
  void Turn() { uv_run(&loop_, UV_RUN_NOWAIT); }

 private:
  uv_loop_t loop_;
  uv_timer_t tick_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_TEST_LOOP_H_
