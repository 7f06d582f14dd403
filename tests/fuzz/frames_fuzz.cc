// A stream of frames from a peer, either way: what is taken for a frame is one, no shorter piece of
// it is, and what its payload says has these bytes and no others.

#include <optional>
#include <string>

#include "protocol/frame.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"
#include "tests/support/wire_examples.h"

void anteroom::fuzz::TryFrames(std::string_view stream) {
  using namespace anteroom::protocol;  // NOLINT(google-build-using-namespace): the whole function
  while (true) {
    FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    const FrameStatus status = TakeFrame(stream, &header, &payload, &consumed);
    CHECK(PeekFrame(stream) == status);
    if (status != FrameStatus::kComplete) break;
    CHECK_EQ(consumed, kHeaderBytes + payload.size());
    CHECK_LE(consumed, stream.size());
    CHECK_LE(payload.size(), kPayloadBytesMax);
    CHECK(PeekFrame(stream.substr(0, consumed - 1)) == FrameStatus::kPartial);
    const std::optional<std::string> again = DecodeAndEncode(header, payload);
    if (again) CHECK_EQ(*again, stream.substr(0, consumed));
    stream.remove_prefix(consumed);
  }
}
