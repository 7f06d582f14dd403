#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "tests/support/seed.h"
#include "tests/support/wire_examples.h"

namespace anteroom {
namespace {

using protocol::AppendFrame;
using protocol::FrameHeader;
using protocol::FrameKind;
using protocol::FrameStatus;
using protocol::kHeaderBytes;
using protocol::kPayloadBytesMax;
using protocol::Operation;
using protocol::TakeFrame;

FrameStatus StatusOf(std::string_view bytes) {
  FrameHeader header;
  std::string_view payload;
  size_t consumed = 0;
  return TakeFrame(bytes, &header, &payload, &consumed);
}

std::string Header(uint32_t payload_bytes) {
  std::string header;
  protocol::ByteWriter writer(&header);
  writer.Put(payload_bytes);
  writer.PutBytes(std::string_view("\x0a\x00\x00\x00\x07\x00\x00\x00", 8));
  return header;
}

TEST_CASE("protocol: a frame split at any byte is partial, then the same frame") {
  for (const WireExample& example : WireExamples()) {
    CAPTURE(example.name);
    for (size_t size = 0; size < example.frame.size(); ++size) {
      REQUIRE(StatusOf(std::string_view(example.frame).substr(0, size)) == FrameStatus::kPartial);
    }
    for (const std::string& more : {std::string(), example.frame, std::string("\xff\xff\xff")}) {
      const std::string bytes = example.frame + more;
      FrameHeader header;
      std::string_view payload;
      size_t consumed = 0;
      REQUIRE(TakeFrame(bytes, &header, &payload, &consumed) == FrameStatus::kComplete);
      REQUIRE(consumed == example.frame.size());
      REQUIRE(payload == std::string_view(example.frame).substr(kHeaderBytes));
      REQUIRE(header.payload_bytes == payload.size());
      REQUIRE(DecodeAndEncode(header, payload) == example.frame);
    }
  }
}

TEST_CASE("protocol: a stream chopped at random gives the same frames") {
  std::mt19937_64 random(TestSeed());
  const std::vector<WireExample> examples = WireExamples();
  std::string stream;
  for (const WireExample& example : examples) stream += example.frame;
  for (int round = 0; round < 200; ++round) {
    std::string buffer;
    size_t next = 0;
    for (size_t sent = 0; sent < stream.size();) {
      const size_t size = std::min<size_t>(1 + random() % 300, stream.size() - sent);
      buffer += stream.substr(sent, size);
      sent += size;
      FrameHeader header;
      std::string_view payload;
      size_t consumed = 0;
      while (TakeFrame(buffer, &header, &payload, &consumed) == FrameStatus::kComplete) {
        REQUIRE(next < examples.size());
        REQUIRE(buffer.substr(0, consumed) == examples[next].frame);
        buffer.erase(0, consumed);
        ++next;
      }
    }
    REQUIRE(next == examples.size());
    REQUIRE(buffer.empty());
  }
}

TEST_CASE("protocol: a length beyond the limit is known from the header alone") {
  REQUIRE(StatusOf(Header(kPayloadBytesMax)) == FrameStatus::kPartial);
  for (const uint32_t bytes : {uint32_t{kPayloadBytesMax} + 1, 0x7fffffffu, 0x80000000u,
                               0xfffffff3u, 0xfffffff4u, 0xfffffffeu, 0xffffffffu}) {
    CAPTURE(bytes);
    REQUIRE(StatusOf(Header(bytes)) == FrameStatus::kTooLarge);
    // The request can still be refused by its id.
    FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    TakeFrame(Header(bytes), &header, &payload, &consumed);
    REQUIRE(header.operation == 10);
    REQUIRE(header.request_id == 7);
    REQUIRE(consumed == 0);
  }
}

TEST_CASE("protocol: a payload of exactly the limit is taken") {
  const std::string bytes = Header(kPayloadBytesMax) + std::string(kPayloadBytesMax, 'x');
  FrameHeader header;
  std::string_view payload;
  size_t consumed = 0;
  REQUIRE(TakeFrame(bytes, &header, &payload, &consumed) == FrameStatus::kComplete);
  REQUIRE(payload.size() == kPayloadBytesMax);
  REQUIRE(consumed == bytes.size());
}

TEST_CASE("protocol: unknown kinds and bytes that are not zero are invalid") {
  for (int kind = 0; kind < 256; ++kind) {
    std::string header = Header(0);
    header[5] = static_cast<char>(kind);
    REQUIRE(StatusOf(header) == (kind <= 4 ? FrameStatus::kComplete : FrameStatus::kInvalid));
  }
  for (const size_t place : {6, 7}) {
    std::string header = Header(0);
    header[place] = '\x01';
    REQUIRE(StatusOf(header) == FrameStatus::kInvalid);
  }
}

TEST_CASE("protocol: an operation that is not in the table is unknown, whatever follows") {
  size_t known = 0;
  for (int number = 0; number < 256; ++number) {
    const auto operation = static_cast<uint8_t>(number);
    protocol::Request request;
    const bool unknown = protocol::DecodeRequest(operation, "", &request) ==
                         protocol::RequestStatus::kUnknownOperation;
    REQUIRE(unknown == !protocol::FindOperation(operation).has_value());
    if (!unknown) ++known;
  }
  REQUIRE(known == std::variant_size_v<protocol::Request> - 1);
  REQUIRE_FALSE(protocol::FindOperation(0).has_value());
}

TEST_CASE("protocol: a join of a 16-byte id to a room with an 8-byte name takes 39 bytes") {
  std::string frame;
  const auto join = static_cast<uint8_t>(Operation::kJoin);
  AppendFrame(join, FrameKind::kRequest, 1,
              protocol::JoinRequest{"concert1", "0123456789abcdef", {}}, &frame);
  REQUIRE(frame.size() == 39);
  frame.clear();
  AppendFrame(join, FrameKind::kRequest, 1,
              protocol::JoinRequest{"concert1", "0123456789abcdef", uint8_t{3}}, &frame);
  REQUIRE(frame.size() == 40);
}

TEST_CASE("protocol: the longest of every list fits into a frame") {
  const std::string id(protocol::kVisitorIdBytesMax, 'v');
  const std::string room(protocol::kRoomNameBytesMax, 'r');
  protocol::VisitorReply visitor;
  protocol::VisitorReply::Fields(visitor, [](std::string_view, auto& field) {
    if constexpr (requires { field.emplace(); }) field.emplace();
  });
  protocol::Refusal refusal{protocol::ErrorCode::kInvalid, true, 1, protocol::Reason::kPaused,
                            std::string(255, 'm')};
  protocol::RoomReply room_reply;
  room_reply.room = room;
  protocol::RoomSettings::Fields(room_reply.settings,
                                 [](std::string_view, auto& field) { field.emplace(); });
  room_reply.counts.refused_total.resize(protocol::ErrorCodeNames().size());

  const auto size = [](const auto& message) {
    std::string bytes;
    protocol::Encode(message, &bytes);
    return bytes.size();
  };
  using protocol::kBatchItemsMax;
  REQUIRE(size(protocol::JoinManyRequest{{kBatchItemsMax, {room, id, uint8_t{1}}}}) <=
          kPayloadBytesMax);
  REQUIRE(size(protocol::VisitorResults{{kBatchItemsMax, {visitor, {}}}}) <= kPayloadBytesMax);
  REQUIRE(size(protocol::VisitorResults{{kBatchItemsMax, {{}, refusal}}}) <= kPayloadBytesMax);
  REQUIRE(size(protocol::AdmitReply{1, 1, {protocol::kAdmitCountMax, {id, 1, {}}}}) <=
          kPayloadBytesMax);
  REQUIRE(size(protocol::WatchRequest{room, {protocol::kWatchVisitorsMax, id}}) <=
          kPayloadBytesMax);
  REQUIRE(size(protocol::PageReply{{protocol::kPageItemsMax, {id, 1, visitor}}, 1}) <=
          kPayloadBytesMax);
  REQUIRE(size(protocol::RoomListReply{{protocol::kPageItemsMax, room_reply}, true}) <=
          kPayloadBytesMax);
}

}  // namespace
}  // namespace anteroom
