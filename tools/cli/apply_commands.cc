// Rooms as a file under version control: apply, export.
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "protocol/text.h"
#include "tools/cli/command.h"
#include "tools/cli/consent.h"
#include "tools/cli/context.h"
#include "tools/cli/human.h"
#include "tools/cli/room_pages.h"
#include "tools/rooms_file/difference.h"
#include "tools/rooms_file/limits.h"
#include "tools/rooms_file/read.h"
#include "tools/rooms_file/write.h"

namespace anteroom::cli {
namespace {

using protocol::RoomReply;
using tools::Difference;

// The whole file, or what is wrong with it as such.
absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return absl::NotFoundError(path + ": " + std::strerror(errno));
  std::string text;
  std::array<char, 65536> piece;
  do {
    stream.read(piece.data(), piece.size());
    if (stream.bad()) return absl::DataLossError(path + ": " + std::strerror(errno));
    text.append(piece.data(), static_cast<size_t>(stream.gcount()));
  } while (stream && text.size() <= tools::kRoomsFileBytesMax);
  if (text.size() <= tools::kRoomsFileBytesMax) return text;
  return absl::OutOfRangeError(path + " has more than " + HumanBytes(tools::kRoomsFileBytesMax) +
                               ", which no file of rooms has");
}

// Nothing, and what was wrong has been said.
std::optional<std::vector<tools::FileRoom>> ReadRooms(Context& context, const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    context.WrongUsage(Printable(protocol::ToStd(text.status().message())));
    return std::nullopt;
  }
  tools::RoomsFile file = tools::ReadRoomsFile(*text);
  for (const tools::FileProblem& problem : file.problems) {
    context.WrongUsage(Printable(path + ":" + std::to_string(problem.line) + ": " + problem.text));
  }
  if (!file.problems.empty()) return std::nullopt;
  return std::move(file.rooms);
}

// What `room set` would ask about, of each room.
void WarnOfHarm(Context& context, const Difference& difference,
                const std::vector<RoomReply>& rooms) {
  std::map<std::string_view, const RoomReply*> found;
  for (const RoomReply& room : rooms) found.emplace(room.room, &room);
  for (const tools::RoomChange& change : difference.change) {
    if (const auto harm = HarmOfSet(*found.at(change.room), change.set)) {
      context.Note("room " + change.room + ": " + harm->warning);
    }
  }
}

// Does one thing after another. A refusal, as when somebody else has changed a room meanwhile, is
// said and leaves the other rooms to be done; without a daemon it ends.
class Applying {
 public:
  explicit Applying(Context& context) : context_(context) {}

  ExitStatus Apply(const Difference& difference) {
    client::Client& client = context_.client();
    for (const tools::FileRoom& room : difference.create) {
      Take(room.name, &created_, [&] { return client.RoomCreate(room.name, room.said).status(); });
    }
    for (const tools::RoomChange& room : difference.change) {
      Take(room.room, &changed_, [&] {
        return client.RoomSet(room.room, room.set, {.if_revision = room.revision}).status();
      });
    }
    // Without force, so that it is refused when somebody has come meanwhile.
    for (const std::string& room : difference.remove) {
      Take(room, &deleted_, [&] { return client.RoomDelete(room); });
    }
    SayDone();
    return status_;
  }

 private:
  template <typename Change>
  void Take(const std::string& room, uint64_t* done, Change change) {
    if (status_ == ExitStatus::kNoDaemon) {
      ++not_done_;
      return;
    }
    const absl::Status status = change();
    if (status.ok()) {
      ++*done;
    } else {
      ++not_done_;
      status_ = context_.Fail(status, room);
    }
  }

  void SayDone() {
    if (context_.json()) {
      context_.PrintJson(Json{{"created", created_},
                              {"changed", changed_},
                              {"deleted", deleted_},
                              {"not_done", not_done_}});
      return;
    }
    std::string text = std::to_string(created_) + " created, " + std::to_string(changed_) +
                       " changed, " + std::to_string(deleted_) + " deleted";
    if (not_done_ > 0) text += ", " + std::to_string(not_done_) + " not done";
    context_.PrintText(text);
  }

  Context& context_;
  ExitStatus status_ = ExitStatus::kDone;
  uint64_t created_ = 0;
  uint64_t changed_ = 0;
  uint64_t deleted_ = 0;
  uint64_t not_done_ = 0;
};

ExitStatus RunApply(Context& context, const Arguments& arguments) {
  const auto wanted = ReadRooms(context, arguments.path);
  if (!wanted) return ExitStatus::kWrongUsage;
  std::vector<RoomReply> rooms;
  const absl::Status listed =
      ForEachRoom(context.client(), [&](const RoomReply& room) { rooms.push_back(room); });
  if (!listed.ok()) return context.Fail(listed);

  const auto prune = arguments.prune ? tools::Prune::kEmptyRooms : tools::Prune::kNothing;
  const Difference difference = tools::CompareRooms(*wanted, rooms, prune);
  if (context.json()) {
    context.PrintJson(tools::DifferenceToJson(difference));
  } else {
    context.PrintText(tools::DescribeDifference(difference));
  }
  context.console().out.flush();
  if (difference.empty()) return ExitStatus::kDone;
  if (!arguments.yes) WarnOfHarm(context, difference, rooms);
  if (arguments.dry_run) return ExitStatus::kDone;
  if (const auto stopped = AskToGoOn(context, arguments)) return *stopped;
  return Applying(context).Apply(difference);
}

ExitStatus RunExport(Context& context, const Arguments& arguments) {
  std::map<std::string, RoomReply> by_name;
  const auto take = [&](const RoomReply& room) { by_name.insert_or_assign(room.room, room); };
  if (arguments.rooms.empty()) {
    const absl::Status listed = ForEachRoom(context.client(), take);
    if (!listed.ok()) return context.Fail(listed);
  }
  for (const std::string& name : arguments.rooms) {
    const auto room = context.client().RoomShow(name);
    if (!room.ok()) return context.Fail(room.status());
    take(*room);
  }
  std::vector<RoomReply> rooms;
  rooms.reserve(by_name.size());
  for (auto& [name, room] : by_name) rooms.push_back(std::move(room));
  if (context.json()) {
    context.PrintJson(tools::RoomsFileToJson(rooms));
  } else {
    context.console().out << tools::WriteRoomsFile(rooms);
  }
  return ExitStatus::kDone;
}

}  // namespace

std::vector<Command> ApplyCommands() {
  return {
      {.name = "apply",
       .summary = "makes the rooms as a file says, after showing the difference",
       .uses = {{&kRoomsFile}, {&kDryRun, Need::kOptional}, {&kPrune, Need::kOptional}},
       .example = "anteroom apply rooms.toml --dry-run",
       .notes =
           "The file is TOML, a table for each room, with values as room set takes them:\n"
           "  [defaults]\n"
           "  claim_ttl = \"5m\"\n"
           "  [rooms.concert]\n"
           "  rate = \"50/s\"\n"
           "  capacity = 500\n"
           "  [rooms.\"concert.vip\"]\n"
           "  rate = \"5/s\"\n"
           "[defaults] is laid under every room. A setting that is not said has the default of\n"
           "room create; a mode that is not said stays as it is. All that is wrong in the file\n"
           "is said before anything is changed. Shows the difference and asks first. A room\n"
           "that somebody else changes meanwhile is left as they made it: conflict. Rooms that\n"
           "the file does not name are left alone.",
       .check = nullptr,
       .run = RunApply},
      {.name = "export",
       .summary = "writes the rooms as a file that apply takes",
       .uses = {{&kRooms, Need::kOptional}},
       .example = "anteroom export concert",
       .notes = "By name; settings that have their default are left out. Without a name it is all\n"
                "rooms: anteroom export > rooms.toml",
       .check = nullptr,
       .run = RunExport},
  };
}

}  // namespace anteroom::cli
