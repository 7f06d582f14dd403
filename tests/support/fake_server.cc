#include "tests/support/fake_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

namespace anteroom {

namespace {

constexpr std::chrono::seconds kWaitLimit{60};

[[noreturn]] void ThrowErrno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

FakeServer::FakeServer(std::string unix_path) : unix_path_(std::move(unix_path)) {
  if (pipe2(wake_fds_, O_CLOEXEC | O_NONBLOCK) != 0) ThrowErrno("pipe2");
  Listen();
  thread_ = std::thread([this] { Run(); });
}

FakeServer::~FakeServer() {
  Stop();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  Wake();
  thread_.join();
  close(wake_fds_[0]);
  close(wake_fds_[1]);
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

std::string FakeServer::address() const {
  return unix_path_.empty() ? "127.0.0.1:" + std::to_string(port_) : "unix:" + unix_path_;
}

void FakeServer::Listen() {
  int fd;
  if (unix_path_.empty()) {
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    socklen_t length = sizeof address;
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0) ThrowErrno("bind");
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  } else {
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(unix_path_.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    unix_path_.copy(address.sun_path, sizeof address.sun_path - 1);
    if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ThrowErrno("bind");
  }
  if (listen(fd, 128) != 0) ThrowErrno("listen");
  const std::lock_guard lock(mutex_);
  listener_ = fd;
}

void FakeServer::Start() {
  Listen();
  Wake();
}

void FakeServer::Stop() {
  const std::lock_guard lock(mutex_);
  // By shutdown, because a descriptor that the server's thread is polling is not let go by close
  // before that thread has run.
  if (listener_ >= 0) {
    shutdown(listener_, SHUT_RDWR);
    close(std::exchange(listener_, -1));
  }
  for (auto& [number, connection] : open_) {
    shutdown(connection.fd, SHUT_RDWR);
    close(connection.fd);
  }
  open_.clear();
  changed_.notify_all();
  Wake();
}

void FakeServer::Wake() {
  static_cast<void>(!write(wake_fds_[1], "w", 1));
}

void FakeServer::SetGreeting(Greeting greeting) {
  const std::lock_guard lock(mutex_);
  greeting_ = greeting;
}

void FakeServer::AskForCredentials(std::string challenge) {
  const std::lock_guard lock(mutex_);
  challenge_ = std::move(challenge);
}

std::string FakeServer::key_id() {
  const std::lock_guard lock(mutex_);
  return key_id_;
}

void FakeServer::StopReading() {
  const std::lock_guard lock(mutex_);
  reading_ = false;
  Wake();
}

void FakeServer::Answer(std::function<void(FakeServer&, const Received&)> handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

template <typename Condition>
void FakeServer::WaitFor(std::unique_lock<std::mutex>& lock, const char* what,
                         Condition condition) {
  if (!changed_.wait_for(lock, kWaitLimit, condition)) {
    throw std::runtime_error(std::string("the fake server waited in vain for ") + what);
  }
}

void FakeServer::WaitForConnection(int count) {
  std::unique_lock lock(mutex_);
  WaitFor(lock, "a connection", [&] { return greeted_ >= count; });
}

int FakeServer::connections() {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void FakeServer::WaitForHangUp(int connection) {
  std::unique_lock lock(mutex_);
  WaitFor(lock, "a client to hang up",
          [&] { return connections_ >= connection && !open_.contains(connection); });
}

FakeServer::Received FakeServer::Next() {
  std::unique_lock lock(mutex_);
  WaitFor(lock, "a request", [&] { return !received_.empty(); });
  Received next = std::move(received_.front());
  received_.pop_front();
  return next;
}

bool FakeServer::HasNext() {
  const std::lock_guard lock(mutex_);
  return !received_.empty();
}

void FakeServer::SendBytes(int connection, std::string_view bytes) {
  int fd;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(connection);
    if (found == open_.end()) return;  // it has hung up
    fd = fcntl(found->second.fd, F_DUPFD_CLOEXEC, 0);
  }
  while (!bytes.empty()) {
    pollfd writable{fd, POLLOUT, 0};
    poll(&writable, 1, 1000);
    const ssize_t size = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno != EAGAIN && errno != EINTR) break;
    if (size > 0) bytes.remove_prefix(static_cast<size_t>(size));
  }
  close(fd);
}

void FakeServer::HangUp(int connection) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(connection);
  if (found == open_.end()) return;
  shutdown(found->second.fd, SHUT_RDWR);
  close(found->second.fd);
  open_.erase(found);
  changed_.notify_all();
  Wake();
}

void FakeServer::Run() {
  while (true) {
    std::vector<pollfd> fds{{wake_fds_[0], POLLIN, 0}};
    std::vector<int> numbers{0};
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      if (listener_ >= 0) {
        fds.push_back({listener_, POLLIN, 0});
        numbers.push_back(-1);
      }
      if (reading_) {
        for (const auto& [number, connection] : open_) {
          fds.push_back({connection.fd, POLLIN, 0});
          numbers.push_back(number);
        }
      }
    }
    poll(fds.data(), fds.size(), -1);
    char wakes[64];
    while (read(wake_fds_[0], wakes, sizeof wakes) > 0) {
    }
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents == 0) continue;
      if (numbers[i] < 0) {
        Accept();
      } else {
        Read(numbers[i]);
      }
    }
  }
}

void FakeServer::Accept() {
  const std::lock_guard lock(mutex_);
  if (listener_ < 0) return;
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  const int on = 1;
  if (unix_path_.empty()) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  open_[++connections_].fd = fd;
  changed_.notify_all();
}

void FakeServer::Read(int number) {
  std::vector<Received> requests;
  std::function<void(FakeServer&, const Received&)> handler;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) return;
    Connection& connection = found->second;
    char bytes[65536];
    const ssize_t size = recv(connection.fd, bytes, sizeof bytes, 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      close(connection.fd);
      open_.erase(found);
      changed_.notify_all();
      return;
    }
    connection.input.append(bytes, static_cast<size_t>(size));
    protocol::FrameHeader header;
    std::string_view payload;
    size_t used = 0;
    size_t consumed = 0;
    while (protocol::TakeFrame(std::string_view(connection.input).substr(used), &header, &payload,
                               &consumed) == protocol::FrameStatus::kComplete) {
      used += consumed;
      requests.push_back({number, header, std::string(payload)});
    }
    connection.input.erase(0, used);
    handler = handler_;
  }
  for (Received& request : requests) {
    if (request.operation() == protocol::Operation::kHello) {
      Greet(request);
    } else if (handler) {
      handler(*this, request);
    } else {
      const std::lock_guard lock(mutex_);
      received_.push_back(std::move(request));
      changed_.notify_all();
    }
  }
}

void FakeServer::Greet(const Received& hello) {
  Greeting greeting;
  protocol::HelloReply reply{protocol::kVersionMax, "fake"};
  {
    const std::lock_guard lock(mutex_);
    greeting = greeting_;
    reply.challenge = challenge_;
    key_id_ = hello.As<protocol::Operation::kHello>().key_id.value_or("");
  }
  switch (greeting) {
    case Greeting::kGreet:
      Reply(hello, reply);
      break;
    case Greeting::kRefuse: {
      protocol::Refusal refusal =
          protocol::Refuse(protocol::ErrorCode::kUnavailable, "too many connections");
      refusal.reason = protocol::Reason::kTooManyConnections;
      Refuse(hello, refusal);
      break;
    }
    case Greeting::kOtherVersion:
      Reply(hello, protocol::HelloReply{protocol::kVersionMax + 1, "fake"});
      break;
    case Greeting::kNonsense:
      SendBytes(hello.connection, "HTTP/1.1 400 Bad Request\r\n\r\n");
      break;
    case Greeting::kSilent:
      break;
  }
  const std::lock_guard lock(mutex_);
  ++greeted_;
  changed_.notify_all();
}

}  // namespace anteroom
