// Compares a reply with what a script expects of it, and keeps the names that the script gives to
// tokens and other values.
#ifndef ANTEROOM_TESTS_SCRIPTS_RUNNER_EXPECT_H_
#define ANTEROOM_TESTS_SCRIPTS_RUNNER_EXPECT_H_

#include <map>
#include <string>
#include <string_view>

#include "tests/scripts/runner_reply.h"
#include "tests/scripts/runner_script.h"

namespace anteroom::scripts {

// Invariant: no two names of tokens stand for the same token.
class Expectations {
 public:
  // Throws ScriptFailure when the reply is not as expected. `records`: written by the step.
  void Check(const Words& expected, const Reply& reply, size_t records);

  // The value of a name, `$name` or `token(NAME)`; any other word is itself.
  std::string Resolve(const std::string& word) const;

 private:
  std::string Lookup(const std::string& name) const;
  // Empty when the field is as the word says.
  std::string CheckField(std::string_view field, std::string_view operation,
                         const std::string& value, const Reply& reply);
  std::string Bind(const std::string& field, const std::string& name, const Reply& reply);

  std::map<std::string, std::string> values_;
  std::map<std::string, std::string> token_names_;  // name by token
};

}  // namespace anteroom::scripts

#endif  // ANTEROOM_TESTS_SCRIPTS_RUNNER_EXPECT_H_
