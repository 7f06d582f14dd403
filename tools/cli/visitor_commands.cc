// What is asked about one visitor: join, enter, status, leave, verify, claim, touch, finish.
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/cli/describe.h"

namespace anteroom::cli {
namespace {

using protocol::Operation;
using protocol::VisitorReply;

ExitStatus Answer(Context& context, const Arguments& arguments,
                  const absl::StatusOr<VisitorReply>& reply) {
  return context.Finish(reply, [&](const VisitorReply& answer) {
    return DescribeVisitor(*arguments.visitor, answer);
  });
}

// Any operation that names a room and a visitor, and answers about the visitor.
template <Operation kOperation>
ExitStatus AskAboutVisitor(Context& context, const Arguments& arguments) {
  typename protocol::RequestOf<kOperation>::Message request;
  request.room = arguments.room;
  request.visitor = *arguments.visitor;
  if constexpr (requires { request.lane; }) request.lane = arguments.lane;
  if constexpr (requires { request.token; }) {
    if (arguments.token) request.token = *arguments.token;
  }
  if constexpr (requires { request.outcome; }) request.outcome = arguments.outcome;
  if constexpr (requires { request.units; }) request.units = arguments.units;
  return Answer(context, arguments, context.client().Call<kOperation>(request));
}

template <Operation kOperation>
Command CommandFor(std::string_view name, std::vector<Use> more, std::string_view example,
                   std::string_view notes = {}) {
  std::vector<Use> uses = {{&kRoom}, {&kVisitor}};
  uses.insert(uses.end(), more.begin(), more.end());
  return {.name = name,
          .summary = SummaryOf(kOperation),
          .uses = std::move(uses),
          .example = example,
          .notes = notes,
          .check = nullptr,
          .run = AskAboutVisitor<kOperation>};
}

}  // namespace

std::vector<Command> VisitorCommands() {
  return {
      CommandFor<Operation::kJoin>(
          "join", {{&kLane, Need::kOptional}}, "anteroom join concert ann",
          "Joining again never moves anyone back: it tells the place, or the token, that is held."),
      CommandFor<Operation::kEnter>("enter", {{&kLane, Need::kOptional}},
                                    "anteroom enter concert ann"),
      CommandFor<Operation::kStatus>("status", {}, "anteroom status concert ann"),
      CommandFor<Operation::kLeave>("leave", {}, "anteroom leave concert ann"),
      CommandFor<Operation::kVerify>("verify", {{&kToken}},
                                     "anteroom verify concert ann hJ0aVbq2Zc5mKx9T1wR7Lg"),
      CommandFor<Operation::kClaim>("claim", {{&kToken}},
                                    "anteroom claim concert ann hJ0aVbq2Zc5mKx9T1wR7Lg"),
      CommandFor<Operation::kTouch>("touch", {{&kToken}},
                                    "anteroom touch concert ann hJ0aVbq2Zc5mKx9T1wR7Lg"),
      CommandFor<Operation::kFinish>(
          "finish",
          {{&kToken, Need::kOptional},
           {&kCompleted, Need::kOptional},
           {&kCancelled, Need::kOptional},
           {&kUnits, Need::kOptional}},
          "anteroom finish concert ann hJ0aVbq2Zc5mKx9T1wR7Lg --completed --units 2",
          "A repeat gets the first outcome."),
  };
}

}  // namespace anteroom::cli
