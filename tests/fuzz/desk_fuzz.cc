// What any client can send, without sockets: frames whose requests are answered. An answer decodes;
// the engine's invariants hold; and the records that came of it give the same state when they are
// read again.
//
// The lower half of a frame's request id is the time that passes before it, in milliseconds.

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"
#include "tests/support/desk_world.h"

namespace anteroom::fuzz {
namespace {

// All frames together; what is due on the way takes time.
constexpr int64_t kPassedMsMax = 120'000;

template <typename Message>
void CheckEncodes(const Message& message) {
  std::string bytes;
  protocol::Encode(message, &bytes);
  CHECK_LE(bytes.size(), protocol::kPayloadBytesMax);
  Message again;
  CHECK(protocol::Decode(bytes, &again));
  std::string bytes_again;
  protocol::Encode(again, &bytes_again);
  CHECK_EQ(bytes_again, bytes);
}

void Answer(Desk& desk, const protocol::Request& request) {
  desk.Prefetch({&request, 1});
  std::visit(
      [&](const auto& one) {
        // The others are answered without a desk.
        if constexpr (requires { desk.Handle(one); }) {
          std::visit([](const auto& said) { CheckEncodes(said); }, desk.Handle(one));
        }
      },
      request);
}

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TryDesk(std::string_view stream) {
  using namespace anteroom::protocol;  // NOLINT(google-build-using-namespace): the whole function
  DeskWorld world;
  int64_t left_ms = kPassedMsMax;
  FrameHeader header;
  std::string_view payload;
  size_t consumed = 0;
  while (TakeFrame(stream, &header, &payload, &consumed) == FrameStatus::kComplete) {
    stream.remove_prefix(consumed);
    const int64_t passed_ms = std::min<int64_t>(header.request_id & 0xffff, left_ms);
    left_ms -= passed_ms;
    world.Advance(passed_ms);
    Request request;
    if (header.kind == FrameKind::kRequest &&
        DecodeRequest(header.operation, payload, &request) == RequestStatus::kRight) {
      Answer(world.desk, request);
    }
  }
  world.engine.check_invariants();
  CHECK(DigestAfter(world.log.records, 2) == world.engine.digest());
}
