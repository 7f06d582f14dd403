// A fuzzer's input, read front to back: numbers, choices and texts. At its end everything is zero
// and empty, so that every input means something. ByteSink writes what it reads; seeds are made so.
//
// Threads: one. The input outlives the source.
#ifndef ANTEROOM_TESTS_FUZZ_BYTE_SOURCE_H_
#define ANTEROOM_TESTS_FUZZ_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace anteroom::fuzz {

class ByteSource {
 public:
  explicit ByteSource(std::string_view bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  std::string_view rest() const { return left_; }

  uint8_t Byte() {
    if (left_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  bool Flag() { return (Byte() & 1) != 0; }
  uint64_t Below(uint64_t bound) { return Byte() % bound; }
  uint16_t Short() {
    const uint8_t low = Byte();
    return static_cast<uint16_t>(low | Byte() << 8);
  }
  std::string_view Take(size_t size) {
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(taken.size());
    return taken;
  }
  // Up to 255 bytes, their number first; and up to 65,535.
  std::string_view Text() { return Take(Byte()); }
  std::string_view LongText() { return Take(Short()); }

 private:
  std::string_view left_;
};

// Text beyond what its length can say is cut.
class ByteSink {
 public:
  ByteSink& Byte(uint64_t value) {
    bytes_ += static_cast<char>(value);
    return *this;
  }
  ByteSink& Short(uint64_t value) { return Byte(value).Byte(value >> 8); }
  ByteSink& Bytes(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  ByteSink& Text(std::string_view text) {
    text = text.substr(0, 255);
    return Byte(text.size()).Bytes(text);
  }
  ByteSink& LongText(std::string_view text) {
    text = text.substr(0, 65535);
    return Short(text.size()).Bytes(text);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace anteroom::fuzz

#endif  // ANTEROOM_TESTS_FUZZ_BYTE_SOURCE_H_
