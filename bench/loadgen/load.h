// The driver: a number of connections to one server, each with so many requests in flight, in one
// thread. Whenever answers have arrived on a connection, as many new requests leave in one write.
#ifndef ANTEROOM_BENCH_LOADGEN_LOAD_H_
#define ANTEROOM_BENCH_LOADGEN_LOAD_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loadgen/side.h"
#include "bench/loadgen/sockets.h"

namespace anteroom::loadgen {

// The i-th request of a run, appended to `out`.
using Ask = std::function<void(Conversation& conversation, uint64_t i, std::string* out)>;

struct Run {
  Ask ask;
  uint64_t requests = 0;
  size_t connections = 0;  // of those that there are, the first so many
  size_t depth = 0;        // requests in flight on each
};

struct RunResult {
  Answers answers;
  double seconds = 0;
  // Processor time spent meanwhile by this process, and by the server if its process is known.
  double load_cpu_seconds = 0;
  double server_cpu_seconds = 0;
};

// Thread rule: one thread at a time. Invariant: outside Do nothing is in flight; within, every
// connection has what it asked and what was answered to it counted in in_flight.
class Load {
 public:
  // `server` is the process id behind the address, or 0.
  static absl::StatusOr<std::unique_ptr<Load>> Open(Side* side, const Address& address,
                                                    size_t connections, pid_t server);
  ~Load();

  // Until everything is answered. An error, too, when the server is silent for long.
  absl::StatusOr<RunResult> Do(const Run& run);

  void check_invariants() const;

 private:
  struct Connection {
    Socket socket;
    std::unique_ptr<Conversation> conversation;
    std::string out;
    size_t in_flight = 0;
    bool waits_to_write = false;
  };

  explicit Load(pid_t server) : server_(server) {}
  absl::Status Refill(const Run& run, Connection* connection);
  absl::Status Send(Connection* connection);
  absl::Status Receive(const Run& run, Connection* connection);

  const pid_t server_;
  int epoll_ = -1;
  std::vector<Connection> connections_;
  std::vector<char> chunk_;
  // Of the run at work.
  uint64_t asked_ = 0;
  Answers answers_;
};

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_LOAD_H_
