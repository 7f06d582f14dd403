// Runs the behaviour scripts. README.md explains their language.
//
//   script_tests                   every script of tests/scripts/
//   script_tests rate 'late'       those with one of the words in "file: name"
//
// ANTEROOM_SOURCE_DIR is the repository's root, unless that is the current folder.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "protocol/duration.h"
#include "server/base/check.h"
#include "tests/scripts/runner_expect.h"
#include "tests/scripts/runner_reply.h"
#include "tests/scripts/runner_rules.h"
#include "tests/scripts/runner_script.h"
#include "tests/scripts/runner_steps.h"
#include "tests/scripts/runner_world.h"

namespace anteroom::scripts {
namespace {

class CheckFailed : public ScriptFailure {
  using ScriptFailure::ScriptFailure;
};

void ThrowCheckFailed(const char* file, int line, std::string_view message) {
  throw CheckFailed(std::string(file) + ":" + std::to_string(line) + ": " + std::string(message));
}

std::string ArgumentOf(const Words& words, size_t index) {
  if (index >= words.size()) throw ScriptFailure(words.front() + " wants more words");
  return words[index];
}

int64_t DurationOf(const Words& words) {
  const auto duration_ms = protocol::ParseDurationMs(ArgumentOf(words, 1));
  if (!duration_ms) throw ScriptFailure(words[1] + " is no duration");
  return *duration_ms;
}

// One script's run.
class Run {
 public:
  // What went wrong, if anything did.
  std::optional<std::string> Do(const Script& script) {
    int line = 0;
    std::string text;
    try {
      for (const Step& step : script.steps) {
        line = step.line;
        text = step.text;
        const size_t times = step.times();
        for (size_t n = 0; n < times; ++n) DoOne(step, step.WordsAt(n));
      }
      text = "at the end";
      world_->CheckAtEnd();
    } catch (const CheckFailed& failure) {
      // What broke its own invariant is not taken apart any more.
      [[maybe_unused]] const World* left = world_.release();
      return Describe(script, line, text, failure.what());
    } catch (const ScriptFailure& failure) {
      return Describe(script, line, text, failure.what());
    }
    return std::nullopt;
  }

 private:
  static std::string Describe(const Script& script, int line, const std::string& text,
                              const std::string& what) {
    return script.file + ":" + std::to_string(line) + ": in \"" + script.name +
           "\"\n    step: " + text + "\n" + (what.starts_with("expected:") ? "" : "    ") + what;
  }

  void DoOne(const Step& step, Words words) {
    for (std::string& word : words) word = expectations_.Resolve(word);
    if (words.front() == "told") {
      CheckTold(words);
      return;
    }
    world_->ForgetTold();
    if (DoToWorld(words)) return;
    if (words.front() == "counts") {
      // `counts ROOM ...` is `room show ROOM -> ...`.
      const Words expected(words.begin() + 2, words.end());
      expectations_.Check(expected, Ask({"room", "show", ArgumentOf(words, 1)}, world_.get())[0],
                          0);
      return;
    }
    for (const std::string& word : words) {
      if (word.starts_with("lane=")) position_rule_.OnLane();
    }
    const size_t records_before = world_->records();
    const std::vector<Reply> replies = Ask(words, world_.get());
    const size_t records = world_->records() - records_before;
    for (const Reply& reply : replies) {
      CheckShape(reply);
      if (replies.size() == 1 && words.size() >= 3) {
        position_rule_.OnReply(words[1], words[2], reply);
      }
    }
    if (step.expected.empty()) {
      for (const Reply& reply : replies) expectations_.Check({}, reply, records);
    } else if (step.expected.size() != replies.size()) {
      throw ScriptFailure(std::to_string(replies.size()) + " replies, expected " +
                          std::to_string(step.expected.size()));
    } else {
      for (size_t i = 0; i < replies.size(); ++i) {
        expectations_.Check(step.expected[i], replies[i], records);
      }
    }
    world_->WorkOff();
  }

  // Steps that are no question. False for any other.
  bool DoToWorld(const Words& words) {
    const std::string& verb = words.front();
    if (verb == "advance") {
      world_->Advance(DurationOf(words));
    } else if (verb == "stall") {
      world_->Stall(DurationOf(words));
    } else if (verb == "restart") {
      world_->Restart();
    } else if (verb == "watch") {
      world_->Watch(ArgumentOf(words, 1), ParseBytes(ArgumentOf(words, 2)));
    } else if (verb == "unwatch") {
      world_->Unwatch(ArgumentOf(words, 1), ParseBytes(ArgumentOf(words, 2)));
    } else if (verb == "log_space") {
      SetLogSpace(ArgumentOf(words, 1));
    } else {
      return false;
    }
    return true;
  }

  void SetLogSpace(const std::string& space) {
    const LogSpace value = space == "plenty"  ? LogSpace::kPlenty
                           : space == "short" ? LogSpace::kShort
                                              : LogSpace::kNone;
    if (value == LogSpace::kNone && space != "none") throw ScriptFailure("log_space " + space);
    world_->desk().SetLogSpace(value, protocol::Reason::kDiskFull);
  }

  // `told ROOM VISITOR STATE`, `told ROOM everyone`, `told nobody`: by the last step but this.
  void CheckTold(const Words& words) {
    std::string got;
    bool found = false;
    for (const World::Told& one : world_->told()) {
      got += " (" + one.room + " " + one.visitor + " " + one.what + ")";
      if (words.size() == 3 && words[2] == "everyone") {
        found = found || (one.room == words[1] && one.what == "room");
      } else if (words.size() == 4) {
        found = found || (one.room == words[1] && one.visitor == ParseBytes(words[2]) &&
                          one.what == words[3]);
      }
    }
    if (words.size() == 2 && words[1] == "nobody") found = world_->told().empty();
    if (!found) throw ScriptFailure("expected: that it was told\n     got:" + got);
  }

  std::unique_ptr<World> world_ = std::make_unique<World>();
  Expectations expectations_;
  PositionRule position_rule_;
};

bool IsWanted(const Script& script, std::span<char* const> words) {
  const std::string name = script.file + ": " + script.name;
  return words.empty() || std::any_of(words.begin(), words.end(), [&](const char* word) {
           return name.find(word) != std::string::npos;
         });
}

int RunAll(std::span<char* const> words) {
  const char* root = std::getenv("ANTEROOM_SOURCE_DIR");
  const std::filesystem::path folder =
      std::filesystem::path(root == nullptr ? "." : root) / "tests" / "scripts";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".script") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());

  int passed = 0;
  int failed = 0;
  for (const std::string& file : files) {
    std::vector<Script> scripts;
    try {
      scripts = ReadScripts(file);
    } catch (const ScriptFailure& failure) {
      std::printf("FAILED %s\n", failure.what());
      ++failed;
    }
    for (const Script& script : scripts) {
      if (!IsWanted(script, words)) continue;
      const std::optional<std::string> wrong = Run().Do(script);
      if (wrong) std::printf("FAILED %s\n", wrong->c_str());
      ++(wrong ? failed : passed);
    }
  }
  if (passed + failed == 0) ++failed;  // a run of nothing proves nothing
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace anteroom::scripts

int main(int argc, char** argv) {
  anteroom::SetCheckFailureHandler(anteroom::scripts::ThrowCheckFailed);
  return anteroom::scripts::RunAll(std::span(argv + 1, static_cast<size_t>(argc - 1)));
}
