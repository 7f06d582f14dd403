// The content of a data directory's `secrets` file: the keys that tokens are made with.
//
// Text, one item a line, so that a person can tell what it is and a later version can add lines:
//
//   anteroom-secrets 1
//   token-key 1893475610 <64 hexadecimal digits> <8 hexadecimal digits>
//   token-key 204475113 <64 hexadecimal digits> <8 hexadecimal digits>
//
// The last word is a checksum over the rest of the line, for a key with a digit changed would be a
// good key that no token was made with. Lines of before there was one go without.
//
// The first line is the format version; another one is refused. The first key is the one that the
// directory began with: every log segment names its id, so that a file of another daemon is
// noticed. A rotation adds a line at the end. From which admission on a key is used the engine
// knows (command::UseTokenKey); a key that it does not know of was being added when a crash came,
// and is of no use to anybody.
//
// A rotation never takes a line away: the tokens of everybody who is inside or remembered are made
// again, with the key of their admission, whenever they are shown or told, and an archive or a
// backup may go back further still. Keeping an old key lets whoever has stolen it do no more than
// they could: it makes tokens of admissions of its own range only, and those are compared with the
// admissions that are there; none of them is new.
//
// Threads: as values.
#ifndef ANTEROOM_SERVER_AUTH_SECRETS_H_
#define ANTEROOM_SERVER_AUTH_SECRETS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/engine/engine.h"

namespace anteroom::auth {

inline constexpr size_t kTokenKeyBytes = 32;

// Wiped when it goes; a copy is a key of its own, wiped in its turn.
struct TokenKey {
  TokenKey() = default;
  ~TokenKey();
  TokenKey(const TokenKey&) = default;
  TokenKey& operator=(const TokenKey&) = default;
  bool operator==(const TokenKey&) const = default;

  uint32_t id = 0;  // from 1
  std::array<unsigned char, kTokenKeyBytes> bytes{};
};

// Invariant: 1 to limits::kTokenKeysMax keys, no two of one id.
struct Secrets {
  std::vector<TokenKey> token_keys;  // in the order in which they came into use

  bool Has(uint32_t key_id) const;
  void check_invariants() const;
};

// Fresh ones, from the operating system's randomness. A key's id is random too: two daemons never
// share one, so that a secrets file put into the wrong directory is told apart.
Secrets NewSecrets();
// Another key of those; there must be fewer than limits::kTokenKeysMax.
void AddNewTokenKey(Secrets* secrets);

// The text holds the keys: wipe it (protocol::Wipe) when it is not needed any more.
std::string FormatSecrets(const Secrets& secrets);
absl::StatusOr<Secrets> ParseSecrets(std::string_view text);

// Whether they are those of a log: `first_key_id` is what its segments name, `ranges` what tokens
// were made with since. Says what is wrong and what would be right; otherwise tokens that were
// given out would not be good.
absl::Status CheckSecretsOf(const Secrets& secrets, uint32_t first_key_id,
                            const std::vector<TokenKeyRange>& ranges);

}  // namespace anteroom::auth

#endif  // ANTEROOM_SERVER_AUTH_SECRETS_H_
