// Small helpers for text: the bridge to Abseil's string_view, names, and how bytes are shown.
#ifndef ANTEROOM_PROTOCOL_TEXT_H_
#define ANTEROOM_PROTOCOL_TEXT_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace anteroom::protocol {

// Debian builds Abseil with a string_view type of its own.
inline absl::string_view ToAbsl(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view ToStd(absl::string_view text) {
  return {text.data(), text.size()};
}

// The name nearest to `word` by edit distance (an exchange of two neighbours is one edit), or an
// empty view when none is near enough to be what was meant: a third of the longer word's letters,
// at least one.
std::string_view NearestName(std::string_view word, std::span<const std::string_view> names);

// Whether credentials may go by this name: 1 to kCredentialNameBytesMax of a-z 0-9 . _ -
bool IsCredentialName(std::string_view name);

// Visitor ids are bytes. Shown to people and in JSON, what is not printable UTF-8 is written as
// \xNN and a backslash is doubled; Unescape reads the same and fails on any other escape.
std::string EscapeId(std::string_view bytes);
bool UnescapeId(std::string_view text, std::string* bytes);

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_TEXT_H_
