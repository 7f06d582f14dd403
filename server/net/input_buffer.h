// What a connection has sent and what has not been worked yet.
//
//   std::span<char> room = input.Room();     // read into it
//   input.Filled(n);
//   input.view();                            // frames are taken off the front
//   input.Consume(frame_bytes);
//
// Room may move the bytes, so views into them are good until the next Room: reading happens in one
// part of a turn, working in another. It grows only as it is filled. Emptied, the smallest is given
// back, so that an idle connection costs nothing here, and so is a large one; what is between is
// kept for who is busy, until GiveBack.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_NET_INPUT_BUFFER_H_
#define ANTEROOM_SERVER_NET_INPUT_BUFFER_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace anteroom::net {

// Invariant: begin_ <= end_ <= capacity_ <= limits::kInputBytesMax.
class InputBuffer {
 public:
  // Free space behind what is there; empty when the buffer is full and may not grow.
  std::span<char> Room();
  void Filled(size_t bytes);

  std::string_view view() const { return {bytes_.get() + begin_, end_ - begin_}; }
  size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  void Consume(size_t bytes);
  void Clear() { Consume(size()); }
  // Nothing has come for a while: an empty buffer is let go.
  void GiveBack();

  size_t capacity_bytes() const { return capacity_; }
  void check_invariants() const;

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_INPUT_BUFFER_H_
