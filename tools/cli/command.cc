#include "tools/cli/command.h"

#include <iterator>
#include <utility>

namespace anteroom::cli {

std::string_view SummaryOf(protocol::Operation operation) {
  const auto info = protocol::FindOperation(static_cast<uint8_t>(operation));
  return info ? info->summary : std::string_view();
}

std::span<const Command> Commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> all;
    for (auto* group : {DaemonCommands, RoomCommands, ApplyCommands, VisitorCommands,
                        AdmissionCommands, PageCommands, WatchCommands, LogCommands, BackupCommands,
                        CredentialCommands, RehearseCommands, MetricsCommands}) {
      std::vector<Command> some = group();
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return commands;
}

const Command* FindCommand(std::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace anteroom::cli
