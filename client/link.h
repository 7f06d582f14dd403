// One greeted connection to the daemon, kept up: goes through the addresses, connects, says hello,
// proves its credentials and has the daemon prove the same, notices silence, and after a loss
// begins again with a jittered back-off. Where credentials did not fit, that goes on too, since a
// daemon's can be mended, but nobody is made to wait for it.
//
// States (what is held in each):
//   kPausing     the timer, until the next round over the addresses
//   kResolving   a name is being looked up; the timer limits it
//   kConnecting  a transport, not greeted and proven yet; the timer limits it
//   kUp          a transport, greeted and proven; the timer watches for silence
//   kDown        nothing, and never again: no reconnect wanted, or shut down
//
// Threads: the loop's. The owner may call Shutdown or Break from inside its callbacks.
#ifndef ANTEROOM_CLIENT_LINK_H_
#define ANTEROOM_CLIENT_LINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/address.h"
#include "client/backoff.h"
#include "client/fork_guard.h"
#include "client/loop_handles.h"
#include "client/options.h"
#include "client/resolver.h"
#include "client/transport.h"
#include "protocol/credentials.h"
#include "protocol/frame.h"

namespace anteroom::client {

// Request ids below this are the link's own; the owner's begin here.
inline constexpr uint32_t kFirstRequestId = 1u << 20;

class Link final : private Transport::Owner {
 public:
  class Owner {
   public:
    virtual void OnUp() = 0;
    // A frame that does not concern the link itself.
    virtual void OnFrame(const protocol::FrameHeader& header, std::string_view payload) = 0;
    // The greeted connection is gone, and with it every answer that was still to come.
    virtual void OnLost(const std::string& why) = 0;
    // Every address has failed; without reconnect, or after a loss without it, that is final.
    virtual void OnAway() = 0;
    // This is a forked child; the link does nothing more.
    virtual void OnForked() = 0;

   protected:
    ~Owner() = default;
  };

  Link(const std::shared_ptr<LoopRef>& ref, const ClientOptions& options, Owner* owner);

  bool up() const { return state_ == State::kUp; }
  // Whether the daemon is known to be away, rather than being tried for the first time.
  bool away() const { return away_; }
  bool down() const { return state_ == State::kDown; }
  // Away because credentials did not fit at an address of the last round.
  bool unauthorized() const { return away_ && !unauthorized_why_.empty(); }
  // Of a link that is away: as a call's status, with the time of the next attempt.
  absl::Status AwayStatus() const;

  // While up: append frames, then Flush once a turn.
  std::string* output() { return transport_->output(); }
  size_t unsent_bytes() const { return transport_ == nullptr ? 0 : transport_->unsent_bytes(); }
  void Flush();

  // Takes what has arrived, before deadlines are judged.
  void ReadNow();

  // The daemon sent what it must not: give up this connection, not before the next turn.
  void Break(std::string why);

  // For good; nothing is called after it.
  void Shutdown();

  void check_invariants() const;

 private:
  enum class State { kPausing, kResolving, kConnecting, kUp, kDown };

  void OnConnected() override;
  size_t OnBytes(std::string_view bytes) override;
  void OnBroken(const std::string& why) override;

  void BeginRound();
  void TryAddress();
  void TrySocketAddress();
  void AttemptFailed(const std::string& why);
  void AttemptUnauthorized(const std::string& why);
  void Pause(int64_t delay_ms);
  void OnTimer();
  void OnSilence();
  void OnOwnFrame(const protocol::FrameHeader& header, std::string_view payload);
  void OnHello(const protocol::FrameHeader& header, std::string_view payload);
  void OnAuthenticated(const protocol::FrameHeader& header, std::string_view payload);
  void GoUp();

  const ForkGuard fork_guard_;
  const std::shared_ptr<LoopRef> ref_;
  const ClientOptions options_;
  Owner* const owner_;
  State state_ = State::kPausing;
  bool away_ = false;
  std::string why_;                     // the last failure
  std::string unauthorized_why_;        // of the last whole round; empty: it was not that
  std::string round_unauthorized_why_;  // of this round so far

  size_t address_ = 0;                   // index of the one being tried, or up
  size_t addresses_left_ = 0;            // of this round, that one not counted
  std::vector<SocketAddress> resolved_;  // what is left to try of this address, last first

  Backoff backoff_;
  int64_t next_attempt_ms_ = 0;  // while pausing
  int64_t heard_ms_ = 0;
  bool answered_ = false;  // this connection has carried an answer
  bool asked_for_life_ = false;
  std::optional<std::string> broken_;  // why to give up the connection at the next chance

  // Of the connection being greeted: what it is to prove, and with what.
  std::optional<protocol::Credential> credential_;
  uint16_t version_ = 0;
  std::string challenge_;
  std::string nonce_;

  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<Transport> transport_;
  uint64_t transport_number_ = 0;  // tells whether it is still the same one
  Timer timer_;
};

// The clock of all deadlines here: monotonic milliseconds, of no fixed beginning.
int64_t NowMs();

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_LINK_H_
