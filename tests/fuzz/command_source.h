// Commands for an engine out of a fuzzer's input: a byte or a few for each, all of them records
// that a log can hold. Few rooms, few names, small numbers, so that commands meet; times that stand
// still, creep and jump.
//
// Threads: one. The input outlives it.
#ifndef ANTEROOM_TESTS_FUZZ_COMMAND_SOURCE_H_
#define ANTEROOM_TESTS_FUZZ_COMMAND_SOURCE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/settings.h"
#include "tests/fuzz/byte_source.h"

namespace anteroom::fuzz {

// Rooms have the numbers from 1 to this one, or there is none of that number.
inline constexpr uint32_t kRoomsTried = 9;

// Invariant: what it gives is finite, and bounded by the size of the input but for kCrowdMax joins.
class CommandSource {
 public:
  explicit CommandSource(ByteSource* source) : source_(*source) {}

  bool empty() const { return crowd_ == 0 && source_.empty(); }
  // The next one and its time as bytes of a record. Not when empty.
  std::string Next();

 private:
  static constexpr uint64_t kCrowdMax = 900;  // joins of all crowds together

  std::string NextFromCrowd();
  void Pass();
  uint32_t SomeRoom() { return static_cast<uint32_t>(source_.Below(kRoomsTried)); }
  std::string SomeVisitor();
  uint8_t SomeLane();
  protocol::RoomSettings SomeSettings();
  template <typename OneCommand>
  std::string Of(const OneCommand& one) const;

  ByteSource& source_;
  int64_t at_ms_ = 0;
  uint64_t crowd_ = 0;  // joins of a crowd still to come
  uint64_t crowd_left_ = kCrowdMax;
  uint32_t crowd_room_ = 0;
};

}  // namespace anteroom::fuzz

#endif  // ANTEROOM_TESTS_FUZZ_COMMAND_SOURCE_H_
