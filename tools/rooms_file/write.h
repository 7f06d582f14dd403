// Rooms as a file, in the form that ReadRoomsFile reads: what is read from it has no difference to
// the rooms it was written from. Pure, any thread.
#ifndef ANTEROOM_TOOLS_ROOMS_FILE_WRITE_H_
#define ANTEROOM_TOOLS_ROOMS_FILE_WRITE_H_

#include <span>
#include <string>
#include <string_view>

#include "protocol/messages.h"
#include "tools/cli/json.h"

namespace anteroom::tools {

// In the order given. Settings that have their default are left out; rate and capacity have none.
std::string WriteRoomsFile(std::span<const protocol::RoomReply> rooms);

// A TOML string in quotes, what has to be escaped in it escaped.
std::string TomlString(std::string_view utf8);

// The same rooms as JSON: {"rooms":{"sale":{"rate":"50/s","capacity":500}}}
cli::Json RoomsFileToJson(std::span<const protocol::RoomReply> rooms);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_ROOMS_FILE_WRITE_H_
