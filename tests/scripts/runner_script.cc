#include "tests/scripts/runner_script.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "protocol/text.h"

namespace anteroom::scripts {
namespace {

struct Range {
  std::string before;  // what stands before the number
  size_t first = 0;
  size_t count = 0;
};

// Cuts the digits off the end of `text`. Nothing when there are none, or too many.
std::optional<size_t> TakeNumber(std::string_view* text) {
  size_t begin = text->size();
  while (begin > 0 && (*text)[begin - 1] >= '0' && (*text)[begin - 1] <= '9') --begin;
  size_t number = 0;
  const char* end = text->data() + text->size();
  if (std::from_chars(text->data() + begin, end, number).ptr != end || begin == text->size()) {
    return std::nullopt;
  }
  *text = text->substr(0, begin);
  return number;
}

// `v1..v9`, also behind a `key=`.
std::optional<Range> ParseRange(const std::string& word) {
  const size_t dots = word.find("..");
  if (dots == std::string::npos) return std::nullopt;
  std::string_view first = std::string_view(word).substr(0, dots);
  std::string_view last = std::string_view(word).substr(dots + 2);
  const auto first_number = TakeNumber(&first);
  const auto last_number = TakeNumber(&last);
  if (!first_number || !last_number || *last_number < *first_number) return std::nullopt;
  const size_t equals = first.find('=');
  if (first.substr(equals == std::string_view::npos ? 0 : equals + 1) != last) return std::nullopt;
  return Range{std::string(first), *first_number, *last_number - *first_number + 1};
}

Words Split(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A comment begins with a # that stands at the beginning of a word.
std::string WithoutComment(const std::string& line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || line[i - 1] == ' ')) return line.substr(0, i);
  }
  return line;
}

Step ParseStep(int line, const std::string& text) {
  Step step;
  step.line = line;
  step.text = text;
  bool after_arrow = false;
  for (const std::string& word : Split(text)) {
    if (!after_arrow && word == "->") {
      after_arrow = true;
      step.expected.emplace_back();
    } else if (after_arrow && word == ";") {
      step.expected.emplace_back();
    } else {
      (after_arrow ? step.expected.back() : step.words).push_back(word);
    }
  }
  return step;
}

}  // namespace

size_t Step::times() const {
  size_t times = 1;
  for (const std::string& word : words) {
    const auto range = ParseRange(word);
    if (!range) continue;
    if (times != 1 && range->count != times) throw ScriptFailure("ranges of different length");
    times = range->count;
  }
  return times;
}

Words Step::WordsAt(size_t n) const {
  Words result = words;
  for (std::string& word : result) {
    if (const auto range = ParseRange(word))
      word = range->before + std::to_string(range->first + n);
  }
  return result;
}

std::vector<Script> ReadScripts(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ScriptFailure(path + ": cannot be read");
  std::vector<Script> scripts;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string text = WithoutComment(line);
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    const size_t end = text.find_last_not_of(' ') + 1;
    const std::string trimmed = text.substr(begin, end - begin);
    const std::string place = path + ":" + std::to_string(number) + ": ";
    if (trimmed.starts_with("script ")) {
      const std::string name = trimmed.substr(7);
      const bool twice = std::any_of(scripts.begin(), scripts.end(),
                                     [&](const Script& other) { return other.name == name; });
      if (twice) throw ScriptFailure(place + "a second script of this name");
      scripts.push_back({path, name, {}});
    } else if (scripts.empty()) {
      throw ScriptFailure(place + "a step before the first `script`");
    } else {
      scripts.back().steps.push_back(ParseStep(number, trimmed));
    }
  }
  return scripts;
}

std::string ParseBytes(const std::string& word) {
  if (word == "\"\"") return "";
  if (word.starts_with("repeat(") && word.ends_with(")")) {
    const size_t comma = word.find(',');
    if (comma == std::string::npos) throw ScriptFailure(word + " wants a number");
    const std::string part = word.substr(7, comma - 7);
    std::string text;
    for (int left = std::stoi(word.substr(comma + 1)); left > 0; --left) text += part;
    return text;
  }
  std::string bytes;
  if (!protocol::UnescapeId(word, &bytes)) throw ScriptFailure(word + " has a wrong escape");
  return bytes;
}

}  // namespace anteroom::scripts
