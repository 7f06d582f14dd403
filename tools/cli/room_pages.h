// All rooms of a daemon, by name, asked for in pages.
#ifndef ANTEROOM_TOOLS_CLI_ROOM_PAGES_H_
#define ANTEROOM_TOOLS_CLI_ROOM_PAGES_H_

#include <functional>

#include "absl/status/status.h"
#include "client/client.h"
#include "protocol/messages.h"

namespace anteroom::cli {

// Calls `take` for each; pages are of different moments, so a room that comes or goes meanwhile may
// be among them or not. On an error the rooms so far have been taken.
absl::Status ForEachRoom(client::Client& client,
                         const std::function<void(const protocol::RoomReply&)>& take);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_ROOM_PAGES_H_
