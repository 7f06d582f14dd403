#include "client/transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/check.h"
#include "client/failure.h"
#include "client/limits.h"

namespace anteroom::client {

namespace {

std::string ErrorText(int error) {
  return uv_strerror(uv_translate_sys_error(error));
}

int SocketError(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  return error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Connect(const std::shared_ptr<LoopRef>& ref,
                                                              const SocketAddress& address,
                                                              Owner* owner) {
  const int fd = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return LocalStatus(FailureCause::kUnreachable, ErrorText(errno));
  if (address.storage.ss_family != AF_UNIX) {
    // Requests are gathered here already; waiting for more would only add delay.
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  int result;
  do {
    result = connect(fd, reinterpret_cast<const sockaddr*>(&address.storage), address.length);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINPROGRESS) {
    const std::string why = ErrorText(errno);
    close(fd);
    return LocalStatus(FailureCause::kUnreachable, why);
  }
  std::unique_ptr<Transport> transport(new Transport(ref, fd, owner));
  if (!transport->poll_->ok()) {
    return LocalStatus(FailureCause::kUnreachable, "the system cannot watch another descriptor");
  }
  transport->PollFor(UV_WRITABLE);
  return transport;
}

Transport::Transport(const std::shared_ptr<LoopRef>& ref, int fd, Owner* owner)
    : fd_(fd), owner_(owner) {
  poll_.emplace(ref, fd, [this](int status, int events) { OnPoll(status, events); });
}

Transport::~Transport() {
  *alive_ = false;
  // Before the descriptor, whose number another thread may get as soon as it is closed.
  poll_.reset();
  // A child process that holds a copy of the descriptor must not keep the daemon waiting; the
  // child in turn must not end its parent's connection.
  if (!fork_guard_.forked()) shutdown(fd_, SHUT_RDWR);
  close(fd_);
}

void Transport::PollFor(int events) {
  if (events == polled_events_) return;
  polled_events_ = events;
  poll_->Start(events);
}

void Transport::Break(const std::string& why) {
  broken_ = true;
  poll_->Stop();
  polled_events_ = 0;
  owner_->OnBroken(why);
}

void Transport::OnPoll(int status, int events) {
  if (fork_guard_.forked()) {
    // What arrives is for the parent.
    poll_->Stop();
    return;
  }
  if (broken_) return;
  if (!connected_) return OnConnectResult();
  const std::shared_ptr<bool> alive = alive_;
  if (status < 0 || (events & UV_READABLE) != 0) {
    // An error is no reason to skip what arrived before it: it may be why the daemon hangs up.
    ReadNow();
    if (!*alive || broken_) return;
    if (status < 0) {
      const int error = SocketError(fd_);
      return Break(error != 0 ? ErrorText(error) : uv_strerror(status));
    }
  }
  if ((events & UV_WRITABLE) != 0) Send();
}

void Transport::OnConnectResult() {
  const int error = SocketError(fd_);
  if (error != 0) return Break(ErrorText(error));
  connected_ = true;
  PollFor(UV_READABLE);
  owner_->OnConnected();
}

void Transport::ReadNow() {
  if (fork_guard_.forked() || !connected_ || broken_) return;
  size_t read_bytes = 0;
  while (read_bytes < kReadBytesPerTurnMax) {
    if (input_start_ == input_end_) input_start_ = input_end_ = 0;
    if (input_.size() - input_end_ < kReadBytesAtOnce) {
      std::memmove(input_.data(), input_.data() + input_start_, input_end_ - input_start_);
      input_end_ -= input_start_;
      input_start_ = 0;
      if (input_.size() - input_end_ < kReadBytesAtOnce) {
        input_.resize(input_end_ + 2 * kReadBytesAtOnce);
      }
    }
    const ssize_t size = recv(fd_, input_.data() + input_end_, input_.size() - input_end_, 0);
    if (size == 0) return Break("the daemon closed the connection");
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      return Break(ErrorText(errno));
    }
    const bool all = static_cast<size_t>(size) < input_.size() - input_end_;
    input_end_ += static_cast<size_t>(size);
    read_bytes += static_cast<size_t>(size);
    if (!Consume()) return;
    if (all) break;
  }
  if (input_start_ == input_end_ && input_.size() > kIdleBufferBytesMax) {
    input_start_ = input_end_ = 0;
    std::string().swap(input_);
  }
}

bool Transport::Consume() {
  const std::shared_ptr<bool> alive = alive_;
  const size_t used =
      owner_->OnBytes(std::string_view(input_).substr(input_start_, input_end_ - input_start_));
  if (!*alive || broken_) return false;
  CLIENT_CHECK(used <= input_end_ - input_start_);
  input_start_ += used;
  return true;
}

void Transport::Flush() {
  // While the kernel takes no more, the poll tells when it does again.
  if (!connected_ || broken_ || (polled_events_ & UV_WRITABLE) != 0) return;
  Send();
}

void Transport::Send() {
  if (fork_guard_.forked()) return;
  while (sent_bytes_ < output_.size()) {
    const ssize_t size =
        send(fd_, output_.data() + sent_bytes_, output_.size() - sent_bytes_, MSG_NOSIGNAL);
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      // The reading side tells of it, after what the daemon sent before it hung up.
      shutdown(fd_, SHUT_RDWR);
      output_.clear();
      sent_bytes_ = 0;
      return PollFor(UV_READABLE);
    }
    sent_bytes_ += static_cast<size_t>(size);
  }
  if (sent_bytes_ == output_.size()) {
    output_.clear();
    sent_bytes_ = 0;
    if (output_.capacity() > kIdleBufferBytesMax) std::string().swap(output_);
    PollFor(UV_READABLE);
  } else {
    if (sent_bytes_ > output_.size() / 2) {
      output_.erase(0, sent_bytes_);
      sent_bytes_ = 0;
    }
    PollFor(UV_READABLE | UV_WRITABLE);
  }
}

void Transport::check_invariants() const {
  CLIENT_CHECK(sent_bytes_ <= output_.size());
  CLIENT_CHECK(input_start_ <= input_end_ && input_end_ <= input_.size());
  CLIENT_CHECK(!broken_ || polled_events_ == 0);
}

}  // namespace anteroom::client
