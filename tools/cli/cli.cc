#include "tools/cli/cli.h"

#include "tools/cli/context.h"
#include "tools/cli/parser.h"

namespace anteroom::cli {
namespace {

ExitStatus Run(const Parsed& parsed, Console& console) {
  if (parsed.wrong) {
    console.err << "anteroom: " << *parsed.wrong << std::endl;
    return ExitStatus::kWrongUsage;
  }
  if (parsed.answer) {
    console.out << *parsed.answer;
    return ExitStatus::kDone;
  }
  Context context(console, parsed.arguments);
  return parsed.command->run(context, parsed.arguments);
}

}  // namespace

ExitStatus RunCli(const std::vector<std::string>& words, const Environment& environment,
                  Console& console) {
  const ExitStatus status = Run(Parse(words, environment), console);
  console.out.flush();
  if (console.out) return status;
  console.err << "anteroom: the output could not be written" << std::endl;
  return status == ExitStatus::kDone ? ExitStatus::kRefused : status;
}

}  // namespace anteroom::cli
