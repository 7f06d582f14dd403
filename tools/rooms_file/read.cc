#include "tools/rooms_file/read.h"

// Of the library, what goes wrong as a value.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/text.h"
#include "tools/rooms_file/limits.h"

namespace anteroom::tools {
namespace {

constexpr std::string_view kRooms = "rooms";
constexpr std::string_view kDefaults = "defaults";

std::string Quoted(std::string_view text) {
  return "\"" + protocol::EscapeId(text) + "\"";
}

bool IsSetting(std::string_view name) {
  const auto names = protocol::SettingNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view KindOf(const toml::node& value) {
  switch (value.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or a time";
    default:
      return "something else";
  }
}

// `a.b.c` of the table c in b in a, as far as each holds nothing but the next.
std::string NameOfNested(std::string name, const toml::table& table) {
  const toml::table* inner = &table;
  for (size_t depth = 0; inner->size() == 1; ++depth) {
    const auto only = inner->begin();
    if (!only->second.is_table() || IsSetting(only->first.str())) break;
    if (depth == kTableDepthNamed) return name + "...";
    name.append(".").append(only->first.str());
    inner = only->second.as_table();
  }
  return name;
}

// Its number from 1, or 0.
uint64_t FirstLongLine(std::string_view text) {
  for (uint64_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > kRoomsFileLineBytesMax) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}

class Reading {
 public:
  RoomsFile Read(const toml::table& document) {
    const toml::table* rooms = nullptr;
    const toml::table* defaults = nullptr;
    for (const auto& [key, value] : document) {
      if (key.str() == kRooms) {
        rooms = TableOf(key, value);
      } else if (key.str() == kDefaults) {
        defaults = TableOf(key, value);
      } else {
        Say(key.source(), UnknownTable(key.str()));
      }
    }
    if (defaults != nullptr) TakeSettings(*defaults, {}, &defaults_);
    if (rooms != nullptr) {
      file_.rooms.reserve(rooms->size());
      for (const auto& [key, value] : *rooms) TakeRoom(key, value, defaults);
    } else if (!document.contains(kRooms)) {
      Say({}, "there is no table [rooms.NAME]; a file without rooms says [rooms]");
    }
    const auto by_line = [](const auto& a, const auto& b) { return a.line < b.line; };
    std::stable_sort(file_.problems.begin(), file_.problems.end(), by_line);
    return std::move(file_);
  }

 private:
  void Say(const toml::source_region& where, std::string text) {
    file_.problems.push_back({std::max<uint64_t>(where.begin.line, 1), std::move(text)});
  }

  const toml::table* TableOf(const toml::key& key, const toml::node& value) {
    if (!value.is_table()) {
      Say(key.source(), std::string(key.str()) + " is " + std::string(KindOf(value)) +
                            ", it takes tables, as in [" +
                            (key.str() == kRooms ? "rooms.NAME" : "defaults") + "]");
    }
    return value.as_table();
  }

  static std::string UnknownTable(std::string_view name) {
    constexpr std::array<std::string_view, 2> kTables = {kRooms, kDefaults};
    if (IsSetting(name)) {
      return std::string(name) + " stands in no table: begin [rooms.NAME] or [defaults] before it";
    }
    const std::string_view nearest = protocol::NearestName(name, kTables);
    return "there is no table " + Quoted(name) +
           (nearest.empty() ? ", the tables are: defaults rooms.NAME"
                            : ", did you mean " + std::string(nearest) + "?");
  }

  void TakeRoom(const toml::key& key, const toml::node& value, const toml::table* defaults) {
    const std::string name(key.str());
    const toml::table* table = value.as_table();
    if (table == nullptr) {
      const std::string wrong = IsSetting(name)
                                    ? name + " is a setting of no room: it takes [rooms.NAME]"
                                    : "room " + Quoted(name) + " takes a table, as in [rooms.NAME]";
      return Say(key.source(), wrong);
    }
    if (std::string wrong = protocol::CheckRoomName(name); !wrong.empty()) {
      Say(key.source(), std::move(wrong));
    }
    FileRoom& room = file_.rooms.emplace_back(FileRoom{name, defaults_});
    const bool whole = TakeSettings(*table, name, &room.said);
    const auto says = [&](std::string_view setting) {
      return table->contains(setting) || (defaults != nullptr && defaults->contains(setting));
    };
    if (whole && !says("rate") && !says("capacity") && !says("stock")) {
      Say(key.source(), "room " + Quoted(name) +
                            " says neither rate nor capacity nor stock: it takes at least one of "
                            "them, if only as \"none\"");
    }
  }

  // False when it holds what was meant to be another room. `room` is empty for the defaults.
  bool TakeSettings(const toml::table& table, std::string_view room,
                    protocol::RoomSettings* settings) {
    bool whole = true;
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      std::string wrong;
      if (!room.empty() && value.is_table() && !IsSetting(name)) {
        whole = false;
        const std::string meant = NameOfNested(std::string(room) + "." + name, *value.as_table());
        wrong = "there is no setting " + Quoted(name) +
                "; a room whose name has a dot stands in quotes: [rooms." + Quoted(meant) + "]";
      } else if (!value.is_string() && !value.is_integer() && IsSetting(name)) {
        wrong = name + " is " + std::string(KindOf(value)) +
                ", it takes text as in rate = \"50/s\", or a whole number";
      } else {
        wrong = protocol::ParseSetting(name, TextOf(value), settings);
        if (wrong.empty() && name == "stock" && settings->stock->relative()) {
          wrong = "stock is " + TextOf(value) + ": a file says how many there are, not a change";
        }
      }
      if (!wrong.empty()) Say(key.source(), std::move(wrong));
    }
    return whole;
  }

  static std::string TextOf(const toml::node& value) {
    if (const auto* text = value.as_string()) return text->get();
    if (const auto* number = value.as_integer()) return std::to_string(number->get());
    return {};
  }

  RoomsFile file_;
  protocol::RoomSettings defaults_;
};

}  // namespace

RoomsFile ReadRoomsFile(std::string_view text) {
  if (const uint64_t line = FirstLongLine(text)) {
    return {.rooms = {},
            .problems = {{line, "the line has more than " + std::to_string(kRoomsFileLineBytesMax) +
                                    " bytes, which no line of such a file has"}}};
  }
  const toml::parse_result parsed = toml::parse(text);
  if (parsed.failed()) {
    const toml::parse_error& error = parsed.error();
    return {.rooms = {},
            .problems = {{error.source().begin.line, std::string(error.description())}}};
  }
  return Reading().Read(parsed.table());
}

}  // namespace anteroom::tools
