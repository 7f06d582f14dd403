// Whether the content of a `secrets` file is one, as the daemon will ask.
#ifndef ANTEROOM_TOOLS_CLI_SECRETS_CHECK_H_
#define ANTEROOM_TOOLS_CLI_SECRETS_CHECK_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/storage/files.h"

namespace anteroom::cli {

// With the kind of what is wrong.
absl::Status SecretsAreRight(std::string_view text);

// Those in a data directory; kSecretMissing when there are none.
absl::Status CheckSecretsIn(storage::Files& files, const std::string& directory);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_SECRETS_CHECK_H_
