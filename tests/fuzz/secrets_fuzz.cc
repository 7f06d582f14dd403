// The content of a data directory's file of secrets: what can be read has one text, which is read
// as the same. It is the one that was read, but for the checksums that older lines go without.

#include <string>
#include <string_view>

#include "server/auth/secrets.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"

void anteroom::fuzz::TrySecrets(std::string_view text) {
  const auto secrets = auth::ParseSecrets(text);
  if (!secrets.ok()) {
    CHECK(!secrets.status().message().empty());
    return;
  }
  secrets->check_invariants();
  const std::string written = auth::FormatSecrets(*secrets);
  CHECK(written.size() >= text.size());
  if (written.size() == text.size()) CHECK(written == text);
  const auto again = auth::ParseSecrets(written);
  CHECK(again.ok());
  CHECK(again->token_keys == secrets->token_keys);
}
