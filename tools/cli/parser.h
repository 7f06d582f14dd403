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

// What the environment says instead of options: ANTEROOM_SERVER and ANTEROOM_CREDENTIALS, empty if
// nothing.
struct Environment {
  std::string_view server = {};
  std::string_view credentials_path = {};
};

// `words` without the program's name.
//
// A token may begin with a dash, being base64url: 22 characters of it are never an option. Anything
// after `--` is no option either.
Parsed Parse(const std::vector<std::string>& words, const Environment& environment);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_PARSER_H_
