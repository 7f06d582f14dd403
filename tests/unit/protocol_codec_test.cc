#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "protocol/codec.h"
#include "protocol/operations.h"
#include "tests/support/seed.h"
#include "tests/support/wire_examples.h"
#include "tests/support/wire_messages.h"

namespace anteroom {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): bytes with zeros
using protocol::Decode;
using protocol::Encode;
using protocol::FrameHeader;
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

// Whether `bytes` either fail to decode as a Message, or decode to one that is these bytes again;
// and whether lists took memory only for what can have arrived.
template <typename Message>
bool CanonicalOrMalformed(std::string_view bytes) {
  Message message;
  const bool decoded = Decode(bytes, &message);
  if (ItemsReserved(message) > bytes.size()) return false;
  return !decoded || Bytes(message) == bytes;
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

TEST_CASE("protocol: no count asks for more memory than what arrived could fill") {
  protocol::JoinManyRequest many;
  REQUIRE_FALSE(Decode("\x00\xff\xff"s + std::string(100, '\0'), &many));
  REQUIRE(many.items.capacity() == 0);
  // 34 items of at least 3 bytes do not fit into 100 bytes, 33 do.
  REQUIRE_FALSE(Decode("\x00\x22\x00"s + std::string(100, '\0'), &many));
  REQUIRE(many.items.capacity() == 0);
  REQUIRE(Decode("\x00\x21\x00"s + std::string(99, '\0'), &many));
  REQUIRE(many.items.size() == 33);
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

TEST_CASE(
    "protocol: whatever one byte is changed to, a frame is malformed or another canonical one") {
  size_t malformed = 0;
  size_t decoded = 0;
  for (const WireExample& example : WireExamples()) {
    CAPTURE(example.name);
    std::string frame = example.frame;
    for (size_t i = 0; i < frame.size(); ++i) {
      const char original = frame[i];
      for (int change = 1; change < 256; ++change) {
        frame[i] = static_cast<char>(original ^ change);
        FrameHeader header;
        std::string_view payload;
        size_t consumed = 0;
        if (TakeFrame(frame, &header, &payload, &consumed) != FrameStatus::kComplete) continue;
        const std::optional<std::string> again = DecodeAndEncode(header, payload);
        ++(again ? decoded : malformed);
        if (again && *again != std::string_view(frame).substr(0, consumed)) {
          CAPTURE(i);
          CAPTURE(change);
          REQUIRE(*again == frame);
        }
      }
      frame[i] = original;
    }
  }
  REQUIRE(malformed > 0);
  REQUIRE(decoded > 0);
}

// 43 messages times 3,000.
constexpr int kRoundsOfEach = 3000;

TEST_CASE("protocol: random messages come back as they went") {
  RandomMessages random(TestSeed());
  const auto check = [&]<typename Message>(std::string_view name) {
    CAPTURE(name);
    for (int i = 0; i < kRoundsOfEach; ++i) {
      const std::string bytes = Bytes(random.Make<Message>());
      Message message;
      REQUIRE(Decode(bytes, &message));
      REQUIRE(ItemsReserved(message) <= bytes.size());
      REQUIRE(Bytes(message) == bytes);
      random.Clear();
    }
  };
#define ANTEROOM_X(Message) check.operator()<protocol::Message>(#Message);
  ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X
}

TEST_CASE("protocol: random bytes, and messages with random damage, are malformed or canonical") {
  RandomMessages random(TestSeed() + 1);
  const auto check = [&]<typename Message>(std::string_view name) {
    CAPTURE(name);
    for (int i = 0; i < kRoundsOfEach; ++i) {
      REQUIRE(CanonicalOrMalformed<Message>(random.Bytes(random.Below(64))));
      std::string bytes = Bytes(random.Make<Message>());
      for (size_t damages = 1 + random.Below(3); damages > 0 && !bytes.empty(); --damages) {
        const size_t place = random.Below(bytes.size());
        switch (random.Below(4)) {
          case 0:
            bytes[place] = static_cast<char>(random.Below(256));
            break;
          case 1:
            bytes[place] = '\xff';
            break;
          case 2:
            bytes.erase(place, 1 + random.Below(4));
            break;
          default:
            bytes.insert(place, random.Bytes(1 + random.Below(4)));
        }
      }
      REQUIRE(CanonicalOrMalformed<Message>(bytes));
      random.Clear();
    }
  };
#define ANTEROOM_X(Message) check.operator()<protocol::Message>(#Message);
  ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X
}

}  // namespace
}  // namespace anteroom
