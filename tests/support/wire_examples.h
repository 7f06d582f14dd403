// The worked examples of PROTOCOL.md as literals: at least the request and the reply of every
// operation, and a refusal, a push and an end where there are such.
#ifndef ANTEROOM_TESTS_SUPPORT_WIRE_EXAMPLES_H_
#define ANTEROOM_TESTS_SUPPORT_WIRE_EXAMPLES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/frame.h"

namespace anteroom {

// Of the page's handshake.
inline constexpr std::string_view kExampleName = "shop-1";
inline constexpr std::string_view kExampleSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
inline constexpr std::string_view kExampleChallenge = "daemon's 16bytes";
inline constexpr std::string_view kExampleNonce = "client's nonce07";

struct WireExample {
  std::string name;   // "join request", or "join reply admitted" when there are several
  std::string frame;  // what the encoder makes of the literal
  std::string block;  // what stands in PROTOCOL.md
};

std::vector<WireExample> WireExamples();

// What the frame's payload says, encoded again as a whole frame; nothing when it is malformed, of
// an unknown operation, or of a kind that the operation does not have.
std::optional<std::string> DecodeAndEncode(const protocol::FrameHeader& header,
                                           std::string_view payload);

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_WIRE_EXAMPLES_H_
