// The commands of the CLI. Each is one entry in the table of its group, from which the parser, the
// help and the dispatch come.
#ifndef ANTEROOM_TOOLS_CLI_COMMAND_H_
#define ANTEROOM_TOOLS_CLI_COMMAND_H_

#include <span>
#include <string_view>
#include <vector>

#include "protocol/operations.h"
#include "tools/cli/arguments.h"
#include "tools/cli/exit_status.h"
#include "tools/cli/parameter.h"

namespace anteroom::cli {

class Context;

enum class Need { kRequired, kOptional };

struct Use {
  const Parameter* parameter;
  Need need = Need::kRequired;
};

struct Command {
  std::string_view name;  // one word, or two as in `room create`
  std::string_view summary;
  // The positional ones in their order; options are optional unless said to be required.
  std::vector<Use> uses;
  // A command line that works, and what else there is to say.
  std::string_view example;
  std::string_view notes;
  // What the parameters say together that cannot be: empty, or what is wrong. May be nullptr.
  std::string_view (*check)(const Arguments& arguments);
  ExitStatus (*run)(Context& context, const Arguments& arguments);
};

// An operation's own words for what it does.
std::string_view SummaryOf(protocol::Operation operation);

// All of them, in the order in which the help shows them.
std::span<const Command> Commands();
const Command* FindCommand(std::string_view name);

// The groups.
std::vector<Command> VisitorCommands();
std::vector<Command> AdmissionCommands();
std::vector<Command> RoomCommands();
std::vector<Command> ApplyCommands();
std::vector<Command> PageCommands();
std::vector<Command> WatchCommands();
std::vector<Command> DaemonCommands();
std::vector<Command> LogCommands();
std::vector<Command> BackupCommands();
std::vector<Command> CredentialCommands();
std::vector<Command> RehearseCommands();
std::vector<Command> MetricsCommands();

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_COMMAND_H_
