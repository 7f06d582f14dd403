// Reads script files: what README.md calls scripts, steps, words and ranges.
#ifndef ANTEROOM_TESTS_SCRIPTS_RUNNER_SCRIPT_H_
#define ANTEROOM_TESTS_SCRIPTS_RUNNER_SCRIPT_H_

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace anteroom::scripts {

// Thrown by whatever finds that a step went wrong or cannot be understood; the runner knows which
// step it was.
class ScriptFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Words = std::vector<std::string>;

struct Step {
  int line = 0;
  std::string text;
  Words words;
  // What stands after the arrow, one list of words for each reply (they are parted by `;`).
  std::vector<Words> expected;

  // How often the step is done: the length of its ranges (`v1..v9`), 1 without one.
  size_t times() const;
  // The words with the ranges replaced by their n-th member.
  Words WordsAt(size_t n) const;
};

struct Script {
  std::string file;
  std::string name;
  std::vector<Step> steps;
};

// Throws ScriptFailure, naming file and line.
std::vector<Script> ReadScripts(const std::string& path);

// Visitor ids and keys as scripts write them: \xNN for bytes, "" for none, repeat(x,256).
std::string ParseBytes(const std::string& word);

}  // namespace anteroom::scripts

#endif  // ANTEROOM_TESTS_SCRIPTS_RUNNER_SCRIPT_H_
