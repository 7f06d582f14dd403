// libuv handles that live in ordinary objects. libuv wants a handle's memory until its close
// callback, which comes in a later turn; here each handle is a block of its own that frees itself
// there, so that the object around it can go at any moment, even from inside its own callback.
//
// Every block holds the LoopRef it was made with: when the last block and the last other holder are
// gone, everything on the loop is closed, and `closed` is called.
//
// Threads: the loop's.
#ifndef ANTEROOM_CLIENT_LOOP_HANDLES_H_
#define ANTEROOM_CLIENT_LOOP_HANDLES_H_

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace anteroom::client {

struct LoopRef {
  explicit LoopRef(uv_loop_t* uv_loop) : loop(uv_loop) {}
  ~LoopRef() {
    if (closed) closed();
  }
  LoopRef(const LoopRef&) = delete;
  LoopRef& operator=(const LoopRef&) = delete;

  uv_loop_t* const loop;
  std::function<void()> closed;
};

namespace loop_handles_internal {

// After closing, `callback` is kept until the close callback: it may be what is running.
template <typename UvHandle, typename... Args>
struct Block {
  UvHandle handle{};
  std::function<void(Args...)> callback;
  std::shared_ptr<LoopRef> ref;
  bool closed = false;

  static Block* Of(UvHandle* handle) { return static_cast<Block*>(handle->data); }
  void Run(Args... args) {
    if (!closed) callback(args...);
  }
  void Close() {
    closed = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&handle), [](uv_handle_t* handle) {
      auto* block = static_cast<Block*>(handle->data);
      // The last reference may call `closed`, after which the loop itself may be gone.
      const std::shared_ptr<LoopRef> ref = std::move(block->ref);
      delete block;
    });
  }
};

}  // namespace loop_handles_internal

// Calls back once, `after_ms` from now on.
class Timer {
 public:
  Timer(const std::shared_ptr<LoopRef>& ref, std::function<void()> callback);
  ~Timer() { block_->Close(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(int64_t after_ms);
  void Stop();
  bool started() const;

 private:
  loop_handles_internal::Block<uv_timer_t>* block_;
};

// Calls back in every turn while started; the loop does not sleep meanwhile.
class Idle {
 public:
  Idle(const std::shared_ptr<LoopRef>& ref, std::function<void()> callback);
  ~Idle() { block_->Close(); }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;

  void Start();
  void Stop();

 private:
  loop_handles_internal::Block<uv_idle_t>* block_;
};

// Calls back before the loop waits for events, in every turn while started.
class Prepare {
 public:
  Prepare(const std::shared_ptr<LoopRef>& ref, std::function<void()> callback);
  ~Prepare() { block_->Close(); }
  Prepare(const Prepare&) = delete;
  Prepare& operator=(const Prepare&) = delete;

  void Start();
  void Stop();

 private:
  loop_handles_internal::Block<uv_prepare_t>* block_;
};

// Tells when a descriptor can be read or written. Does not own the descriptor, which must be
// non-blocking and stay open as long as this.
class Poll {
 public:
  // status: 0 or a libuv error; events: UV_READABLE, UV_WRITABLE.
  Poll(const std::shared_ptr<LoopRef>& ref, int fd,
       std::function<void(int status, int events)> callback);
  ~Poll() {
    if (ok()) block_->Close();
  }
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  // False when the system had no room for another descriptor to poll; then nothing else works.
  bool ok() const { return block_ != nullptr; }
  void Start(int events);
  void Stop();

 private:
  loop_handles_internal::Block<uv_poll_t, int, int>* block_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_LOOP_HANDLES_H_
