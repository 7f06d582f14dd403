// What the operator does to people: admit, revoke.
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/cli/describe.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

using protocol::AdmitReply;
using protocol::Operation;
using protocol::VisitorReply;

std::string DescribeAdmitted(const AdmitReply& reply) {
  if (reply.count == 0) return "nobody was let in";
  std::vector<std::vector<std::string>> rows = {{"admission", "token", "visitor"}};
  for (const protocol::AdmittedVisitor& one : reply.admitted) {
    rows.push_back({std::to_string(one.admission), std::string(one.token.view()),
                    protocol::EscapeId(one.visitor)});
  }
  std::string text = Count(reply.count, "person", "people") + " let in";
  if (reply.admitted.size() < reply.count) {
    text += ", " + std::to_string(reply.admitted.size()) + " of them still inside";
  }
  return reply.admitted.empty() ? text : text + "\n" + Table(rows);
}

std::string_view CheckAdmit(const Arguments& arguments) {
  if (arguments.count.has_value() == arguments.visitor.has_value()) {
    return "admit takes either how many, as in `admit concert 10`, or --visitor ID";
  }
  if (arguments.key && !arguments.count) return "--key goes with a number of people";
  if (arguments.over && !arguments.visitor) return "--over goes with --visitor ID";
  return {};
}

ExitStatus RunAdmit(Context& context, const Arguments& arguments) {
  if (arguments.visitor) {
    const auto reply =
        context.client().AdmitVisitor(arguments.room, *arguments.visitor, {.over = arguments.over});
    return context.Finish(reply, [&](const VisitorReply& answer) {
      return DescribeVisitor(*arguments.visitor, answer);
    });
  }
  client::AdmitOptions options;
  if (arguments.key) options.key = *arguments.key;
  const auto count = static_cast<uint32_t>(*arguments.count);
  return context.Finish(context.client().Admit(arguments.room, count, options), DescribeAdmitted);
}

ExitStatus RunRevoke(Context& context, const Arguments& arguments) {
  const auto reply =
      context.client().Revoke(arguments.room, *arguments.visitor, {.block_ms = arguments.block_ms});
  return context.Finish(reply, [&](const VisitorReply& answer) {
    return DescribeVisitor(*arguments.visitor, answer);
  });
}

}  // namespace

std::vector<Command> AdmissionCommands() {
  return {
      {.name = "admit",
       .summary = "lets the first N, or this visitor, in now",
       .uses = {{&kRoom},
                {&kAdmitCount, Need::kOptional},
                {&kAdmitKey, Need::kOptional},
                {&kAdmitVisitor, Need::kOptional},
                {&kOver, Need::kOptional}},
       .example = "anteroom admit concert 10 --key friday-1\n"
                  "anteroom admit concert --visitor ann --over",
       .notes = "Beyond the rate, within the capacity, in every mode but closed.",
       .check = CheckAdmit,
       .run = RunAdmit},
      {.name = "revoke",
       .summary = SummaryOf(Operation::kRevoke),
       .uses = {{&kRoom}, {&kVisitor}, {&kBlock, Need::kOptional}},
       .example = "anteroom revoke concert ann --block 1h",
       .notes = {},
       .check = nullptr,
       .run = RunRevoke},
  };
}

}  // namespace anteroom::cli
