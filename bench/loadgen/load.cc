#include "bench/loadgen/load.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

#include "bench/loadgen/processes.h"
#include "server/base/check.h"

namespace anteroom::loadgen {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr int kSilenceMsMax = 20'000;
constexpr int kEventsMax = 256;

}  // namespace

absl::StatusOr<std::unique_ptr<Load>> Load::Open(Side* side, const Address& address,
                                                 size_t connections, pid_t server) {
  std::unique_ptr<Load> load(new Load(server));
  load->chunk_.resize(kChunkBytes);
  load->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (load->epoll_ < 0) return SystemError("epoll");
  load->connections_.reserve(connections);
  for (size_t i = 0; i < connections; ++i) {
    absl::StatusOr<Socket> socket = Connect(address);
    if (!socket.ok()) return socket.status();
    Connection& connection = load->connections_.emplace_back();
    connection.socket = *std::move(socket);
    connection.conversation = side->Converse();
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &connection}};
    if (epoll_ctl(load->epoll_, EPOLL_CTL_ADD, connection.socket.fd(), &event) != 0) {
      return SystemError("epoll");
    }
  }
  const auto greet = [](Conversation& conversation, uint64_t, std::string* out) {
    conversation.Greet(out);
  };
  const absl::StatusOr<RunResult> greeted =
      load->Do({.ask = greet, .requests = connections, .connections = connections, .depth = 1});
  if (!greeted.ok()) return greeted.status();
  return load;
}

Load::~Load() {
  if (epoll_ >= 0) close(epoll_);
}

absl::StatusOr<RunResult> Load::Do(const Run& run) {
  using Clock = std::chrono::steady_clock;
  CHECK(run.connections > 0 && run.connections <= connections_.size() && run.depth > 0);
  asked_ = 0;
  answers_ = {};
  const double load_cpu_before = CpuSeconds(getpid());
  const double server_cpu_before = CpuSeconds(server_);
  const Clock::time_point start = Clock::now();

  for (Connection& connection : std::span(connections_).first(run.connections)) {
    if (absl::Status status = Refill(run, &connection); !status.ok()) return status;
  }
  std::array<epoll_event, kEventsMax> events;
  while (answers_.count < run.requests) {
    const int count = epoll_wait(epoll_, events.data(), kEventsMax, kSilenceMsMax);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("epoll");
    if (count == 0) return absl::DeadlineExceededError("the server has stopped answering");
    for (const epoll_event& event : std::span(events).first(static_cast<size_t>(count))) {
      auto* connection = static_cast<Connection*>(event.data.ptr);
      absl::Status status;
      if ((event.events & EPOLLOUT) != 0) status = Send(connection);
      if (status.ok() && (event.events & ~EPOLLOUT) != 0) status = Receive(run, connection);
      if (!status.ok()) return status;
    }
  }

  RunResult result;
  result.answers = answers_;
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.load_cpu_seconds = CpuSeconds(getpid()) - load_cpu_before;
  result.server_cpu_seconds = CpuSeconds(server_) - server_cpu_before;
  return result;
}

absl::Status Load::Refill(const Run& run, Connection* connection) {
  while (connection->in_flight < run.depth && asked_ < run.requests) {
    run.ask(*connection->conversation, asked_++, &connection->out);
    ++connection->in_flight;
  }
  return Send(connection);
}

absl::Status Load::Send(Connection* connection) {
  std::string& out = connection->out;
  if (!out.empty()) {
    const ssize_t sent =
        send(connection->socket.fd(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return SystemError("send");
    if (sent > 0) out.erase(0, static_cast<size_t>(sent));
  }
  // The socket is watched for room only while something waits for it.
  if (connection->waits_to_write == out.empty()) {
    connection->waits_to_write = !out.empty();
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection}};
    if (connection->waits_to_write) event.events |= EPOLLOUT;
    if (epoll_ctl(epoll_, EPOLL_CTL_MOD, connection->socket.fd(), &event) != 0) {
      return SystemError("epoll");
    }
  }
  return absl::OkStatus();
}

absl::Status Load::Receive(const Run& run, Connection* connection) {
  const ssize_t got = recv(connection->socket.fd(), chunk_.data(), chunk_.size(), MSG_DONTWAIT);
  if (got == 0) return absl::UnavailableError("the server has closed a connection");
  if (got < 0) {
    return errno == EAGAIN || errno == EINTR ? absl::OkStatus() : SystemError("receive");
  }
  const uint64_t count_before = answers_.count;
  absl::Status status = connection->conversation->Take(
      std::string_view(chunk_.data(), static_cast<size_t>(got)), &answers_);
  if (!status.ok()) return status;
  connection->in_flight -= answers_.count - count_before;
  return Refill(run, connection);
}

void Load::check_invariants() const {
  for (const Connection& connection : connections_) {
    CHECK_EQ(connection.in_flight, size_t{0});
    CHECK(connection.out.empty());
    CHECK(!connection.waits_to_write);
  }
}

}  // namespace anteroom::loadgen
