// The whole program but for the process around it.
#ifndef ANTEROOM_TOOLS_CLI_CLI_H_
#define ANTEROOM_TOOLS_CLI_CLI_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/console.h"
#include "tools/cli/exit_status.h"

namespace anteroom::cli {

// `words` without the program's name; `server` is what ANTEROOM_SERVER says, or empty.
ExitStatus RunCli(const std::vector<std::string>& words, std::string_view server, Console& console);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_CLI_H_
