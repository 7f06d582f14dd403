#include "tests/sim/pool.h"

#include "server/base/check.h"

namespace anteroom::sim {

namespace {

thread_local Pool* pool_here = nullptr;
thread_local uint64_t now_here_ns = 0;

}  // namespace

uint64_t NowNs() {
  return now_here_ns;
}

int Queue(uv_work_t* work, uv_work_cb run, uv_after_work_cb after) {
  CHECK(pool_here != nullptr);
  pool_here->jobs_.push_back({work, run, after, false});
  return 0;
}

Pool::Pool() {
  CHECK(pool_here == nullptr);
  pool_here = this;
}

Pool::~Pool() {
  pool_here = nullptr;
}

void Pool::SetTime(uint64_t now_ns) {
  now_here_ns = now_ns;
}

void Pool::Step(std::mt19937_64& random) {
  if (jobs_.empty()) return;
  const size_t chosen = random() % jobs_.size();
  Job& job = jobs_[chosen];
  if (!job.has_run) {
    job.has_run = true;
    job.run(job.work);
    return;
  }
  const Job done = job;
  jobs_.erase(jobs_.begin() + static_cast<ptrdiff_t>(chosen));
  done.after(done.work, 0);
}

void Pool::Abandon() {
  while (!jobs_.empty()) {
    const Job job = jobs_.back();
    jobs_.pop_back();
    try {
      job.after(job.work, UV_ECANCELED);
    } catch (...) {
      // The daemon learns of an error of the disk too late to end of it.
    }
  }
}

}  // namespace anteroom::sim

// What the daemon's code calls, here and in the libraries that it is linked with.
extern "C" {

int uv_queue_work(uv_loop_t*, uv_work_t* work, uv_work_cb run, uv_after_work_cb after) {
  return anteroom::sim::Queue(work, run, after);
}

uint64_t uv_hrtime() {
  return anteroom::sim::NowNs();
}
}
