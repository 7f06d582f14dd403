// The thread pool that the commit path hands its work to, in the simulation's hands: a job runs,
// and its end is told, when the simulation says so. With the clock that goes with it, it stands in
// for the two calls of libuv that server/app/group_commit.cc makes.
//
//   Pool pool;                 // takes the calls of this thread from now on
//   GroupCommit commit(pool.loop(), ...);
//   pool.Step(random);         // one job runs, or one end is told
//
// Threads: one; at most one Pool a thread.
#ifndef ANTEROOM_TESTS_SIM_POOL_H_
#define ANTEROOM_TESTS_SIM_POOL_H_

#include <uv.h>

#include <cstdint>
#include <random>
#include <vector>

namespace anteroom::sim {

class Pool {
 public:
  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  uv_loop_t* loop() { return &loop_; }
  void SetTime(uint64_t now_ns);

  bool idle() const { return jobs_.empty(); }
  // A job at random runs, or tells its end, with whatever the loop does then.
  void Step(std::mt19937_64& random);
  // The process is gone: nothing runs any more. Whoever waits is told an end, to be taken apart.
  void Abandon();

 private:
  friend int Queue(uv_work_t* work, uv_work_cb run, uv_after_work_cb after);
  struct Job {
    uv_work_t* work;
    uv_work_cb run;
    uv_after_work_cb after;
    bool has_run;
  };

  uv_loop_t loop_{};
  std::vector<Job> jobs_;
  bool abandoned_ = false;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_POOL_H_
