#include "protocol/secret.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace anteroom::protocol {

void Wipe(void* bytes, size_t size) {
  OPENSSL_cleanse(bytes, size);
}

std::optional<Secret> Secret::FromText(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  if (text.size() < kSecretCharsMin || text.size() > kSecretCharsMax) return std::nullopt;
  if (text.find_first_not_of(kAlphabet) != std::string_view::npos) return std::nullopt;
  Secret secret;
  std::copy(text.begin(), text.end(), secret.chars_.begin());
  secret.size_ = text.size();
  return secret;
}

}  // namespace anteroom::protocol
