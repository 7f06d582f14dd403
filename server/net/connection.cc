#include "server/net/connection.h"

#include <algorithm>
#include <utility>

#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::net {
namespace {

using protocol::FrameStatus;

// Where input is read that nobody wants any more. Shared: nobody looks at it.
char dropped_input[64 * 1024];

// In the host's lists.
constexpr size_t kListedBytes = 6 * sizeof(void*);

}  // namespace

Connection::Connection(ConnectionHost* host) : host_(host), state_since_ms_(host->loop_ms()) {}

bool Connection::Accept(uv_stream_t* listener) {
  const bool is_pipe = listener->type == UV_NAMED_PIPE;
  if (is_pipe) {
    CHECK_EQ(uv_pipe_init(listener->loop, &handle_.pipe, 0), 0);
  } else {
    CHECK_EQ(uv_tcp_init(listener->loop, &handle_.tcp), 0);
  }
  handle_open_ = true;
  handle_.handle.data = this;
  if (uv_accept(listener, stream()) != 0) {
    Close();
    return false;
  }
  // Best effort: a socket that is gone already refuses both, and reading says so.
  if (!is_pipe) {
    uv_tcp_nodelay(&handle_.tcp, 1);
    uv_tcp_keepalive(&handle_.tcp, 1, limits::kKeepaliveSeconds);
  }
  ReadMore();
  return state_ != State::kClosed;
}

void Connection::ReadMore() {
  if (reading_ || input_ended_ || state_ == State::kClosed) return;
  const int error = uv_read_start(
      stream(),
      [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
        auto* self = static_cast<Connection*>(handle->data);
        if (!self->takes_requests()) {
          *buffer = uv_buf_init(dropped_input, sizeof dropped_input);
          return;
        }
        const std::span<char> room = self->input_.Room();
        *buffer = uv_buf_init(room.data(), static_cast<unsigned>(room.size()));
      },
      [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t*) {
        static_cast<Connection*>(stream->data)->OnRead(bytes);
      });
  if (error != 0) {
    Close();
    return;
  }
  reading_ = true;
}

void Connection::OnRead(ssize_t bytes) {
  quiet_ = false;
  // What was made room for and not used: thousands may go at once.
  if (bytes <= 0 && worked_bytes_ == 0) input_.GiveBack();
  if (bytes == 0) return;
  if (bytes < 0) {
    uv_read_stop(stream());
    reading_ = false;
    if (bytes != UV_EOF) {
      Close();
      return;
    }
    input_ended_ = true;
    if (state_ == State::kLingering) {
      Close();
    } else if (!listed.ready) {
      host_->OnInput(this);
    }
    return;
  }
  if (!takes_requests()) return;
  input_.Filled(static_cast<size_t>(bytes));
  // A stranger gets so much and no more before it has been looked at.
  const bool enough = is_stranger() ? input_.size() >= stranger_bytes_max()
                                    : input_.size() >= host_->limits().input_bytes && has_work();
  if (enough) {
    uv_read_stop(stream());
    reading_ = false;
  }
  if (!listed.ready) host_->OnInput(this);
}

// As much as one frame of theirs may be; never less than the first buffer.
size_t Connection::stranger_bytes_max() const {
  return std::max<size_t>(limits::kInputBytesMin,
                          protocol::kHeaderBytes + host_->limits().hello_bytes);
}

FrameStatus Connection::NextFrame(protocol::FrameHeader* header, std::string_view* payload) {
  const std::string_view bytes = input_.view().substr(worked_bytes_);
  if (bytes.empty()) return FrameStatus::kPartial;
  size_t consumed = 0;
  const FrameStatus status = protocol::TakeFrame(bytes, header, payload, &consumed);
  if (status == FrameStatus::kComplete) {
    worked_bytes_ += consumed;
    partial_since_ms_ = 0;
  } else if (status == FrameStatus::kPartial && partial_since_ms_ == 0) {
    partial_since_ms_ = host_->loop_ms();
  }
  return status;
}

bool Connection::has_work() const {
  return protocol::PeekFrame(input_.view().substr(worked_bytes_)) != FrameStatus::kPartial;
}

void Connection::FinishWork() {
  input_.Consume(std::exchange(worked_bytes_, 0));
  // The turn may have ended before what is left was looked at.
  if (!input_.empty() && partial_since_ms_ == 0 && !has_work()) {
    partial_since_ms_ = host_->loop_ms();
  }
  if (!takes_requests()) {
    input_.Clear();
    return;
  }
  if (input_.size() < host_->limits().input_bytes || !has_work()) ReadMore();
}

void Connection::Challenged(uint16_t version, std::optional<std::string_view> key_id,
                            std::string challenge) {
  state_ = State::kProving;
  proving_ = std::make_unique<Proving>();
  proving_->version = version;
  if (!key_id) return;
  proving_->key_id = *key_id;
  proving_->challenge = std::move(challenge);
}

void Connection::Proven(std::string_view name, protocol::Role role) {
  CHECK(state_ == State::kProving);
  state_ = State::kOpen;
  name_ = name;
  role_ = role;
  proving_.reset();
}

bool Connection::over_high_water() const {
  return outbox_.queued_bytes() + writing_bytes() >= host_->limits().output_high_bytes;
}

void Connection::Release(uint64_t sequence) {
  outbox_.Release(sequence);
  if (!outbox_.ready()->empty()) Touch();
}

void Connection::Flush() {
  if (state_ == State::kClosed || state_ == State::kLingering) return;
  if (outbox_.queued_bytes() + writing_bytes() > host_->limits().output_bytes) {
    Close();
    return;
  }
  std::string& ready = *outbox_.ready();
  if (writing_ != nullptr || ready.empty()) {
    AfterSending();
    return;
  }
  uv_buf_t buffer = uv_buf_init(ready.data(), static_cast<unsigned>(ready.size()));
  const int sent = uv_try_write(stream(), &buffer, 1);
  if (sent < 0 && sent != UV_EAGAIN) {
    Close();
    return;
  }
  if (sent == static_cast<int>(ready.size())) {
    ready.clear();
    if (ready.capacity() > limits::kIdleOutputBytesMax) ready.shrink_to_fit();
    AfterSending();
    return;
  }
  writing_ = std::make_unique<Writing>();
  writing_->bytes.swap(ready);
  const size_t sent_bytes = sent > 0 ? static_cast<size_t>(sent) : 0;
  buffer = uv_buf_init(writing_->bytes.data() + sent_bytes,
                       static_cast<unsigned>(writing_->bytes.size() - sent_bytes));
  writing_->write.data = this;
  const int error =
      uv_write(&writing_->write, stream(), &buffer, 1, [](uv_write_t* write, int status) {
        static_cast<Connection*>(write->data)->OnWritten(status);
      });
  if (error != 0) {
    writing_.reset();
    Close();
    return;
  }
  stalled_since_ms_ = host_->loop_ms();
  unsent_bytes_ = unsent_bytes();
}

void Connection::OnWritten(int status) {
  writing_.reset();
  stalled_since_ms_ = 0;
  if (state_ == State::kClosed) return;
  if (status != 0) {
    Close();
    return;
  }
  Touch();
}

void Connection::AfterSending() {
  if (backed_up && !over_high_water()) {
    backed_up = false;
    if (!listed.ready) host_->OnInput(this);
  }
  if (state_ == State::kDraining && writing_ == nullptr && outbox_.queued_bytes() == 0) Shutdown();
}

void Connection::Drain() {
  if (!takes_requests()) return;
  state_ = State::kDraining;
  state_since_ms_ = host_->loop_ms();
  if (worked_bytes_ == 0) input_.Clear();
  host_->OnGone(this);
  ReadMore();
  if (state_ != State::kClosed) Touch();
}

void Connection::Shutdown() {
  if (input_ended_) {
    Close();
    return;
  }
  state_ = State::kLingering;
  state_since_ms_ = host_->loop_ms();
  shutdown_ = std::make_unique<uv_shutdown_t>();
  if (uv_shutdown(shutdown_.get(), stream(), [](uv_shutdown_t*, int) {}) != 0) Close();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  const bool told = !takes_requests();
  state_ = State::kClosed;
  reading_ = false;
  if (!told) host_->OnGone(this);
  CHECK(handle_open_);
  uv_close(&handle_.handle, [](uv_handle_t* handle) {
    auto* self = static_cast<Connection*>(handle->data);
    self->host_->OnClosed(self);
  });
}

size_t Connection::CheckDeadlines(uint64_t linger_ms_max) {
  CloseWhenOverdue(linger_ms_max);
  return std::exchange(quiet_, true) && state_ != State::kClosed ? GiveBack() : 0;
}

void Connection::CloseWhenOverdue(uint64_t linger_ms_max) {
  const uint64_t now_ms = host_->loop_ms();
  const auto over = [now_ms](uint64_t since_ms, uint64_t max_ms) {
    return now_ms - since_ms > max_ms;
  };
  if (stalled_since_ms_ != 0) {
    const size_t now_bytes = unsent_bytes();
    if (now_bytes != unsent_bytes_) {
      unsent_bytes_ = now_bytes;
      stalled_since_ms_ = now_ms;
    } else if (over(stalled_since_ms_, limits::kOutputStalledMsMax)) {
      Close();
      return;
    }
  }
  switch (state_) {
    case State::kGreeting:
    case State::kProving:
      if (over(state_since_ms_, host_->limits().hello_ms)) Close();
      break;
    case State::kOpen:
      if (partial_since_ms_ != 0 && over(partial_since_ms_, host_->limits().frame_ms)) Close();
      break;
    case State::kDraining:
      if (over(state_since_ms_, limits::kOutputStalledMsMax)) Close();
      break;
    case State::kLingering:
      if (over(state_since_ms_, linger_ms_max)) Close();
      break;
    case State::kClosed:
      break;
  }
}

size_t Connection::GiveBack() {
  const auto kept_bytes = [this] { return input_.capacity_bytes() + outbox_.capacity_bytes(); };
  const size_t before_bytes = kept_bytes();
  if (worked_bytes_ == 0) input_.GiveBack();
  outbox_.GiveBack();
  return before_bytes - kept_bytes();
}

size_t Connection::held_bytes() const {
  size_t bytes =
      sizeof(Connection) + kListedBytes + input_.capacity_bytes() + outbox_.capacity_bytes();
  if (writing_ != nullptr) bytes += sizeof(Writing) + writing_->bytes.capacity();
  if (proving_ != nullptr) bytes += sizeof(Proving) + protocol::kCredentialNameBytesMax;
  return bytes;
}

void Connection::check_invariants() const {
  input_.check_invariants();
  outbox_.check_invariants();
  CHECK_LE(worked_bytes_, input_.size());
  if (state_ != State::kClosed) CHECK_EQ(stalled_since_ms_ != 0, writing_ != nullptr);
  if (state_ == State::kProving) CHECK(proving_ != nullptr && role_ == protocol::Role::kAnyone);
  if (state_ == State::kOpen) CHECK(proving_ == nullptr && role_ != protocol::Role::kAnyone);
  if (state_ == State::kLingering) CHECK(writing_ == nullptr && outbox_.queued_bytes() == 0);
}

}  // namespace anteroom::net
