// The question before what can do great harm: what is now, what would be then, and whether to go
// on.
#ifndef ANTEROOM_TOOLS_CLI_CONSENT_H_
#define ANTEROOM_TOOLS_CLI_CONSENT_H_

#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "tools/cli/arguments.h"
#include "tools/cli/context.h"

namespace anteroom::cli {

struct Harm {
  std::string warning;  // one sentence
  struct Change {
    std::string what;
    std::string before;
    std::string after;
  };
  std::vector<Change> changes;
};

// Whether these settings could be harmful in some room, so that the room has to be looked at.
bool CouldHarm(const protocol::RoomSettings& said);
// Passthrough with people waiting, and a rate more than doubled; anything else is harmless.
std::optional<Harm> HarmOfSet(const protocol::RoomReply& room, const protocol::RoomSettings& said);
Harm HarmOfReset(const protocol::RoomReply& room);
Harm HarmOfDelete(const protocol::RoomReply& room);

// The warning with a table of before and after.
std::string DescribeHarm(const Harm& harm);

// Asks whether to go on, unless --yes. Nothing means: go on; else the exit status.
std::optional<ExitStatus> AskToGoOn(Context& context, const Arguments& arguments);

// Shows it and asks, unless --yes. Nothing means: go on; else the exit status.
std::optional<ExitStatus> AskConsent(Context& context, const Arguments& arguments,
                                     const Harm& harm);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_CONSENT_H_
