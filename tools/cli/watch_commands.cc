// watch: the daemon tells, nobody asks.
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/cli/watch_run.h"

namespace anteroom::cli {
namespace {

std::string_view CheckWatch(const Arguments& arguments) {
  return arguments.count == 0 ? "--count takes at least 1" : "";
}

ExitStatus RunWatch(Context& context, const Arguments& arguments) {
  return WatchRun(context, arguments).Run();
}

}  // namespace

std::vector<Command> WatchCommands() {
  return {
      {.name = "watch",
       .summary = "shows what happens to these visitors, or to the room, as it happens",
       .uses = {{&kRoom},
                {&kVisitors, Need::kOptional},
                {&kEventCount, Need::kOptional},
                {&kFor, Need::kOptional}},
       .example = "anteroom watch concert ann bob\nanteroom watch concert --for 30s",
       .notes =
           "Until Ctrl-C. Begins with the present state. Of a room it tells its counts, and each "
           "change of state of anybody there.",
       .check = CheckWatch,
       .run = RunWatch},
  };
}

}  // namespace anteroom::cli
