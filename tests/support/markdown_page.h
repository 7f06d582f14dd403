// A Markdown page taken apart: the tables under each heading and the blocks of code.
#ifndef ANTEROOM_TESTS_SUPPORT_MARKDOWN_PAGE_H_
#define ANTEROOM_TESTS_SUPPORT_MARKDOWN_PAGE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anteroom {

// Cells without the spaces around them and without backquotes.
using TableRow = std::vector<std::string>;

struct MarkdownPage {
  // By heading; the rows of all tables up to the next heading, without those of names and rules.
  std::map<std::string, std::vector<TableRow>, std::less<>> tables;
  // What stands behind the opening fence, and the lines of the block; a name that comes twice is
  // kept twice.
  std::multimap<std::string, std::string, std::less<>> blocks;
};

// `path` is relative to the source directory: ANTEROOM_SOURCE_DIR, or the working directory. An
// empty page when there is no such file.
MarkdownPage ReadMarkdownPage(std::string_view path);

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_MARKDOWN_PAGE_H_
