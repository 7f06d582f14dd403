// Rooms: create, set, show, list, delete, reset.
#include "tools/cli/command.h"
#include "tools/cli/consent.h"
#include "tools/cli/context.h"
#include "tools/cli/describe.h"
#include "tools/cli/human.h"
#include "tools/cli/room_pages.h"

namespace anteroom::cli {
namespace {

using protocol::Operation;
using protocol::RoomReply;

ExitStatus RunCreate(Context& context, const Arguments& arguments) {
  return context.Finish(context.client().RoomCreate(arguments.room, arguments.settings),
                        DescribeRoom);
}

std::string_view CheckSet(const Arguments& arguments) {
  if (arguments.settings == protocol::RoomSettings()) {
    return "room set takes at least one setting, as in rate=50/s";
  }
  return {};
}

ExitStatus RunSet(Context& context, const Arguments& arguments) {
  client::RoomSetOptions options{.if_revision = arguments.if_revision};
  if (!arguments.yes && CouldHarm(arguments.settings)) {
    const auto room = context.client().RoomShow(arguments.room);
    if (!room.ok()) return context.Fail(room.status());
    if (const auto harm = HarmOfSet(*room, arguments.settings)) {
      if (const auto stopped = AskConsent(context, arguments, *harm)) return *stopped;
      // What was shown is what is changed.
      if (!options.if_revision) options.if_revision = room->revision;
    }
  }
  return context.Finish(context.client().RoomSet(arguments.room, arguments.settings, options),
                        DescribeRoom);
}

ExitStatus RunShow(Context& context, const Arguments& arguments) {
  return context.Finish(context.client().RoomShow(arguments.room), DescribeRoom);
}

std::vector<std::string> ListRow(const RoomReply& room) {
  std::vector<std::string> row = {room.room};
  for (std::string_view wanted : {"mode", "rate", "capacity"}) {
    std::string value = "-";
    for (const auto& [name, text] : FormatSettings(room.settings)) {
      if (name == wanted) value = text;
    }
    row.push_back(value);
  }
  row.push_back(std::to_string(room.counts.waiting));
  row.push_back(std::to_string(room.counts.occupied));
  return row;
}

ExitStatus RunList(Context& context, const Arguments&) {
  std::vector<std::vector<std::string>> rows = {
      {"room", "mode", "rate", "capacity", "waiting", "inside"}};
  const absl::Status listed = ForEachRoom(context.client(), [&](const RoomReply& room) {
    if (context.json()) {
      context.PrintJson(ToJson(room));
    } else {
      rows.push_back(ListRow(room));
    }
  });
  if (!listed.ok()) return context.Fail(listed);
  if (!context.json()) context.PrintText(rows.size() > 1 ? Table(rows) : "there is no room yet");
  return ExitStatus::kDone;
}

// The room's present state, and consent to what `harm` says of it.
std::optional<ExitStatus> AskFirst(Context& context, const Arguments& arguments,
                                   Harm (*harm)(const RoomReply&)) {
  if (arguments.yes) return std::nullopt;
  const auto room = context.client().RoomShow(arguments.room);
  if (!room.ok()) return context.Fail(room.status());
  return AskConsent(context, arguments, harm(*room));
}

ExitStatus RunDelete(Context& context, const Arguments& arguments) {
  if (const auto stopped = AskFirst(context, arguments, HarmOfDelete)) return *stopped;
  const absl::Status status =
      context.client().RoomDelete(arguments.room, {.force = arguments.force});
  if (!status.ok()) return context.Fail(status);
  if (context.json()) {
    context.PrintJson(Json{{"room", arguments.room}});
  } else {
    context.PrintText("room " + arguments.room + " is gone");
  }
  return ExitStatus::kDone;
}

ExitStatus RunReset(Context& context, const Arguments& arguments) {
  if (const auto stopped = AskFirst(context, arguments, HarmOfReset)) return *stopped;
  return context.Finish(context.client().RoomReset(arguments.room), DescribeRoom);
}

}  // namespace

std::vector<Command> RoomCommands() {
  return {
      {.name = "room create",
       .summary = SummaryOf(Operation::kRoomCreate),
       .uses = {{&kRoom}, {&kSettings, Need::kOptional}},
       .example = "anteroom room create concert rate=50/s capacity=100 claim_ttl=5m",
       .notes =
           "Wants rate, capacity or stock said, if only as none: a room that protects nothing is\n"
           "made on purpose or not at all. With stock=200 never more people are inside than units\n"
           "are left, each finish --completed takes one, and at 0 the room is sold out;\n"
           "stock_oversubscribe=1.5 lets in half as many more, since some never buy.",
       .check = nullptr,
       .run = RunCreate},
      {.name = "room set",
       .summary = SummaryOf(Operation::kRoomSet),
       .uses = {{&kRoom}, {&kSettings}, {&kIfRevision, Need::kOptional}},
       .example = "anteroom room set concert rate=80/s",
       .notes =
           "Acts at once. Asks before passthrough with people waiting and before a rate more\n"
           "than doubled. stock=200 says how many units are left; stock=+4 and stock=-4 add and\n"
           "take: say these once, or with --if-revision.",
       .check = CheckSet,
       .run = RunSet},
      {.name = "room show",
       .summary = SummaryOf(Operation::kRoomShow),
       .uses = {{&kRoom}},
       .example = "anteroom room show concert",
       .notes = {},
       .check = nullptr,
       .run = RunShow},
      {.name = "room list",
       .summary = SummaryOf(Operation::kRoomList),
       .uses = {},
       .example = "anteroom room list",
       .notes = {},
       .check = nullptr,
       .run = RunList},
      {.name = "room delete",
       .summary = SummaryOf(Operation::kRoomDelete),
       .uses = {{&kRoom}, {&kForce, Need::kOptional}},
       .example = "anteroom room delete concert --force",
       .notes = "Asks first.",
       .check = nullptr,
       .run = RunDelete},
      {.name = "room reset",
       .summary = SummaryOf(Operation::kRoomReset),
       .uses = {{&kRoom}},
       .example = "anteroom room reset concert",
       .notes = "Asks first.",
       .check = nullptr,
       .run = RunReset},
  };
}

}  // namespace anteroom::cli
