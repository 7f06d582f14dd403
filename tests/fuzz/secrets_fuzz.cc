// The content of a data directory's file of secrets: what can be read has this text and no other.

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
  CHECK_EQ(auth::FormatSecrets(*secrets), text);
}
