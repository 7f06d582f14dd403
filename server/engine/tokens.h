// What the desk wants of tokens. The engine knows an admission's number and the id of its key only;
// the secrets that make a token of it are the app's (server/auth).
#ifndef ANTEROOM_SERVER_ENGINE_TOKENS_H_
#define ANTEROOM_SERVER_ENGINE_TOKENS_H_

#include <cstdint>
#include <string_view>

#include "protocol/codec.h"

namespace anteroom {

// Of the key that admissions use before any key was named: the first of the directory's secrets.
inline constexpr uint32_t kFirstTokenKey = 0;

class TokenMaker {
 public:
  virtual ~TokenMaker() = default;
  // The token of an admission, under the key of this id, which is kFirstTokenKey or one that a
  // command::UseTokenKey has named. The same arguments always give the same token.
  virtual protocol::Token Make(uint32_t key_id, uint64_t admission, std::string_view room,
                               std::string_view visitor) const = 0;
};

// Compares in a time that does not depend on where the two differ.
bool SameToken(const protocol::Token& token, std::string_view shown);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_TOKENS_H_
