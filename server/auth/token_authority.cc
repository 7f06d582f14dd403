#include "server/auth/token_authority.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

#include <cstring>

#include "protocol/limits.h"
#include "server/base/check.h"

namespace anteroom::auth {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kDigestBytes = 32;
// Keeps what is signed here apart from whatever else is ever signed with the same key.
constexpr unsigned char kPurpose = 'A';

}  // namespace

protocol::Token SpellToken(const std::array<unsigned char, 16>& bits) {
  protocol::Token token;
  uint32_t pending = 0;
  int pending_bits = 0;
  size_t out = 0;
  for (const unsigned char byte : bits) {
    pending = pending << 8 | byte;
    pending_bits += 8;
    while (pending_bits >= 6) {
      pending_bits -= 6;
      token.chars[out++] = kAlphabet[pending >> pending_bits & 63];
    }
  }
  token.chars[out++] = kAlphabet[pending << (6 - pending_bits) & 63];
  CHECK_EQ(out, token.chars.size());
  return token;
}

TokenAuthority::TokenAuthority(const Secrets& secrets)
    : first_key_id_(secrets.token_keys.front().id) {
  for (const TokenKey& key : secrets.token_keys) Add(key);
}

void TokenAuthority::Add(const TokenKey& key) {
  CHECK(contexts_.emplace(key.id, ContextOf(key)).second);
}

TokenAuthority::Context TokenAuthority::ContextOf(const TokenKey& key) {
  EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  CHECK(mac != nullptr);
  Context context(EVP_MAC_CTX_new(mac));
  EVP_MAC_free(mac);
  CHECK(context != nullptr);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  CHECK_EQ(EVP_MAC_init(context.get(), key.bytes.data(), key.bytes.size(), parameters), 1);
  return context;
}

protocol::Token TokenAuthority::Make(uint32_t key_id, uint64_t admission, std::string_view room,
                                     std::string_view visitor) const {
  const auto found = contexts_.find(key_id == kFirstTokenKey ? first_key_id_ : key_id);
  CHECK(found != contexts_.end());
  EVP_MAC_CTX* const context = found->second.get();
  CHECK_LE(room.size(), protocol::kRoomNameBytesMax);
  CHECK_LE(visitor.size(), protocol::kVisitorIdBytesMax);
  unsigned char message[1 + 8 + 1 + protocol::kRoomNameBytesMax + protocol::kVisitorIdBytesMax];
  unsigned char* end = message;
  *end++ = kPurpose;
  std::memcpy(end, &admission, sizeof admission);
  end += sizeof admission;
  *end++ = static_cast<unsigned char>(room.size());
  std::memcpy(end, room.data(), room.size());
  end += room.size();
  std::memcpy(end, visitor.data(), visitor.size());
  end += visitor.size();

  unsigned char digest[kDigestBytes];
  size_t digest_bytes = 0;
  // Without a key the context goes back to the state after the key, its schedule kept.
  CHECK_EQ(EVP_MAC_init(context, nullptr, 0, nullptr), 1);
  CHECK_EQ(EVP_MAC_update(context, message, static_cast<size_t>(end - message)), 1);
  CHECK_EQ(EVP_MAC_final(context, digest, &digest_bytes, sizeof digest), 1);
  CHECK_EQ(digest_bytes, kDigestBytes);
  std::array<unsigned char, 16> bits;
  std::memcpy(bits.data(), digest, bits.size());
  return SpellToken(bits);
}

void TokenAuthority::check_invariants() const {
  CHECK(contexts_.contains(first_key_id_));
  for (const auto& [id, context] : contexts_) {
    CHECK_NE(id, kFirstTokenKey);
    CHECK(context != nullptr);
    CHECK_EQ(EVP_MAC_CTX_get_mac_size(context.get()), kDigestBytes);
  }
}

}  // namespace anteroom::auth
