// The steps of a script that ask the desk something.
#ifndef ANTEROOM_TESTS_SCRIPTS_RUNNER_STEPS_H_
#define ANTEROOM_TESTS_SCRIPTS_RUNNER_STEPS_H_

#include <vector>

#include "tests/scripts/runner_reply.h"
#include "tests/scripts/runner_script.h"
#include "tests/scripts/runner_world.h"

namespace anteroom::scripts {

// One reply, of a batch one for each item. Throws ScriptFailure for a step that makes no sense.
std::vector<Reply> Ask(const Words& words, World* world);

}  // namespace anteroom::scripts

#endif  // ANTEROOM_TESTS_SCRIPTS_RUNNER_STEPS_H_
