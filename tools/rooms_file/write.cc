#include "tools/rooms_file/write.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace anteroom::tools {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

Texts TextsToWrite(const protocol::RoomSettings& settings) {
  const Texts defaults = FormatSettings(protocol::DefaultSettings());
  Texts texts;
  for (auto& said : FormatSettings(settings)) {
    bool is_default = false;
    for (const auto& one : defaults) is_default = is_default || one == said;
    if (!is_default) texts.push_back(std::move(said));
  }
  return texts;
}

// A whole number as TOML has them, of 64 bits with a sign; a larger one stays text.
std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string KeyOf(std::string_view room) {
  // Of what may stand in a room's name, a dot alone cannot stand in a bare key.
  return room.find('.') == std::string_view::npos ? std::string(room) : TomlString(room);
}

}  // namespace

std::string TomlString(std::string_view utf8) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      text += "\\u00";
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    } else {
      text += c;
    }
  }
  return text + "\"";
}

std::string WriteRoomsFile(std::span<const protocol::RoomReply> rooms) {
  if (rooms.empty()) return "[rooms]\n";
  std::string file;
  for (const protocol::RoomReply& room : rooms) {
    if (!file.empty()) file += '\n';
    file += "[rooms." + KeyOf(room.room) + "]\n";
    for (const auto& [name, text] : TextsToWrite(room.settings)) {
      file += name + " = " + (NumberOf(text) ? text : TomlString(text)) + "\n";
    }
  }
  return file;
}

cli::Json RoomsFileToJson(std::span<const protocol::RoomReply> rooms) {
  cli::Json tables = cli::Json::object();
  for (const protocol::RoomReply& room : rooms) {
    cli::Json& table = tables[room.room] = cli::Json::object();
    for (const auto& [name, text] : TextsToWrite(room.settings)) {
      if (const auto number = NumberOf(text)) {
        table[name] = *number;
      } else {
        table[name] = text;
      }
    }
  }
  return cli::Json{{"rooms", std::move(tables)}};
}

}  // namespace anteroom::tools
