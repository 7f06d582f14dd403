// The whole program but for the process around it.
#ifndef ANTEROOM_TOOLS_CLI_CLI_H_
#define ANTEROOM_TOOLS_CLI_CLI_H_

#include <string>
#include <vector>

#include "tools/cli/console.h"
#include "tools/cli/exit_status.h"
#include "tools/cli/parser.h"

namespace anteroom::cli {

// `words` without the program's name.
ExitStatus RunCli(const std::vector<std::string>& words, const Environment& environment,
                  Console& console);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_CLI_H_
