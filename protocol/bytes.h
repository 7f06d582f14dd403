// Little-endian bytes in and out. A reader never reads past its end: the first read that would
// makes it fail, and from then on every read gives zero.
#ifndef ANTEROOM_PROTOCOL_BYTES_H_
#define ANTEROOM_PROTOCOL_BYTES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace anteroom::protocol {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied as they lie in memory, which is the wire's order");

class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  template <typename Number>
  void Put(Number value) {
    static_assert(std::is_integral_v<Number>);
    out_->append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void PutBytes(std::string_view bytes) { out_->append(bytes); }

 private:
  std::string* out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  template <typename Number>
  Number Get() {
    static_assert(std::is_integral_v<Number>);
    Number value = 0;
    const std::string_view bytes = GetBytes(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  // A view into what is read, valid as long as that is; empty after a failure.
  std::string_view GetBytes(size_t size) {
    if (size > left_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  void Fail() {
    failed_ = true;
    left_ = {};
  }
  bool failed() const { return failed_; }
  size_t left_bytes() const { return left_.size(); }

 private:
  std::string_view left_;
  bool failed_ = false;
};

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_BYTES_H_
