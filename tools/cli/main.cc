// The program `anteroom`: the operator's command line.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/cli.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  anteroom::cli::Console console{
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .interactive = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
  };
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(anteroom::cli::RunCli(
      words,
      {.server = variable("ANTEROOM_SERVER"), .credentials_path = variable("ANTEROOM_CREDENTIALS")},
      console));
}
