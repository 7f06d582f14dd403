#include "protocol/text.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "protocol/limits.h"

namespace anteroom::protocol {
namespace {

// Insertions, removals, substitutions and exchanges of neighbours (Damerau 1964, in the form in
// which no letter is edited twice).
size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> before_last;
  std::vector<size_t> last;
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    before_last = std::exchange(last, std::move(row));
    row.assign(to.size() + 1, i);
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t substituted = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[to.size()];
}

// Length of the UTF-8 sequence at the start of `text` when it is valid and printable, else 0
// (RFC 3629; C0, DEL and C1 controls count as not printable).
size_t PrintableSequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  uint32_t point = first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = (point << 6) | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point >= kLeast[length] && point <= 0x10ffff && !surrogate ? length : 0;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsCredentialName(std::string_view name) {
  return !name.empty() && name.size() <= kCredentialNameBytesMax &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") ==
             std::string_view::npos;
}

std::string_view NearestName(std::string_view word, std::span<const std::string_view> names) {
  std::string_view nearest;
  size_t nearest_distance = 0;
  for (std::string_view name : names) {
    const size_t distance = EditDistance(word, name);
    if (distance > std::max<size_t>(1, std::max(word.size(), name.size()) / 3)) continue;
    if (nearest.empty() || distance < nearest_distance) {
      nearest = name;
      nearest_distance = distance;
    }
  }
  return nearest;
}

std::string EscapeId(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = PrintableSequence(bytes);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(bytes[0]);
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else if (bytes[0] == '\\') {
      text += "\\\\";
    } else {
      text.append(bytes.substr(0, length));
    }
    bytes.remove_prefix(std::max<size_t>(1, length));
  }
  return text;
}

bool UnescapeId(std::string_view text, std::string* bytes) {
  bytes->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *bytes += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      *bytes += '\\';
      i += 1;
    } else if (i + 3 < text.size() && text[i + 1] == 'x' && HexDigit(text[i + 2]) >= 0 &&
               HexDigit(text[i + 3]) >= 0) {
      *bytes += static_cast<char>(HexDigit(text[i + 2]) * 16 + HexDigit(text[i + 3]));
      i += 3;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace anteroom::protocol
