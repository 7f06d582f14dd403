// What a connection has yet to be sent, in two rows: frames that may go now, and frames that are
// held until the log record whose effects they may show is durable.
//
//   protocol::AppendFrame(..., outbox.Immediate());        // shows no room's state
//   protocol::AppendFrame(..., outbox.Marked(sequence));   // may show records up to `sequence`
//   outbox.Release(durable_sequence);                      // moves what may go now
//   outbox.ready()                                         // ... and is for the socket to send
//
// Marks only grow, so held frames are released in the order in which they were written. A frame
// whose mark is released already is never held.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_NET_OUTBOX_H_
#define ANTEROOM_SERVER_NET_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace anteroom::net {

// Invariants: the runs' marks rise, each above `released_`, and their ends rise up to the end of
// `held_`; without runs nothing is held.
class Outbox {
 public:
  // Where a frame that waits for nothing is appended.
  std::string* Immediate() { return &ready_; }
  // Where a frame is appended that may show what records up to `mark` did. Append whole frames
  // before the next call of anything here.
  std::string* Marked(uint64_t mark) {
    if (mark <= released_) return &ready_;
    if (runs_.empty() || runs_.back().mark < mark) StartRun(mark);
    return &held_;
  }

  // Everything up to record `sequence` is durable.
  void Release(uint64_t sequence);

  bool holds() const { return held_.size() > held_begin_; }
  // The sender takes from here: swaps it or clears it.
  std::string* ready() { return &ready_; }
  // Nothing has been said for a while: if nothing is queued, the memory is let go.
  void GiveBack();
  // Waiting for the disk or for the socket; what the socket has taken is not counted.
  size_t queued_bytes() const { return ready_.size() + held_.size() - held_begin_; }

  size_t capacity_bytes() const {
    return ready_.capacity() + held_.capacity() + runs_.capacity() * sizeof(Run);
  }
  void check_invariants() const;

 private:
  // Frames of one mark; they end where the next run begins, the last one at the end of `held_`.
  struct Run {
    uint64_t mark;
    size_t begin;
  };
  void StartRun(uint64_t mark);

  std::string ready_;
  std::string held_;
  size_t held_begin_ = 0;  // released up to here
  std::vector<Run> runs_;
  size_t first_run_ = 0;
  uint64_t released_ = 0;
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_OUTBOX_H_
