// Tokens, derived and never stored: the first 128 bits of HMAC-SHA256 (RFC 2104) under a key of the
// data directory (server/auth/secrets.h) over
//
//   'A', admission (8 bytes, little-endian), length of the room's name (1 byte), room, visitor
//
// which no two (admission, room, visitor) share, as 22 base64url characters (RFC 4648 section 5,
// no padding). The last character carries two bits; its spare bits are zero, so a token has one
// spelling, and comparing characters compares bits.
//
// A name of 8 and an id of 16 bytes fit into one block of SHA-256; with the keys' blocks kept, a
// token costs two compressions. Which admission has which key the engine knows.
//
// Threads: one at a time; Make works on a context of the object.
#ifndef ANTEROOM_SERVER_AUTH_TOKEN_AUTHORITY_H_
#define ANTEROOM_SERVER_AUTH_TOKEN_AUTHORITY_H_

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "protocol/codec.h"
#include "server/auth/secrets.h"
#include "server/engine/tokens.h"

namespace anteroom::auth {

// 22 characters for 16 bytes.
protocol::Token SpellToken(const std::array<unsigned char, 16>& bits);

// Invariant: a context holds its key's schedule as long as it is there; the first key is there,
// under kFirstTokenKey and under its id.
class TokenAuthority : public TokenMaker {
 public:
  explicit TokenAuthority(const Secrets& secrets);

  // Of an id that is not known yet. Tokens of the others stay what they are.
  void Add(const TokenKey& key);

  // `key_id` is known, `room` and `visitor` are within the protocol's limits.
  protocol::Token Make(uint32_t key_id, uint64_t admission, std::string_view room,
                       std::string_view visitor) const override;

  void check_invariants() const;

 private:
  struct FreeContext {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  };
  using Context = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

  static Context ContextOf(const TokenKey& key);

  const uint32_t first_key_id_;
  absl::flat_hash_map<uint32_t, Context> contexts_;  // by id
};

}  // namespace anteroom::auth

#endif  // ANTEROOM_SERVER_AUTH_TOKEN_AUTHORITY_H_
