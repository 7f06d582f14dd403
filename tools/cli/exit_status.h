// What the CLI tells the shell.
#ifndef ANTEROOM_TOOLS_CLI_EXIT_STATUS_H_
#define ANTEROOM_TOOLS_CLI_EXIT_STATUS_H_

namespace anteroom::cli {

enum class ExitStatus : int {
  kDone = 0,
  kRefused = 1,     // the typed reason stands on standard error, and in the JSON
  kWrongUsage = 2,  // nothing was asked of the daemon that would change anything
  kNoDaemon = 3,    // no daemon, or the connection was lost
};

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_EXIT_STATUS_H_
