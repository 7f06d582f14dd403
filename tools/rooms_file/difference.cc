#include "tools/rooms_file/difference.h"

#include <map>
#include <string_view>
#include <utility>

#include "server/base/check.h"

namespace anteroom::tools {
namespace {

using protocol::RoomReply;
using protocol::RoomSettings;

using TextByName = std::map<std::string, std::string, std::less<>>;

// What a setting without a default is when it is absent.
std::string_view Absent(std::string_view name) {
  return name == "stock_oversubscribe" ? "1" : "none";
}

TextByName TextsOf(const RoomSettings& settings) {
  TextByName texts;
  for (auto& [name, text] : FormatSettings(settings)) texts.emplace(name, std::move(text));
  return texts;
}

std::string_view TextOf(const TextByName& texts, std::string_view name) {
  const auto found = texts.find(name);
  return found == texts.end() ? Absent(name) : std::string_view(found->second);
}

bool HasStock(const RoomReply& room) {
  return room.settings.stock && !room.settings.stock->none();
}

RoomChange CompareRoom(const RoomSettings& said, const RoomReply& room) {
  RoomSettings wanted = protocol::DefaultSettings();
  wanted.mode = room.settings.mode;
  Overlay(said, &wanted);
  if (HasStock(room)) wanted.stock = room.settings.stock;
  const TextByName before = TextsOf(room.settings);
  const TextByName after = TextsOf(wanted);
  RoomChange change{.room = room.room, .revision = room.revision, .set = {}, .changes = {}};
  for (const std::string_view name : protocol::SettingNames()) {
    const std::string_view text = TextOf(after, name);
    if (text == TextOf(before, name)) continue;
    // What was formatted can be parsed, and so can what an absent one is.
    const std::string wrong = ParseSetting(name, text, &change.set);
    CHECK(wrong.empty());
    change.changes.push_back(
        {std::string(name), std::string(TextOf(before, name)), std::string(text)});
  }
  return change;
}

void AddMissing(const RoomReply& room, Prune prune, Difference* difference) {
  const uint64_t people = room.counts.waiting + room.counts.occupied;
  if (prune == Prune::kNothing) {
    ++difference->not_in_file;
  } else if (people == 0) {
    difference->remove.push_back(room.room);
  } else {
    ++difference->not_in_file;
    difference->peopled.push_back({room.room, people});
  }
}

}  // namespace

Difference CompareRooms(std::span<const FileRoom> wanted, std::span<const RoomReply> present,
                        Prune prune) {
  std::map<std::string_view, const RoomSettings*> said_of;
  for (const FileRoom& room : wanted) said_of.emplace(room.name, &room.said);
  std::map<std::string_view, const RoomReply*> found;
  for (const RoomReply& room : present) found.emplace(room.room, &room);

  Difference difference;
  for (const auto& [name, room] : found) {
    const auto said = said_of.find(name);
    if (said == said_of.end()) {
      AddMissing(*room, prune, &difference);
      continue;
    }
    const auto mode = room->settings.mode.value_or(protocol::Mode::kQueue);
    if (!said->second->mode && mode != protocol::Mode::kQueue) {
      difference.kept_mode.push_back({room->room, mode});
    }
    if (HasStock(*room) && said->second->stock && *said->second->stock != *room->settings.stock) {
      difference.kept_stock.push_back({room->room, *room->settings.stock});
    }
    RoomChange change = CompareRoom(*said->second, *room);
    if (change.changes.empty()) {
      ++difference.unchanged;
    } else {
      difference.change.push_back(std::move(change));
    }
  }
  for (const auto& [name, said] : said_of) {
    if (!found.contains(name)) difference.create.push_back({std::string(name), *said});
  }
  return difference;
}

}  // namespace anteroom::tools
