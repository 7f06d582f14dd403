#include "server/net/input_buffer.h"

#include <algorithm>
#include <cstring>

#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::net {

std::span<char> InputBuffer::Room() {
  if (begin_ > 0 && capacity_ - end_ < capacity_ / 2) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_ && capacity_ < limits::kInputBytesMax) {
    const size_t capacity =
        capacity_ == 0 ? limits::kInputBytesMin : std::min(capacity_ * 4, limits::kInputBytesMax);
    // Not make_unique, which would fill it with zeros.
    std::unique_ptr<char[]> bytes(new char[capacity]);
    if (size() > 0) std::memcpy(bytes.get(), bytes_.get() + begin_, size());
    end_ -= begin_;
    begin_ = 0;
    bytes_ = std::move(bytes);
    capacity_ = capacity;
  }
  return {bytes_.get() + end_, capacity_ - end_};
}

void InputBuffer::Filled(size_t bytes) {
  CHECK_LE(bytes, capacity_ - end_);
  end_ += bytes;
}

void InputBuffer::Consume(size_t bytes) {
  CHECK_LE(bytes, size());
  begin_ += bytes;
  if (begin_ < end_) return;
  begin_ = end_ = 0;
  if (capacity_ == limits::kInputBytesMin || capacity_ > limits::kIdleBufferBytesMax) GiveBack();
}

void InputBuffer::GiveBack() {
  if (!empty()) return;
  bytes_.reset();
  capacity_ = begin_ = end_ = 0;
}

void InputBuffer::check_invariants() const {
  CHECK_LE(begin_, end_);
  CHECK_LE(end_, capacity_);
  CHECK_LE(capacity_, limits::kInputBytesMax);
  CHECK_EQ(bytes_ == nullptr, capacity_ == 0);
}

}  // namespace anteroom::net
