// Where the CLI reads and writes; tests give it streams of their own.
#ifndef ANTEROOM_TOOLS_CLI_CONSOLE_H_
#define ANTEROOM_TOOLS_CLI_CONSOLE_H_

#include <istream>
#include <ostream>

namespace anteroom::cli {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  // Somebody is there to answer a question: standard input and error are a terminal.
  bool interactive = false;
};

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_CONSOLE_H_
