// One message of the protocol, the first byte says which: what decodes encodes to the same bytes,
// and neither with a byte less nor with one more is it a message.

#include <iterator>
#include <string>

#include "protocol/codec.h"
#include "protocol/operations.h"
#include "server/base/check.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/targets.h"
#include "tests/support/wire_messages.h"

namespace anteroom::fuzz {
namespace {

template <typename Message>
void TryAs(std::string_view bytes) {
  Message message;
  if (!protocol::Decode(bytes, &message)) return;
  std::string again;
  protocol::Encode(message, &again);
  CHECK_EQ(again, bytes);
  Message other;
  CHECK(bytes.empty() || !protocol::Decode(bytes.substr(0, bytes.size() - 1), &other));
  again += '\0';
  CHECK(!protocol::Decode(again, &other));
}

using Try = void (*)(std::string_view);
constexpr Try kTries[] = {
#define ANTEROOM_X(Message) TryAs<protocol::Message>,
    ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X
};

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TryMessages(std::string_view input) {
  ByteSource source(input);
  const uint64_t which = source.Below(std::size(kTries));
  kTries[which](source.rest());
}
