// One client's connection: a stream of libuv with its input, its output and its deadlines. It knows
// frames as bytes only; what they mean is worked out by whoever owns the table (connections.h).
//
// Life: greeting (before HELLO) → proving (before the proof of its credentials, where they are
// asked for) → open → draining (no more input; what is owed is sent) → lingering (our side is shut
// down; input is read and dropped, so that the peer gets all of it rather than a reset) → closed.
// Close cuts it short at any point. The object is destroyed by its host when libuv has let go of
// it, never within a turn's work.
//
// Output is gathered through a turn and goes out in one write: tried at once, and what the socket
// does not take is left to the loop.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_NET_CONNECTION_H_
#define ANTEROOM_SERVER_NET_CONNECTION_H_

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "protocol/refusal.h"
#include "server/base/limits.h"
#include "server/net/input_buffer.h"
#include "server/net/outbox.h"
#include "server/net/watches.h"

namespace anteroom::net {

class Connection;

// Told by connections what becomes of them. Lists that it keeps are threaded through the public
// `listed` flags.
class ConnectionHost {
 public:
  // There is input to work, or the input has ended.
  virtual void OnInput(Connection* connection) = 0;
  // There is output to flush at the end of the turn.
  virtual void OnOutput(Connection* connection) = 0;
  // Nothing more will be asked or heard through it. Once, before OnClosed.
  virtual void OnGone(Connection* connection) = 0;
  // The last call: the object may be destroyed.
  virtual void OnClosed(Connection* connection) = 0;
  // Records up to this one may show in what leaves now.
  virtual uint64_t released_sequence() const = 0;
  virtual uint64_t loop_ms() const = 0;
  virtual const Limits& limits() const = 0;

 protected:
  ~ConnectionHost() = default;
};

// Invariants: a write is in flight exactly while there is a `writing_`; `worked_bytes_` of the
// input have been taken and are still pointed into; `proving_` is set while it is proving.
class Connection final : public Subscriber {
 public:
  enum class State { kGreeting, kProving, kOpen, kDraining, kLingering, kClosed };

  explicit Connection(ConnectionHost* host);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Takes the next client off a listening stream and begins to read. On failure the caller waits
  // for OnClosed all the same.
  bool Accept(uv_stream_t* listener);

  State state() const { return state_; }
  bool takes_requests() const { return is_stranger() || state_ == State::kOpen; }
  // Nobody is known at the other end yet: what it may cost is little, and its time is limited.
  bool is_stranger() const { return state_ == State::kGreeting || state_ == State::kProving; }

  // ---- input ----

  // Takes the next frame off the input; *payload is good until FinishWork.
  protocol::FrameStatus NextFrame(protocol::FrameHeader* header, std::string_view* payload);
  // The frames taken are worked; the input may move again. Reads on if there is room.
  void FinishWork();
  // Something is left to take: a whole frame, or one to refuse.
  bool has_work() const;
  bool input_ended() const { return input_ended_; }

  // ---- who is there ----

  // HELLO was said, and there is nothing to prove: the other end is `role`.
  void Greeted(protocol::Role role) {
    state_ = State::kOpen;
    role_ = role;
  }
  // HELLO was said, and credentials are yet to be proven: those of `key_id`, if a name was said at
  // all.
  void Challenged(uint16_t version, std::optional<std::string_view> key_id, std::string challenge);
  // The proof was right.
  void Proven(std::string_view name, protocol::Role role);
  // Set from Challenged to Proven.
  struct Proving {
    uint16_t version = 0;
    std::string key_id;
    std::string challenge;  // empty: no name was said, and no proof can be given
    int wrong_proofs = 0;
  };
  Proving* proving() { return proving_.get(); }
  protocol::Role role() const { return role_; }
  // Empty when no credentials are in use.
  std::string_view name() const { return name_; }

  // ---- output ----

  std::string* Immediate() {
    Touch();
    return outbox_.Immediate();
  }
  // Records up to `mark` may show in what is appended here.
  std::string* Marked(uint64_t mark) override {
    Touch();
    outbox_.Release(host_->released_sequence());
    return outbox_.Marked(mark);
  }
  void Refuse(uint8_t operation, uint32_t request_id, const protocol::Refusal& refusal) {
    protocol::AppendFrame(operation, protocol::FrameKind::kRefusal, request_id, refusal,
                          Immediate());
  }

  // Sends what may go, closes what is drained.
  void Flush();
  void Release(uint64_t sequence);
  bool holds() const { return outbox_.holds(); }
  // Whether more may be put in without the peer reading.
  bool has_room() const override { return takes_requests() && !over_high_water(); }
  bool over_high_water() const;

  // ---- end ----

  // Takes nothing more, sends what is owed, then closes.
  void Drain();
  void Close();
  // Closes when a deadline has passed; lets go of the buffers of one that has been quiet since the
  // last time, and returns how many bytes these were. Called about once a second.
  size_t CheckDeadlines(uint64_t linger_ms_max);

  // What it takes, with a place in each list that its host may have it in.
  size_t held_bytes() const;
  // What the socket has not taken yet.
  size_t unsent_bytes() { return uv_stream_get_write_queue_size(stream()); }

  void check_invariants() const;

  // Whether it stands in the host's lists.
  struct Listed {
    bool ready = false;
    bool output = false;
    bool held = false;
  } listed;
  size_t slot = 0;           // in the host's table
  size_t counted_bytes = 0;  // held, when the host looked last
  size_t awaited = 0;        // answers that will come in a later turn
  bool refused = false;      // beyond the limit: is only told so
  bool blocked = false;      // a request of it is under way that the next ones must wait for
  bool backed_up = false;    // asks OnInput once its output is below the high water

 private:
  uv_stream_t* stream() { return &handle_.stream; }
  void Touch() {
    quiet_ = false;
    if (!listed.output) host_->OnOutput(this);
  }
  void ReadMore();
  void OnRead(ssize_t bytes);
  void OnWritten(int status);
  void AfterSending();
  size_t stranger_bytes_max() const;
  void CloseWhenOverdue(uint64_t linger_ms_max);
  size_t GiveBack();
  void Shutdown();

  ConnectionHost* const host_;
  State state_ = State::kGreeting;
  bool reading_ = false;
  bool input_ended_ = false;
  bool handle_open_ = false;
  bool quiet_ = false;

  protocol::Role role_ = protocol::Role::kAnyone;
  std::string name_;
  std::unique_ptr<Proving> proving_;

  InputBuffer input_;
  size_t worked_bytes_ = 0;
  Outbox outbox_;
  // What the socket did not take at once, with the loop's part of it. Most connections never have
  // one, and it is a quarter of their size.
  struct Writing {
    std::string bytes;
    uv_write_t write;
  };
  size_t writing_bytes() const { return writing_ != nullptr ? writing_->bytes.size() : 0; }
  std::unique_ptr<Writing> writing_;

  uint64_t state_since_ms_;
  uint64_t partial_since_ms_ = 0;  // 0: no frame is begun
  uint64_t stalled_since_ms_ = 0;  // 0: the socket takes what it is given
  size_t unsent_bytes_ = 0;        // when last looked at

  union Handle {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } handle_;
  std::unique_ptr<uv_shutdown_t> shutdown_;  // once it lingers
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_CONNECTION_H_
