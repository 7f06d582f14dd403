// A difference in words and in JSON.
#include <algorithm>
#include <utility>

#include "tools/cli/human.h"
#include "tools/rooms_file/difference.h"

namespace anteroom::tools {
namespace {

using cli::Count;
using cli::Json;

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

std::string DescribeSettings(const protocol::RoomSettings& settings) {
  std::string text;
  for (const auto& [name, value] : FormatSettings(settings)) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text;
}

std::string DescribeChanges(const std::vector<SettingChange>& changes) {
  std::string text;
  for (const SettingChange& change : changes) {
    if (!text.empty()) text += ", ";
    text.append(change.name).append(" ").append(change.before);
    text.append(" -> ").append(change.after);
  }
  return text;
}

std::string Summary(const Difference& difference) {
  std::vector<std::string> parts;
  const auto add = [&](uint64_t number, std::string_view what) {
    if (number > 0) parts.push_back(std::to_string(number) + " " + std::string(what));
  };
  add(difference.create.size(), "to create");
  add(difference.change.size(), "to change");
  add(difference.remove.size(), "to delete");
  if (parts.empty()) parts.emplace_back("nothing to change");
  parts.push_back(std::to_string(difference.unchanged) + " unchanged");
  if (difference.not_in_file > 0) {
    parts.push_back(std::to_string(difference.not_in_file) + " not in the file, left alone");
  }
  return Join(parts, "; ");
}

}  // namespace

std::string DescribeDifference(const Difference& difference) {
  std::vector<std::pair<std::string, std::string>> lines;
  lines.reserve(difference.create.size() + difference.change.size() + difference.remove.size() +
                difference.peopled.size() + difference.kept_mode.size() +
                difference.kept_stock.size());
  for (const FileRoom& room : difference.create) {
    lines.emplace_back("create " + room.name, DescribeSettings(room.said));
  }
  for (const RoomChange& room : difference.change) {
    lines.emplace_back("change " + room.room, DescribeChanges(room.changes));
  }
  for (const std::string& room : difference.remove) {
    lines.emplace_back("delete " + room, "nobody is in it");
  }
  for (const RoomPeople& room : difference.peopled) {
    lines.emplace_back("keep " + room.room,
                       Count(room.people, "person is", "people are") + " in it");
  }
  for (const RoomStock& room : difference.kept_stock) {
    lines.emplace_back("keep " + room.room,
                       "stock " + std::to_string(room.left.units) +
                           ", the file says with how many it began; room set changes it");
  }
  for (const RoomMode& room : difference.kept_mode) {
    lines.emplace_back("keep " + room.room,
                       "mode " + std::string(NameOf(room.mode)) + ", the file does not say one");
  }
  std::string text = lines.empty() ? "" : cli::Aligned(lines, 0) + "\n";
  return text + Summary(difference);
}

Json DifferenceToJson(const Difference& difference) {
  Json create = Json::array();
  for (const FileRoom& room : difference.create) {
    Json settings = Json::object();
    for (const auto& [name, value] : FormatSettings(room.said)) settings[name] = value;
    create.push_back(Json{{"room", room.name}, {"settings", std::move(settings)}});
  }
  Json change = Json::array();
  for (const RoomChange& room : difference.change) {
    Json settings = Json::object();
    for (const SettingChange& one : room.changes) {
      settings[one.name] = Json{{"before", one.before}, {"after", one.after}};
    }
    change.push_back(
        Json{{"room", room.room}, {"revision", room.revision}, {"settings", std::move(settings)}});
  }
  Json peopled = Json::object();
  for (const RoomPeople& room : difference.peopled) peopled[room.room] = room.people;
  Json kept_mode = Json::object();
  for (const RoomMode& room : difference.kept_mode) kept_mode[room.room] = NameOf(room.mode);
  Json kept_stock = Json::object();
  for (const RoomStock& room : difference.kept_stock) kept_stock[room.room] = room.left.units;
  return Json{{"create", std::move(create)},       {"change", std::move(change)},
              {"delete", difference.remove},       {"not_empty", std::move(peopled)},
              {"kept_mode", std::move(kept_mode)}, {"kept_stock", std::move(kept_stock)},
              {"unchanged", difference.unchanged}, {"not_in_file", difference.not_in_file}};
}

}  // namespace anteroom::tools
