// From the words of the command line to a command and its arguments.
#ifndef ANTEROOM_TOOLS_CLI_PARSER_H_
#define ANTEROOM_TOOLS_CLI_PARSER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/arguments.h"
#include "tools/cli/command.h"

namespace anteroom::cli {

// Exactly one of the three: a command to run; what was asked about the CLI itself, for standard
// output; what is wrong, for standard error.
struct Parsed {
  const Command* command = nullptr;
  Arguments arguments;
  std::optional<std::string> answer;
  std::optional<std::string> wrong;
};

// `words` without the program's name. `server` is what the environment says, empty if nothing.
//
// A token may begin with a dash, being base64url: 22 characters of it are never an option. Anything
// after `--` is no option either.
Parsed Parse(const std::vector<std::string>& words, std::string_view server);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_PARSER_H_
