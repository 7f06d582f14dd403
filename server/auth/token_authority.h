// Tokens, derived and never stored: the first 128 bits of HMAC-SHA256 (RFC 2104) under the data
// directory's key over
//
//   'A', admission (8 bytes, little-endian), length of the room's name (1 byte), room, visitor
//
// which no two (admission, room, visitor) share, as 22 base64url characters (RFC 4648 section 5,
// no padding). The last character carries two bits; its spare bits are zero, so a token has one
// spelling, and comparing characters compares bits.
//
// A name of 8 and an id of 16 bytes fit into one block of SHA-256; with the key's blocks kept, a
// token costs two compressions.
//
// Threads: one at a time; Make works on a context of the object.
#ifndef ANTEROOM_SERVER_AUTH_TOKEN_AUTHORITY_H_
#define ANTEROOM_SERVER_AUTH_TOKEN_AUTHORITY_H_

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/codec.h"
#include "server/engine/tokens.h"

namespace anteroom::auth {

// 22 characters for 16 bytes.
protocol::Token SpellToken(const std::array<unsigned char, 16>& bits);

// Invariant: `context_` holds the key's schedule from the constructor on.
class TokenAuthority : public TokenMaker {
 public:
  // `key` is kTokenKeyBytes (server/auth/secrets.h) long.
  explicit TokenAuthority(std::string_view key);

  // `room` and `visitor` are within the protocol's limits.
  protocol::Token Make(uint64_t admission, std::string_view room,
                       std::string_view visitor) const override;

  void check_invariants() const;

 private:
  struct FreeContext {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  };
  std::unique_ptr<EVP_MAC_CTX, FreeContext> context_;
};

}  // namespace anteroom::auth

#endif  // ANTEROOM_SERVER_AUTH_TOKEN_AUTHORITY_H_
