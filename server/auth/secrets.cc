#include "server/auth/secrets.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/str_split.h"
#include "protocol/secret.h"
#include "protocol/text.h"
#include "server/auth/random.h"
#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::auth {
namespace {

using protocol::ToAbsl;
using protocol::ToStd;

constexpr std::string_view kTitle = "anteroom-secrets ";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kTokenKey = "token-key";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kChecksumChars = 8;

absl::Status Wrong(std::string_view what) {
  return absl::DataLossError("the file 'secrets' is damaged: " + std::string(what));
}

// Digit by digit, so that no piece of a key is left in a string on the way.
void AppendHex(const TokenKey& key, std::string* text) {
  for (const unsigned char byte : key.bytes) {
    *text += kHexDigits[byte >> 4];
    *text += kHexDigits[byte & 15];
  }
}

bool ReadHex(std::string_view text, TokenKey* key) {
  if (text.size() != 2 * kTokenKeyBytes) return false;
  for (size_t i = 0; i < kTokenKeyBytes; ++i) {
    const size_t high = kHexDigits.find(text[2 * i]);
    const size_t low = kHexDigits.find(text[2 * i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    key->bytes[i] = static_cast<unsigned char>(high << 4 | low);
  }
  return true;
}

// Of all of a line before its last space.
std::string ChecksumOf(std::string_view line) {
  uint64_t sum = XXH3_64bits(line.data(), line.size());
  std::string text(kChecksumChars, '0');
  for (size_t i = kChecksumChars; i > 0; sum >>= 4) text[--i] = kHexDigits[sum & 15];
  return text;
}

// `line` without its end.
absl::Status ReadTokenKey(std::string_view line, TokenKey* key) {
  const std::vector<absl::string_view> words = absl::StrSplit(ToAbsl(line), ' ');
  if ((words.size() != 3 && words.size() != 4) || ToStd(words[0]) != kTokenKey)
    return Wrong("there is no token key");
  const char* const end = words[1].data() + words[1].size();
  const auto [stop, error] = std::from_chars(words[1].data(), end, key->id);
  if (error != std::errc() || stop != end || ToStd(words[1]).starts_with('0')) {
    return Wrong("a token key has no id");
  }
  if (!ReadHex(ToStd(words[2]), key)) return Wrong("a token key is not of the right length");
  if (words.size() == 4 &&
      ToStd(words[3]) != ChecksumOf(line.substr(0, line.size() - words[3].size() - 1))) {
    return Wrong("a token key is not what its checksum is of");
  }
  return absl::OkStatus();
}

}  // namespace

TokenKey::~TokenKey() {
  protocol::Wipe(bytes.data(), bytes.size());
}

bool Secrets::Has(uint32_t key_id) const {
  return std::any_of(token_keys.begin(), token_keys.end(),
                     [key_id](const TokenKey& key) { return key.id == key_id; });
}

void Secrets::check_invariants() const {
  CHECK(!token_keys.empty());
  CHECK_LE(token_keys.size(), limits::kTokenKeysMax);
  for (const TokenKey& key : token_keys) {
    CHECK_NE(key.id, 0u);
    CHECK_EQ(std::count_if(token_keys.begin(), token_keys.end(),
                           [&](const TokenKey& other) { return other.id == key.id; }),
             1);
  }
}

Secrets NewSecrets() {
  Secrets secrets;
  AddNewTokenKey(&secrets);
  return secrets;
}

void AddNewTokenKey(Secrets* secrets) {
  CHECK_LT(secrets->token_keys.size(), limits::kTokenKeysMax);
  TokenKey key;
  do {
    key.id = static_cast<uint32_t>(Random64() >> 33) + 1;
  } while (secrets->Has(key.id));
  FillRandom(key.bytes.data(), key.bytes.size());
  secrets->token_keys.push_back(key);
}

std::string FormatSecrets(const Secrets& secrets) {
  constexpr size_t kLineBytesMax = kTokenKey.size() + 2 * kTokenKeyBytes + kChecksumChars + 16;
  std::string text;
  // All at once: text that grows leaves pieces behind.
  text.reserve(kTitle.size() + kVersion.size() + 1 + secrets.token_keys.size() * kLineBytesMax);
  text += kTitle;
  text += kVersion;
  text += '\n';
  for (const TokenKey& key : secrets.token_keys) {
    const size_t begin = text.size();
    text += kTokenKey;
    text += ' ';
    text += std::to_string(key.id);
    text += ' ';
    AppendHex(key, &text);
    const std::string checksum = ChecksumOf(std::string_view(text).substr(begin));
    text += ' ';
    text += checksum;
    text += '\n';
  }
  return text;
}

absl::StatusOr<Secrets> ParseSecrets(std::string_view text) {
  if (!text.starts_with(kTitle)) return Wrong("it does not begin as one");
  text.remove_prefix(kTitle.size());
  const size_t title_end = text.find('\n');
  if (title_end == std::string_view::npos) return Wrong("it ends too soon");
  if (text.substr(0, title_end) != kVersion) {
    return absl::FailedPreconditionError("the file 'secrets' is of version " +
                                         std::string(text.substr(0, title_end)) +
                                         ", this program knows version " + std::string(kVersion));
  }
  text.remove_prefix(title_end + 1);
  Secrets secrets;
  do {
    const size_t line_end = text.find('\n');
    if (line_end == std::string_view::npos) return Wrong("it ends too soon");
    if (secrets.token_keys.size() == limits::kTokenKeysMax) return Wrong("too many token keys");
    TokenKey key;
    const absl::Status status = ReadTokenKey(text.substr(0, line_end), &key);
    if (!status.ok()) return status;
    if (secrets.Has(key.id)) return Wrong("two token keys have one id");
    secrets.token_keys.push_back(key);
    text.remove_prefix(line_end + 1);
  } while (!text.empty());
  return secrets;
}

absl::Status CheckSecretsOf(const Secrets& secrets, uint32_t first_key_id,
                            const std::vector<TokenKeyRange>& ranges) {
  if (secrets.token_keys.front().id != first_key_id) {
    return absl::FailedPreconditionError(
        "the file 'secrets' is of another daemon: its first key is not the one that the log names, "
        "and no token that was given out would be good. Put the right one back");
  }
  for (const TokenKeyRange& range : ranges) {
    if (secrets.Has(range.key_id)) continue;
    return absl::FailedPreconditionError(
        "the file 'secrets' is without the token key " + std::to_string(range.key_id) +
        ", with which the tokens of admissions from " + std::to_string(range.first_admission) +
        " on were made: it is of before a rotation, or of another daemon. Put the right one back");
  }
  return absl::OkStatus();
}

}  // namespace anteroom::auth
