// One connected stream socket on a libuv loop: bytes out, gathered, and bytes in, handed on as they
// arrive.
//
// It polls a descriptor of its own rather than use libuv's streams: those write without
// MSG_NOSIGNAL, which would raise SIGPIPE in the program that links this library, and the same
// buffer can then be sent without a request for each write.
//
// Invariant: sent bytes ≤ output bytes; the descriptor is open until the object is destroyed.
// Threads: the loop's. The owner may destroy it from inside any of its callbacks.
#ifndef ANTEROOM_CLIENT_TRANSPORT_H_
#define ANTEROOM_CLIENT_TRANSPORT_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/address.h"
#include "client/fork_guard.h"
#include "client/loop_handles.h"

namespace anteroom::client {

class Transport {
 public:
  class Owner {
   public:
    virtual void OnConnected() = 0;
    // Returns how many of `bytes`, all that has arrived and was not yet used, are now used.
    virtual size_t OnBytes(std::string_view bytes) = 0;
    // Not connected, or not any more. Nothing is called after it.
    virtual void OnBroken(const std::string& why) = 0;

   protected:
    ~Owner() = default;
  };

  // Begins to connect; an error is what the system says at once.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(const std::shared_ptr<LoopRef>& ref,
                                                            const SocketAddress& address,
                                                            Owner* owner);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Append here, then call Flush once a turn.
  std::string* output() { return &output_; }
  size_t unsent_bytes() const { return output_.size() - sent_bytes_; }
  void Flush();

  // Takes what has arrived without waiting for the loop to tell of it.
  void ReadNow();

  void check_invariants() const;

 private:
  Transport(const std::shared_ptr<LoopRef>& ref, int fd, Owner* owner);

  void OnPoll(int status, int events);
  void OnConnectResult();
  void Break(const std::string& why);
  void PollFor(int events);
  // False when this object is gone or broken.
  bool Consume();
  void Send();

  const ForkGuard fork_guard_;
  const int fd_;
  Owner* const owner_;
  bool connected_ = false;
  bool broken_ = false;
  int polled_events_ = 0;

  std::string output_;
  size_t sent_bytes_ = 0;

  std::string input_;  // as large as was needed; the bytes between the two marks count
  size_t input_start_ = 0;
  size_t input_end_ = 0;

  // False once the object is destroyed; for code that calls the owner and then goes on.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::optional<Poll> poll_;  // until the end
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_TRANSPORT_H_
