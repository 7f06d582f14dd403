// What the desk wants of tokens. The engine knows an admission's number only; the secret that makes
// a token of it is the app's (server/auth).
#ifndef ANTEROOM_SERVER_ENGINE_TOKENS_H_
#define ANTEROOM_SERVER_ENGINE_TOKENS_H_

#include <cstdint>
#include <string_view>

#include "protocol/codec.h"

namespace anteroom {

class TokenMaker {
 public:
  virtual ~TokenMaker() = default;
  // The token of an admission. The same arguments always give the same token.
  virtual protocol::Token Make(uint64_t admission, std::string_view room,
                               std::string_view visitor) const = 0;
};

// Compares in a time that does not depend on where the two differ.
bool SameToken(const protocol::Token& token, std::string_view shown);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_TOKENS_H_
