// Replies in words and short tables, for people.
#ifndef ANTEROOM_TOOLS_CLI_DESCRIBE_H_
#define ANTEROOM_TOOLS_CLI_DESCRIBE_H_

#include <string>
#include <string_view>

#include "protocol/messages.h"
#include "tools/cli/json.h"

namespace anteroom::cli {

// `alice is waiting: 41 ahead, 120 in line, about 2 min (1–3 min)`. `visitor` is bytes.
std::string DescribeVisitor(std::string_view visitor, const protocol::VisitorReply& reply);

// `120 waiting, 3 admitted, 40 active`
std::string DescribePresent(const protocol::Counts& counts);

// Name, settings and counts, on several lines; in one line, for watches.
std::string DescribeRoom(const protocol::RoomReply& room);
std::string DescribeRoomInLine(const protocol::RoomReply& room);

// `alice is waiting again: no show, lane 128, arrival 12`, of a watch of a room.
std::string DescribeEvent(const protocol::RoomEvent& event);

// Every field on a line of its own, its unit said in words: `uptime  2 h 5 min`.
std::string DescribeFields(const Json& object);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_DESCRIBE_H_
