// rehearse: its flags; the rest is in tools/rehearse/.
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/rehearse/rehearse.h"

namespace anteroom::cli {
namespace {

ExitStatus RunRehearse(Context& context, const Arguments& arguments) {
  tools::RehearseOptions options;
  options.file = arguments.path;
  options.room = arguments.room;
  if (arguments.speed) options.speed = *arguments.speed;
  if (arguments.session_ms) options.session_ms = *arguments.session_ms;
  options.seed = arguments.seed;
  options.from = arguments.from_time;
  options.to = arguments.to_time;
  if (arguments.max_visitors) options.max_visitors = *arguments.max_visitors;
  if (arguments.give_up_ms) options.give_up_ms = *arguments.give_up_ms;
  return tools::Rehearse(options, context);
}

}  // namespace

std::vector<Command> RehearseCommands() {
  return {
      {.name = "rehearse",
       .summary = "fills a room with the crowd of a real log, and checks what the daemon does",
       .uses = {{&kFile},
                {&kRehearsedRoom, Need::kRequired},
                {&kSpeed, Need::kOptional},
                {&kSession, Need::kOptional},
                {&kFromTime, Need::kOptional},
                {&kToTime, Need::kOptional},
                {&kMaxVisitors, Need::kOptional},
                {&kSeed, Need::kOptional},
                {&kGiveUp, Need::kOptional}},
       .example = "anteroom rehearse access.log --room concert --speed 60 --session 20s",
       .notes =
           "FILE is an access log in Common or Combined Log Format, or a count file per second\n"
           "or minute. Each visitor joins, is watched, claims when admitted, stays, finishes.",
       .check = nullptr,
       .run = RunRehearse},
  };
}

}  // namespace anteroom::cli
