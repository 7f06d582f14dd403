// `anteroom rehearse`: drives a running daemon with the crowd of a real log, through the client
// library, and checks what the daemon did.
//
// The file is an access log in Common or Combined Log Format, where each distinct visitor joins at
// its first request, or a count file (see count_row.h), where every request is a visitor of its
// own. Each visitor joins, is watched, claims when admitted, stays for its session and finishes as
// completed. Arrivals are `speed` times as fast as in the file; sessions are real time.
//
// The result goes to the console's output, everything else to its error; the progress bar to the
// terminal, if standard error is one.
#ifndef ANTEROOM_TOOLS_REHEARSE_REHEARSE_H_
#define ANTEROOM_TOOLS_REHEARSE_REHEARSE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/cli/context.h"
#include "tools/cli/exit_status.h"

namespace anteroom::tools {

struct RehearseOptions {
  std::string file;
  std::string room;

  double speed = 1;              // --speed N: arrivals N times as fast, more than 0
  int64_t session_ms = 30000;    // --session MEAN: mean of the exponential session, at least 0
  std::optional<uint64_t> seed;  // --seed N: of the session lengths; unsaid: random, and shown

  // --from, --to (exclusive): HH:MM or HH:MM:SS on the day of the file's first request, or a whole
  // `2015-05-17 10:05[:00]`, in the time zone that the file is written in. Empty: no cut.
  std::string from;
  std::string to;
  uint64_t max_visitors = UINT64_MAX;  // --max-visitors N

  // --give-up DURATION: ends when everyone left is waiting, nobody more comes, and nothing has
  // moved for this long.
  int64_t give_up_ms = 120000;
};

// Done; or refused: the room cannot be rehearsed, people were left waiting, or there were
// violations; or wrong usage: the file or an option; or no daemon, a lost connection. Interrupt
// (Ctrl-C) sends the crowd home and shows what happened so far; a second one ends at once. Blocks;
// runs a libuv loop of its own and takes SIGINT and SIGTERM meanwhile.
cli::ExitStatus Rehearse(const RehearseOptions& options, cli::Context& context);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_REHEARSE_H_
