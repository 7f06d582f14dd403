// Numbers and text as people read them on a terminal.
#ifndef ANTEROOM_TOOLS_CLI_HUMAN_H_
#define ANTEROOM_TOOLS_CLI_HUMAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anteroom::cli {

// `450 ms`, `45 s`, `2 min 30 s`, `1 h 20 min`, `3 d 4 h`: two units at most, rounded to the
// nearest.
std::string HumanDuration(uint64_t duration_ms);

// `1–3 min` when both ends are of one unit, else `40 s – 2 min`.
std::string HumanRange(uint64_t low_ms, uint64_t high_ms);

// `310 bytes`, `64.0 MiB`
std::string HumanBytes(uint64_t bytes);

// `1 person`, `12 people`
std::string Count(uint64_t number, std::string_view one, std::string_view many);

// Text of others without what would steer a terminal: control bytes and broken UTF-8 as \xNN.
std::string Printable(std::string_view text);

// Columns on a terminal that the text takes: its characters, for the letters of most languages.
size_t Width(std::string_view utf8);

// The second of each pair in one column; one line a pair, `indent` spaces in front.
std::string Aligned(const std::vector<std::pair<std::string, std::string>>& lines, size_t indent);

// Rows under a header, every column as wide as its widest cell; the last one is not padded.
std::string Table(const std::vector<std::vector<std::string>>& rows);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_HUMAN_H_
