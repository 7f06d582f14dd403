// A command line as a table of flags: each stands once, with its name, its help, its default and
// what becomes of its value. Reading the line (by CLI11), --help and the words about what is wrong
// come from the table.
//
// A flag is said as --some-flag VALUE or --some-flag=VALUE; said again, the last one counts. A name
// that is not there is answered with the nearest one that is.
#ifndef ANTEROOM_SERVER_APP_FLAGS_H_
#define ANTEROOM_SERVER_APP_FLAGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/base/limits.h"

namespace anteroom::app {

struct Flag {
  std::string_view name = {};     // without its dashes
  std::string_view value = {};    // what --help calls it; empty: a switch, true when it is said
  std::string by_default = {};    // taken when the flag is not said; empty: nothing is
  std::string_view or_else = {};  // for --help, when `by_default` is empty: what holds then
  std::string_view help = {};     // words, for lines of any length; a line that begins with a space
                                  // stays as it is
  std::vector<std::string_view> examples = {};
  // Takes a value, or returns what it would take instead, such as "it takes a size".
  std::function<std::string(const std::string& value)> take = {};
  bool alone = false;  // nothing that is said beside it matters
};

struct FlagSection {
  std::string_view title = {};
  std::vector<Flag> flags = {};
};

// A flag as it was said.
struct SaidFlag {
  const Flag* flag = nullptr;
  std::string value = {};
};

// What was said, in order, or the first thing that is wrong with the line's form; an `alone`
// without the others.
absl::StatusOr<std::vector<SaidFlag>> ReadCommandLine(std::span<const FlagSection> sections,
                                                      std::span<const std::string> arguments);

// Gives the table every default, and then what was said.
absl::Status TakeFlags(std::span<const FlagSection> sections, std::span<const SaidFlag> said);

// The sections as --help prints them.
std::string DescribeFlags(std::span<const FlagSection> sections);

// A number of bytes: digits, and K, M, G or T for powers of 1024.
std::optional<uint64_t> ParseSize(std::string_view text);
std::string FormatSize(uint64_t bytes);

// The flag of a limit; its value goes to *limits.
Flag FlagOf(const LimitFlag& limit, Limits* limits);

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_FLAGS_H_
