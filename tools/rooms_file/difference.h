// What has to be done so that the daemon's rooms are as a file says.
//
// What the file does not say of a room has its default, but for the mode, which operators switch in
// the course of a sale: it is changed where it is said alone. Pure, any thread.
#ifndef ANTEROOM_TOOLS_ROOMS_FILE_DIFFERENCE_H_
#define ANTEROOM_TOOLS_ROOMS_FILE_DIFFERENCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "protocol/messages.h"
#include "tools/cli/json.h"
#include "tools/rooms_file/read.h"

namespace anteroom::tools {

enum class Prune { kNothing, kEmptyRooms };

struct SettingChange {
  std::string name;
  std::string before;
  std::string after;
};

struct RoomChange {
  std::string room;
  uint64_t revision = 0;               // that it was compared at
  protocol::RoomSettings set;          // what is to be said to room set
  std::vector<SettingChange> changes;  // the same, as it is typed, in the order of the settings
};

struct RoomPeople {
  std::string room;
  uint64_t people = 0;
};

struct RoomMode {
  std::string room;
  protocol::Mode mode = protocol::Mode::kQueue;
};

struct RoomStock {
  std::string room;
  protocol::Stock left;
};

// Each list by name.
struct Difference {
  std::vector<FileRoom> create;
  std::vector<RoomChange> change;
  std::vector<std::string> remove;  // nobody is in them; with Prune alone
  std::vector<RoomPeople> peopled;  // would be removed, but for the people
  std::vector<RoomMode> kept_mode;  // not queue, and the file does not say
  // The file says another one. It is what a sale begins with, not what is left of it: a room that
  // has a stock keeps it, or applying a file twice would sell units twice.
  std::vector<RoomStock> kept_stock;
  uint64_t unchanged = 0;
  uint64_t not_in_file = 0;  // and stay

  bool empty() const { return create.empty() && change.empty() && remove.empty(); }
};

Difference CompareRooms(std::span<const FileRoom> wanted,
                        std::span<const protocol::RoomReply> present, Prune prune);

// For people, several lines; for programs.
std::string DescribeDifference(const Difference& difference);
cli::Json DifferenceToJson(const Difference& difference);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_ROOMS_FILE_DIFFERENCE_H_
