// `log check`, `log dump` and `log digest`, on any files. They change nothing and take no lock;
// beside a running daemon they may see a torn end where there will be none. `archive`: the
// directory is what `anteroomd --archive` names, read from its beginning.
#ifndef ANTEROOM_TOOLS_CLI_LOG_COMMANDS_H_
#define ANTEROOM_TOOLS_CLI_LOG_COMMANDS_H_

#include <string>

#include "server/storage/files.h"
#include "tools/cli/context.h"

namespace anteroom::cli {

// Whether a daemon could start from this directory: every byte, record and digest.
ExitStatus CheckLog(Context& context, storage::Files& files, const std::string& directory,
                    bool archive = false);

// Every record as one line of JSON, whatever the output's form.
ExitStatus DumpLog(Context& context, storage::Files& files, const std::string& directory,
                   bool archive = false);

// The digest of the state that the log gives, as 32 hexadecimal digits.
ExitStatus DigestLog(Context& context, storage::Files& files, const std::string& directory,
                     bool archive = false);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_LOG_COMMANDS_H_
