#include "server/auth/secrets.h"

#include <charconv>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "protocol/text.h"
#include "server/auth/random.h"

namespace anteroom::auth {
namespace {

using protocol::ToAbsl;
using protocol::ToStd;

constexpr std::string_view kTitle = "anteroom-secrets ";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kTokenKey = "token-key";

absl::Status Wrong(std::string_view what) {
  return absl::DataLossError("the file 'secrets' is damaged: " + std::string(what));
}

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Secrets NewSecrets() {
  Secrets secrets;
  secrets.token_key_id = static_cast<uint32_t>(Random64() >> 33) + 1;
  secrets.token_key = RandomBytes(kTokenKeyBytes);
  return secrets;
}

std::string FormatSecrets(const Secrets& secrets) {
  return std::string(kTitle) + std::string(kVersion) + "\n" + std::string(kTokenKey) + " " +
         std::to_string(secrets.token_key_id) + " " +
         absl::BytesToHexString(ToAbsl(secrets.token_key)) + "\n";
}

absl::StatusOr<Secrets> ParseSecrets(std::string_view text) {
  if (!text.starts_with(kTitle)) return Wrong("it does not begin as one");
  text.remove_prefix(kTitle.size());
  const size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return Wrong("it ends too soon");
  if (text.substr(0, line_end) != kVersion) {
    return absl::FailedPreconditionError("the file 'secrets' is of version " +
                                         std::string(text.substr(0, line_end)) +
                                         ", this program knows version " + std::string(kVersion));
  }
  text.remove_prefix(line_end + 1);
  if (!text.ends_with('\n')) return Wrong("it ends too soon");
  text.remove_suffix(1);
  const std::vector<absl::string_view> words = absl::StrSplit(ToAbsl(text), ' ');
  if (words.size() != 3 || ToStd(words[0]) != kTokenKey) return Wrong("there is no token key");
  Secrets secrets;
  const char* const end = words[1].data() + words[1].size();
  const auto [stop, error] = std::from_chars(words[1].data(), end, secrets.token_key_id);
  if (error != std::errc() || stop != end || ToStd(words[1]).starts_with('0')) {
    return Wrong("the token key has no id");
  }
  if (words[2].size() != 2 * kTokenKeyBytes || !IsHex(ToStd(words[2]))) {
    return Wrong("the token key is not of the right length");
  }
  secrets.token_key = absl::HexStringToBytes(words[2]);
  return secrets;
}

}  // namespace anteroom::auth
