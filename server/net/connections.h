// All connections of the daemon, and the network's part of a turn of the loop:
//
//   (libuv reads)                     connections fill their inputs and get in the list `ready`
//   connections.Work()                decodes what has arrived, within the budgets, in chunks
//                                     that the worker is given
//   connections.Release(sequence)     records up to this one are durable (or need not be)
//   connections.Flush()               one write for each connection that has something to say
//
// What is wrong with a frame is answered here; the worker sees requests only, and of those only
// what the role of their connection may ask for. HELLO and the proof of credentials are answered
// here too (connections_greeting.cc). Connections beyond the limit are told so and closed.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_NET_CONNECTIONS_H_
#define ANTEROOM_SERVER_NET_CONNECTIONS_H_

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/operations.h"
#include "server/base/gatekeeper.h"
#include "server/net/connection.h"

namespace anteroom::net {

// Where a request came from.
struct Arrival {
  Connection* connection = nullptr;
  uint32_t request_id = 0;
};

class RequestWorker {
 public:
  // Requests in the order of their arrival, arrivals[i] telling whose requests[i] is.
  virtual void Work(std::span<const protocol::Request> requests,
                    std::span<const Arrival> arrivals) = 0;
  // Nothing more will be asked or heard through this connection.
  virtual void OnGone(Connection* connection) = 0;

 protected:
  ~RequestWorker() = default;
};

// Invariants: every connection stands in `all_` at its slot; its flags tell which of the lists it
// stands in, each at most once.
class Connections : private ConnectionHost {
 public:
  // `worker` and `gatekeeper` outlive it; without the latter everybody is an operator.
  Connections(RequestWorker* worker, const Limits& limits, const Gatekeeper* gatekeeper = nullptr);
  // Every connection has been closed by then, and the loop has run until they were.
  ~Connections();

  // What the time is now. A client comes while a turn waits for something, perhaps a second after
  // its time was set; without a clock it counts as having come then.
  void SetClock(uint64_t (*loop_ms)()) { clock_ = loop_ms; }
  // Takes a client off a listening stream; for uv_listen's callback.
  void Accept(uv_stream_t* listener);

  // Begins the network's part of a turn.
  void SetTime(uint64_t loop_ms) { loop_ms_ = loop_ms; }
  void Work();
  void Release(uint64_t sequence);
  void Flush();
  // Closes connections whose deadlines have passed, and lets go of what quiet ones do not need.
  // About once a second.
  void CheckDeadlines(uint64_t linger_ms_max);

  // Memory let go of since it was last asked: buffers of quiet connections, connections closed.
  size_t TakeGivenBackBytes() { return std::exchange(given_back_bytes_, 0); }

  // Requests are left over that could be worked now.
  bool has_backlog() const { return !ready_.empty(); }
  // Something has been said since the last Flush.
  bool has_output() const { return !output_.empty(); }

  // What waits behind a blocked request may go on.
  void Unblock(Connection* connection);

  // An answer of it will come in a later turn, and what it asks meanwhile is worked; it is not
  // drained before EndAwait.
  void Await(Connection* connection) { ++connection->awaited; }
  void EndAwait(Connection* connection);

  // Requests that arrive from now on are refused with `unavailable`, `stopping`.
  void BeginStopping() { stopping_ = true; }
  // Sends what is owed and closes each; or closes each at once.
  void DrainAll();
  void CloseAll();

  size_t count() const { return all_.size() - refused_count_; }
  bool empty() const { return all_.empty(); }
  // What all of them hold, buffers included, as each was when it was last worked or flushed.
  size_t held_bytes() const { return held_bytes_; }

  void check_invariants() const;

 private:
  void OnInput(Connection* connection) override;
  void OnOutput(Connection* connection) override;
  void OnGone(Connection* connection) override { worker_->OnGone(connection); }
  void OnClosed(Connection* connection) override;
  uint64_t released_sequence() const override { return released_sequence_; }
  uint64_t loop_ms() const override { return loop_ms_; }
  const Limits& limits() const override { return limits_; }

  size_t TakeRequests(Connection* connection);
  bool TakeFrame(Connection* connection, const protocol::FrameHeader& header,
                 std::string_view payload, size_t* cost);
  bool Greet(Connection* connection, const protocol::FrameHeader& header, std::string_view payload);
  bool Authenticate(Connection* connection, const protocol::FrameHeader& header,
                    std::string_view payload);
  void WorkChunk();
  void Recount(Connection* connection);

  RequestWorker* const worker_;
  const Gatekeeper* const gatekeeper_;
  const Limits limits_;
  bool stopping_ = false;
  uint64_t (*clock_)() = nullptr;
  uint64_t loop_ms_ = 0;
  uint64_t released_sequence_ = 0;

  std::vector<std::unique_ptr<Connection>> all_;
  size_t refused_count_ = 0;
  size_t given_back_bytes_ = 0;
  size_t held_bytes_ = 0;
  std::deque<Connection*> ready_;    // have input to work, first come first
  std::vector<Connection*> worked_;  // of this turn
  std::vector<Connection*> output_;  // have something to flush
  std::vector<Connection*> held_;    // have output waiting for the disk
  std::vector<Connection*> flushing_;

  size_t chunk_size_ = 0;
  std::vector<protocol::Request> chunk_;
  std::vector<Arrival> arrivals_;
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_CONNECTIONS_H_
