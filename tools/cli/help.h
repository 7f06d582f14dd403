// The help, from the tables of commands and parameters.
#ifndef ANTEROOM_TOOLS_CLI_HELP_H_
#define ANTEROOM_TOOLS_CLI_HELP_H_

#include <string>
#include <string_view>

#include "tools/cli/command.h"

namespace anteroom::cli {

// `anteroom finish ROOM VISITOR [TOKEN] [--completed] [--cancelled]`
std::string UsageLine(const Command& command);

std::string CommandHelp(const Command& command);
// All commands, or those that begin with this word, as `room`.
std::string Overview(std::string_view group = {});

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_HELP_H_
