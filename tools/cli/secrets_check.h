// Whether the content of a `secrets` file is one, and the right one, as the daemon will ask.
#ifndef ANTEROOM_TOOLS_CLI_SECRETS_CHECK_H_
#define ANTEROOM_TOOLS_CLI_SECRETS_CHECK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/engine/engine.h"
#include "server/storage/files.h"
#include "server/storage/log_recovery.h"

namespace anteroom::cli {

// Of a log whose segments name this key, and that gives this engine. With the kind of what is
// wrong.
absl::Status SecretsAreRight(std::string_view text, uint32_t first_key_id, const Engine& engine);

// Those in a data directory; kSecretMissing when there are none. An empty log has any.
absl::Status CheckSecretsIn(storage::Files& files, const std::string& directory,
                            const storage::RecoveredLog& log, const Engine& engine);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_SECRETS_CHECK_H_
