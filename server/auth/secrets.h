// The content of a data directory's `secrets` file: the keys that tokens are made with.
//
// Text, one item a line, so that a person can tell what it is and a later version can add lines:
//
//   anteroom-secrets 1
//   token-key 1 <64 hexadecimal digits>
//
// The first line is the format version; another one is refused. Every log segment names the id of
// the key that was in use, so that a file of another daemon is noticed.
#ifndef ANTEROOM_SERVER_AUTH_SECRETS_H_
#define ANTEROOM_SERVER_AUTH_SECRETS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace anteroom::auth {

inline constexpr size_t kTokenKeyBytes = 32;

struct Secrets {
  uint32_t token_key_id = 0;  // from 1
  std::string token_key;      // kTokenKeyBytes
};

// Fresh ones, from the operating system's randomness. The key's id is random too: two daemons never
// share one, so that a secrets file put into the wrong directory is told apart.
Secrets NewSecrets();
std::string FormatSecrets(const Secrets& secrets);
absl::StatusOr<Secrets> ParseSecrets(std::string_view text);

}  // namespace anteroom::auth

#endif  // ANTEROOM_SERVER_AUTH_SECRETS_H_
