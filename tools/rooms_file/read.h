// A file of rooms, read: TOML with a table for each room, and what all of them have in common.
//
//   [defaults]
//   claim_ttl = "5m"
//
//   [rooms.sale]
//   rate = "50/s"
//   capacity = 500
//
//   [rooms."shop.vip"]
//   rate = "5/s"
//
// Values are what `room set` takes, in quotes; a number may stand without. Pure, any thread.
#ifndef ANTEROOM_TOOLS_ROOMS_FILE_READ_H_
#define ANTEROOM_TOOLS_ROOMS_FILE_READ_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/settings.h"

namespace anteroom::tools {

struct FileRoom {
  std::string name;
  // What the file says of it, [defaults] included: rate or capacity at least.
  protocol::RoomSettings said;
};

struct FileProblem {
  uint64_t line = 0;
  std::string text;
};

struct RoomsFile {
  std::vector<FileRoom> rooms;  // by name
  // Everything that is wrong, by line; of what is no TOML the first place alone. When there is any,
  // the rooms are of no use.
  std::vector<FileProblem> problems;
};

// A file without `rooms` is wrong, be it empty: one that was cut short must not read as no rooms.
RoomsFile ReadRoomsFile(std::string_view text);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_ROOMS_FILE_READ_H_
