#include "client/loop_handles.h"

#include <utility>

namespace anteroom::client {

namespace {

// Null when libuv has no such handle to give, which only happens to polls.
template <typename Block, typename Init>
Block* MakeBlock(const std::shared_ptr<LoopRef>& ref, decltype(Block::callback) callback,
                 Init init) {
  auto block = std::make_unique<Block>();
  if (init(ref->loop, &block->handle) != 0) return nullptr;
  block->handle.data = block.get();
  block->callback = std::move(callback);
  block->ref = ref;
  return block.release();
}

}  // namespace

Timer::Timer(const std::shared_ptr<LoopRef>& ref, std::function<void()> callback)
    : block_(MakeBlock<loop_handles_internal::Block<uv_timer_t>>(ref, std::move(callback),
                                                                 uv_timer_init)) {}

void Timer::Start(int64_t after_ms) {
  // libuv counts from the loop's cached time, which is old after a long turn.
  uv_update_time(block_->ref->loop);
  uv_timer_start(
      &block_->handle,
      [](uv_timer_t* timer) { loop_handles_internal::Block<uv_timer_t>::Of(timer)->Run(); },
      static_cast<uint64_t>(after_ms < 0 ? 0 : after_ms), 0);
}

void Timer::Stop() {
  uv_timer_stop(&block_->handle);
}

bool Timer::started() const {
  return uv_is_active(reinterpret_cast<const uv_handle_t*>(&block_->handle)) != 0;
}

Idle::Idle(const std::shared_ptr<LoopRef>& ref, std::function<void()> callback)
    : block_(MakeBlock<loop_handles_internal::Block<uv_idle_t>>(ref, std::move(callback),
                                                                uv_idle_init)) {}

void Idle::Start() {
  uv_idle_start(&block_->handle,
                [](uv_idle_t* idle) { loop_handles_internal::Block<uv_idle_t>::Of(idle)->Run(); });
}

void Idle::Stop() {
  uv_idle_stop(&block_->handle);
}

Prepare::Prepare(const std::shared_ptr<LoopRef>& ref, std::function<void()> callback)
    : block_(MakeBlock<loop_handles_internal::Block<uv_prepare_t>>(ref, std::move(callback),
                                                                   uv_prepare_init)) {}

void Prepare::Start() {
  uv_prepare_start(&block_->handle, [](uv_prepare_t* prepare) {
    loop_handles_internal::Block<uv_prepare_t>::Of(prepare)->Run();
  });
}

void Prepare::Stop() {
  uv_prepare_stop(&block_->handle);
}

Poll::Poll(const std::shared_ptr<LoopRef>& ref, int fd,
           std::function<void(int status, int events)> callback)
    : block_(MakeBlock<loop_handles_internal::Block<uv_poll_t, int, int>>(
          ref, std::move(callback),
          [fd](uv_loop_t* loop, uv_poll_t* poll) { return uv_poll_init(loop, poll, fd); })) {}

void Poll::Start(int events) {
  uv_poll_start(&block_->handle, events, [](uv_poll_t* poll, int status, int happened) {
    loop_handles_internal::Block<uv_poll_t, int, int>::Of(poll)->Run(status, happened);
  });
}

void Poll::Stop() {
  uv_poll_stop(&block_->handle);
}

}  // namespace anteroom::client
