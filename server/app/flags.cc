#include "server/app/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "protocol/duration.h"
#include "protocol/text.h"

namespace anteroom::app {
namespace {

constexpr size_t kHelpColumn = 27;
constexpr size_t kHelpColumns = 100;

struct SizeUnit {
  char letter;
  uint64_t bytes;
};
constexpr SizeUnit kSizeUnits[] = {{'T', uint64_t{1} << 40},
                                   {'G', uint64_t{1} << 30},
                                   {'M', uint64_t{1} << 20},
                                   {'K', uint64_t{1} << 10}};

absl::Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::Status Unknown(std::span<const FlagSection> sections, const std::string& typed) {
  std::vector<std::string_view> names;
  for (const FlagSection& section : sections) {
    for (const Flag& flag : section.flags) names.push_back(flag.name);
  }
  const std::string_view nearest = protocol::NearestName(
      std::string_view(typed).substr(std::min(typed.find_first_not_of('-'), typed.size())), names);
  return Wrong("there is no flag " + typed +
               (nearest.empty() ? "; --help lists them all"
                                : "; did you mean --" + std::string(nearest) + "?"));
}

absl::Status Take(const Flag& flag, const std::string& value) {
  const std::string right = flag.take(value);
  if (right.empty()) return absl::OkStatus();
  return Wrong("--" + std::string(flag.name) + " " + value + ": " + right);
}

// Digits alone, which SimpleAtoi is not strict about.
std::optional<uint64_t> ParseCount(std::string_view text) {
  uint64_t count = 0;
  if (text.find_first_not_of("0123456789") != std::string_view::npos ||
      !absl::SimpleAtoi(protocol::ToAbsl(text), &count)) {
    return std::nullopt;
  }
  return count;
}

// Appends the words of a text from the column on, in lines that are short enough; the present line
// may have begun.
void AppendWords(std::string_view words, std::string* text) {
  size_t column = text->size() - (text->rfind('\n') + 1);
  bool first = true;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (!first && column + 1 + word.size() > kHelpColumns) {
      text->erase(text->find_last_not_of(' ') + 1);
      *text += '\n' + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
      first = true;
    }
    if (!first) {
      *text += ' ';
      ++column;
    }
    *text += word;
    column += word.size();
    first = false;
  }
}

void Describe(const Flag& flag, std::string* text) {
  std::string head = "  --" + std::string(flag.name);
  if (!flag.value.empty()) head += " " + std::string(flag.value);
  *text += head;
  const bool fits = head.size() + 2 <= kHelpColumn;
  *text +=
      fits ? std::string(kHelpColumn - head.size(), ' ') : "\n" + std::string(kHelpColumn, ' ');
  std::string_view help = flag.help;
  const std::string by_default =
      flag.by_default.empty() ? std::string(flag.or_else) : flag.by_default;
  for (bool more = true; more;) {
    const size_t end = help.find('\n');
    more = end != std::string_view::npos;
    std::string line(help.substr(0, end));
    if (!more && !by_default.empty())
      line += (line.empty() ? "Default: " : "  Default: ") + by_default;
    if (line.starts_with(' ')) {
      *text += line;
    } else {
      AppendWords(line, text);
    }
    *text += '\n';
    if (more) {
      help.remove_prefix(end + 1);
      *text += std::string(kHelpColumn, ' ');
    }
  }
  for (const std::string_view example : flag.examples) {
    *text += std::string(kHelpColumn + 2, ' ');
    *text += example;
    *text += '\n';
  }
}

std::string FormatLimit(LimitUnit unit, uint64_t value) {
  switch (unit) {
    case LimitUnit::kCount:
      return std::to_string(value);
    case LimitUnit::kBytes:
      return FormatSize(value);
    case LimitUnit::kMs:
      return protocol::FormatDurationMs(static_cast<int64_t>(value));
  }
  return {};
}

std::optional<uint64_t> ParseLimit(LimitUnit unit, const std::string& text) {
  switch (unit) {
    case LimitUnit::kCount:
      return ParseCount(text);
    case LimitUnit::kBytes:
      return ParseSize(text);
    case LimitUnit::kMs: {
      const auto ms = protocol::ParseDurationMs(text);
      if (!ms || *ms < 0) return std::nullopt;
      return static_cast<uint64_t>(*ms);
    }
  }
  return std::nullopt;
}

std::string_view KindOf(LimitUnit unit) {
  switch (unit) {
    case LimitUnit::kCount:
      return "a number";
    case LimitUnit::kBytes:
      return "a size";
    case LimitUnit::kMs:
      return "a time";
  }
  return {};
}

std::string_view ValueOf(LimitUnit unit) {
  switch (unit) {
    case LimitUnit::kCount:
      return "N";
    case LimitUnit::kBytes:
      return "SIZE";
    case LimitUnit::kMs:
      return "T";
  }
  return {};
}

}  // namespace

absl::StatusOr<std::vector<SaidFlag>> ReadCommandLine(std::span<const FlagSection> sections,
                                                      std::span<const std::string> arguments) {
  CLI::App line;
  line.set_help_flag();  // a flag of the table like the others
  line.allow_extras();   // for words of our own about them
  std::map<const CLI::Option*, const Flag*> flags;
  for (const FlagSection& section : sections) {
    for (const Flag& flag : section.flags) {
      const std::string name = "--" + std::string(flag.name);
      CLI::Option* option = flag.value.empty() ? line.add_flag(name) : line.add_option(name);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      flags[option] = &flag;
    }
  }
  try {
    // The library takes them from the end.
    line.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch&) {
    return Wrong("the flag " + arguments.back() + " is without its value");
  } catch (const CLI::ParseError& error) {
    return Wrong(std::string(error.what()) + "; --help lists all flags");
  }
  std::vector<SaidFlag> said;
  for (const CLI::Option* option : line.parse_order()) {
    const Flag* flag = flags.at(option);
    if (flag->alone) return std::vector<SaidFlag>{{flag, {}}};
    said.push_back({flag, option->results().back()});
  }
  if (const std::vector<std::string> others = line.remaining(); !others.empty()) {
    const std::string& first = others.front();
    if (first.starts_with('-')) return Unknown(sections, first.substr(0, first.find('=')));
    return Wrong("\"" + first + "\" is no flag; --help lists them all");
  }
  return said;
}

absl::Status TakeFlags(std::span<const FlagSection> sections, std::span<const SaidFlag> said) {
  for (const FlagSection& section : sections) {
    for (const Flag& flag : section.flags) {
      if (flag.by_default.empty()) continue;
      if (const absl::Status taken = Take(flag, flag.by_default); !taken.ok()) return taken;
    }
  }
  for (const SaidFlag& one : said) {
    if (const absl::Status taken = Take(*one.flag, one.value); !taken.ok()) return taken;
  }
  return absl::OkStatus();
}

std::string DescribeFlags(std::span<const FlagSection> sections) {
  std::string text;
  for (const FlagSection& section : sections) {
    if (!text.empty()) text += '\n';
    if (!section.title.empty()) (text += section.title) += '\n';
    for (const Flag& flag : section.flags) Describe(flag, &text);
  }
  return text;
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  uint64_t unit = 1;
  for (const SizeUnit& one : kSizeUnits) {
    if (!text.ends_with(one.letter)) continue;
    unit = one.bytes;
    text.remove_suffix(1);
    break;
  }
  const auto count = ParseCount(text);
  if (!count || *count > UINT64_MAX / unit) return std::nullopt;
  return *count * unit;
}

std::string FormatSize(uint64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (bytes > 0 && bytes % unit.bytes == 0) {
      return std::to_string(bytes / unit.bytes) + unit.letter;
    }
  }
  return std::to_string(bytes);
}

Flag FlagOf(const LimitFlag& limit, Limits* limits) {
  Flag flag;
  flag.name = limit.name;
  flag.value = ValueOf(limit.unit);
  flag.help = limit.help;
  if (limit.by_default == limits::kMemoryOfMachine) {
    flag.or_else = "two fifths of what the machine, or the daemon's control group, has";
  } else {
    flag.by_default = FormatLimit(limit.unit, limit.by_default);
  }
  const std::string example = flag.by_default.empty() ? "8G" : flag.by_default;
  flag.take = [limit, limits, example](const std::string& said) -> std::string {
    const auto value = ParseLimit(limit.unit, said);
    if (!value || *value < limit.smallest || *value > limit.largest) {
      return "it takes " + std::string(KindOf(limit.unit)) + " from " +
             FormatLimit(limit.unit, limit.smallest) + " to " +
             FormatLimit(limit.unit, limit.largest) + ", such as " + example;
    }
    limits->*limit.member = *value;
    return {};
  };
  return flag;
}

}  // namespace anteroom::app
