#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/codec.h"
#include "protocol/frame.h"
#include "protocol/operations.h"
#include "protocol/text.h"
#include "tests/support/seed.h"
#include "tests/support/wire_examples.h"
#include "tests/support/wire_messages.h"

namespace anteroom {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): bytes with zeros
using protocol::AppendFrame;
using protocol::Decode;
using protocol::Encode;
using protocol::FrameHeader;
using protocol::FrameKind;
using protocol::FrameStatus;
using protocol::kHeaderBytes;
using protocol::TakeFrame;

template <typename Message>
std::string Bytes(const Message& message) {
  std::string bytes;
  Encode(message, &bytes);
  return bytes;
}

template <typename Message>
bool Decodes(std::string_view bytes) {
  Message message;
  return Decode(bytes, &message);
}

enum class Taken { kMalformed, kTheSame, kAnother };

// What becomes of the first frame of `bytes` when it is decoded and encoded again.
Taken Take(std::string_view bytes) {
  FrameHeader header;
  std::string_view payload;
  size_t consumed = 0;
  if (TakeFrame(bytes, &header, &payload, &consumed) != FrameStatus::kComplete) {
    return Taken::kMalformed;
  }
  const std::optional<std::string> again = DecodeAndEncode(header, payload);
  if (!again) return Taken::kMalformed;
  return *again == bytes.substr(0, consumed) ? Taken::kTheSame : Taken::kAnother;
}

TEST_CASE("protocol: a bool is 0 or 1") {
  const std::string request = Bytes(protocol::RoomDeleteRequest{"r", true});
  REQUIRE(request == "\x00\x01r\x01"s);
  REQUIRE(Decodes<protocol::RoomDeleteRequest>("\x00\x01r\x00"s));
  REQUIRE(Decodes<protocol::RoomDeleteRequest>("\x00\x01r\x01"s));
  REQUIRE_FALSE(Decodes<protocol::RoomDeleteRequest>("\x00\x01r\x02"s));
  REQUIRE_FALSE(Decodes<protocol::RoomDeleteRequest>("\x00\x01r\xff"s));
}

TEST_CASE("protocol: an enum is a number of its table") {
  for (int number = 0; number < 256; ++number) {
    const std::string reply = "\x00\x00\x00"s + static_cast<char>(number);
    REQUIRE(Decodes<protocol::VisitorReply>(reply) == (number >= 1 && number <= 4));
  }
}

TEST_CASE("protocol: a presence bit that stands for no field is malformed") {
  for (int bits = 0; bits < 256; ++bits) {
    std::string request = static_cast<char>(bits) + "\x01r\x01v"s;
    if (bits & 1) request += "\x05";
    REQUIRE(Decodes<protocol::JoinRequest>(request) == (bits < 2));
  }
  REQUIRE_FALSE(Decodes<protocol::RoomRequest>("\x01\x01r"s));
  REQUIRE(Decodes<protocol::VisitorReply>("\x00\x00\x00\x01"s));
  REQUIRE_FALSE(Decodes<protocol::VisitorReply>("\x00\x00\x02\x01"s));
}

TEST_CASE("protocol: a result is a reply or a refusal, never both or neither") {
  const std::string reply = "\x00\x00\x00\x01"s;
  const std::string refusal = "\x00\x01\x00\x00"s;
  REQUIRE(Decodes<protocol::VisitorResult>("\x01" + reply));
  REQUIRE(Decodes<protocol::VisitorResult>("\x02" + refusal));
  REQUIRE_FALSE(Decodes<protocol::VisitorResult>("\x03" + reply + refusal));
  REQUIRE_FALSE(Decodes<protocol::VisitorResult>("\x00"s));
  REQUIRE(Decodes<protocol::VisitorPush>("\x01\x01v" + reply));
  REQUIRE_FALSE(Decodes<protocol::VisitorPush>("\x03\x01v" + reply + refusal));
  REQUIRE_FALSE(Decodes<protocol::VisitorPush>("\x00\x01v"s));
}

TEST_CASE("protocol: the rate `none` has one spelling") {
  REQUIRE(Decodes<protocol::Rate>(std::string(8, '\0')));
  REQUIRE_FALSE(Decodes<protocol::Rate>("\x01\x00\x00\x00\x00\x00\x00\x00"s));
}

TEST_CASE("protocol: what was in a message before decoding is gone") {
  protocol::JoinRequest request{"old", "old", uint8_t{7}};
  REQUIRE(Decode("\x00\x01r\x01v"s, &request));
  REQUIRE_FALSE(request.lane.has_value());
  protocol::WatchRequest watch{"old", {"a", "b", "c"}};
  REQUIRE(Decode("\x00\x01r\x01\x00\x01v"s, &watch));
  REQUIRE(watch.visitors.size() == 1);
}

// How many items a list takes memory for when `bytes` are decoded.
template <typename Message, typename List>
size_t Reserved(const std::string& bytes, List Message::*list) {
  Message message;
  Decode(bytes, &message);
  return (message.*list).capacity();
}

TEST_CASE("protocol: no count asks for more memory than what arrived could fill") {
  const std::string many = "\x00\xff\xff"s + std::string(100, '\0');
  REQUIRE(Reserved(many, &protocol::JoinManyRequest::items) == 0);
  REQUIRE(Reserved(many, &protocol::StatusManyRequest::items) == 0);
  REQUIRE(Reserved(many, &protocol::VisitorResults::items) == 0);
  REQUIRE(Reserved(many, &protocol::RoomListReply::rooms) == 0);
  REQUIRE(Reserved(many, &protocol::PageReply::items) == 0);
  // 34 joins of at least 3 bytes do not fit into 100 bytes, 33 do.
  REQUIRE(Reserved("\x00\x22\x00"s + std::string(100, '\0'), &protocol::JoinManyRequest::items) ==
          0);
  REQUIRE(Decodes<protocol::JoinManyRequest>("\x00\x21\x00"s + std::string(99, '\0')));
}

TEST_CASE("protocol: text that is too long is cut, between characters") {
  protocol::Refusal refusal;
  refusal.message = std::string(254, 'a') + "\xe2\x82\xac";  // a euro sign, 3 bytes
  protocol::Refusal read;
  REQUIRE(Decode(Bytes(refusal), &read));
  REQUIRE(read.message == std::string(254, 'a'));
  refusal.message = std::string(252, 'a') + "\xe2\x82\xac";
  REQUIRE(Decode(Bytes(refusal), &read));
  REQUIRE(read.message == refusal.message);
  refusal.message = std::string(300, '\x80');  // no UTF-8: cut at the limit
  REQUIRE(Decode(Bytes(refusal), &read));
  REQUIRE(read.message.size() == 255);
}

TEST_CASE("protocol: missing and trailing bytes are malformed, for every message") {
  for (const WireExample& example : WireExamples()) {
    CAPTURE(example.name);
    FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    REQUIRE(TakeFrame(example.frame, &header, &payload, &consumed) == FrameStatus::kComplete);
    REQUIRE(DecodeAndEncode(header, payload) == example.frame);
    for (size_t size = 0; size < payload.size(); ++size) {
      REQUIRE_FALSE(DecodeAndEncode(header, payload.substr(0, size)).has_value());
    }
    for (const char byte : {'\0', '\x01', '\xff'}) {
      REQUIRE_FALSE(DecodeAndEncode(header, std::string(payload) + byte).has_value());
    }
  }
}

TEST_CASE("protocol: whatever one byte is changed to, a frame is malformed or canonical") {
  size_t malformed = 0;
  size_t the_same = 0;
  for (const WireExample& example : WireExamples()) {
    CAPTURE(example.name);
    std::string frame = example.frame;
    for (size_t i = 0; i < frame.size(); ++i) {
      const char original = frame[i];
      for (int change = 1; change < 256; ++change) {
        frame[i] = static_cast<char>(original ^ change);
        const Taken taken = Take(frame);
        ++(taken == Taken::kMalformed ? malformed : the_same);
        if (taken != Taken::kAnother) continue;
        CAPTURE(i);
        CAPTURE(change);
        REQUIRE(taken == Taken::kTheSame);
      }
      frame[i] = original;
    }
  }
  REQUIRE(malformed > 0);
  REQUIRE(the_same > 0);
}

// ---- random frames ----

template <typename Message>
std::string RandomFrame(RandomMessages& random, protocol::Operation operation, FrameKind kind) {
  std::string frame;
  AppendFrame(static_cast<uint8_t>(operation), kind, static_cast<uint32_t>(random.Below(1u << 31)),
              random.Make<Message>(), &frame);
  random.Clear();
  return frame;
}

using FrameMaker = std::string (*)(RandomMessages& random);

// One for every request and reply of the table, and for what watches send.
std::vector<FrameMaker> FrameMakers() {
  using protocol::Operation;
  std::vector<FrameMaker> makers;
#define ANTEROOM_X(number, Name, name, Request, Reply, ...)                                 \
  makers.push_back([](RandomMessages& random) {                                             \
    return RandomFrame<protocol::Request>(random, Operation::k##Name, FrameKind::kRequest); \
  });                                                                                       \
  makers.push_back([](RandomMessages& random) {                                             \
    return RandomFrame<protocol::Reply>(random, Operation::k##Name, FrameKind::kReply);     \
  });
  ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  makers.push_back([](RandomMessages& random) {
    return RandomFrame<protocol::Refusal>(random, Operation::kJoin, FrameKind::kRefusal);
  });
  makers.push_back([](RandomMessages& random) {
    return RandomFrame<protocol::VisitorPush>(random, Operation::kWatch, FrameKind::kPush);
  });
  return makers;
}

// Of each of 60 makers.
constexpr int kRounds = 2500;

TEST_CASE("protocol: random messages come back as they went") {
  RandomMessages random(TestSeed());
  for (const FrameMaker make : FrameMakers()) {
    for (int i = 0; i < kRounds; ++i) {
      const std::string frame = make(random);
      const Taken taken = Take(frame);
      if (taken == Taken::kTheSame) continue;
      CAPTURE(protocol::EscapeId(frame));
      REQUIRE(taken == Taken::kTheSame);
    }
  }
}

void Damage(RandomMessages& random, std::string* bytes) {
  for (size_t damages = 1 + random.Below(3); damages > 0 && !bytes->empty(); --damages) {
    const size_t place = random.Below(bytes->size());
    switch (random.Below(4)) {
      case 0:
        (*bytes)[place] = static_cast<char>(random.Below(256));
        break;
      case 1:
        (*bytes)[place] = '\xff';
        break;
      case 2:
        bytes->erase(place, 1 + random.Below(4));
        break;
      default:
        bytes->insert(place, random.Bytes(1 + random.Below(4)));
    }
  }
}

TEST_CASE("protocol: random payloads, and messages with damage, are malformed or canonical") {
  RandomMessages random(TestSeed() + 1);
  size_t malformed = 0;
  size_t the_same = 0;
  for (const FrameMaker make : FrameMakers()) {
    for (int i = 0; i < kRounds; ++i) {
      std::string frame = make(random);
      std::string payload = frame.substr(kHeaderBytes);
      if (random.Below(4) == 0) {
        payload = random.Bytes(random.Below(64));
      } else {
        Damage(random, &payload);
      }
      frame.replace(kHeaderBytes, std::string::npos, payload);
      const auto payload_bytes = static_cast<uint32_t>(payload.size());
      std::memcpy(frame.data(), &payload_bytes, sizeof payload_bytes);
      const Taken taken = Take(frame);
      ++(taken == Taken::kMalformed ? malformed : the_same);
      if (taken != Taken::kAnother) continue;
      CAPTURE(protocol::EscapeId(frame));
      REQUIRE(taken == Taken::kTheSame);
    }
  }
  REQUIRE(malformed > 0);
  REQUIRE(the_same > 0);
}

}  // namespace
}  // namespace anteroom
