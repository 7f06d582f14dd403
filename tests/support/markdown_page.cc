#include "tests/support/markdown_page.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace anteroom {
namespace {

std::string Trimmed(std::string_view cell) {
  std::string text;
  for (const char c : cell) {
    if (c != '`') text += c;
  }
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Of a line `| a | b |`.
TableRow CellsOf(std::string_view line) {
  TableRow cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const size_t bar = std::min(line.find('|'), line.size());
    cells.push_back(Trimmed(line.substr(0, bar)));
    line.remove_prefix(std::min(bar + 1, line.size()));
  }
  return cells;
}

}  // namespace

MarkdownPage ReadMarkdownPage(std::string_view path) {
  const char* directory = std::getenv("ANTEROOM_SOURCE_DIR");
  std::ifstream file(std::string(directory != nullptr ? directory : ".") + "/" + std::string(path));
  MarkdownPage page;
  std::string heading;
  std::string line;
  size_t table_line = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("```")) {
      const std::string name = line.substr(3);
      std::string block;
      while (std::getline(file, line) && line != "```") block += line + "\n";
      page.blocks.emplace(name, block);
      continue;
    }
    if (line.starts_with("#")) heading = Trimmed(line.substr(line.find_first_not_of('#')));
    // The first two lines of a table are the names of its columns and a rule.
    table_line = line.starts_with("|") ? table_line + 1 : 0;
    if (table_line > 2) page.tables[heading].push_back(CellsOf(line));
  }
  return page;
}

}  // namespace anteroom
