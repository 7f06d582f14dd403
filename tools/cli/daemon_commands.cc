// The daemon itself: ping, health, stats, tokens rotate, clock advance.
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/cli/describe.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

using protocol::Operation;

// A virtual clock stops at every due moment on the way, which may be millions.
constexpr int64_t kAdvanceDeadlineMs = int64_t{3600} * 1000;

ExitStatus RunPing(Context& context, const Arguments&) {
  return context.Finish(context.client().Ping(), [&](const protocol::PingReply&) {
    return "the daemon at " + context.server() + " answers";
  });
}

template <typename Reply>
std::string Fields(const Reply& reply) {
  return DescribeFields(ToJson(reply));
}

ExitStatus RunHealth(Context& context, const Arguments&) {
  return context.Finish(context.client().Health(), Fields<protocol::HealthReply>);
}

ExitStatus RunStats(Context& context, const Arguments& arguments) {
  std::optional<std::string_view> room;
  if (!arguments.room.empty()) room = arguments.room;
  return context.Finish(context.client().Stats(room), Fields<protocol::StatsReply>);
}

ExitStatus RunRotate(Context& context, const Arguments&) {
  return context.Finish(context.client().RotateTokenKey(), [](const protocol::TokenKeyReply& key) {
    return "tokens are made with the new key " + std::to_string(key.key_id) + " from admission " +
           std::to_string(key.first_admission) +
           " on; those given before stay good until their admissions end";
  });
}

ExitStatus RunAdvance(Context& context, const Arguments& arguments) {
  const auto reply =
      context.client().ClockAdvance(*arguments.duration_ms, {.deadline_ms = kAdvanceDeadlineMs});
  return context.Finish(reply, [](const protocol::ClockReply& clock) {
    return "the clock stands at " + HumanDuration(clock.at_ms) + " (" +
           std::to_string(clock.at_ms) + " ms)";
  });
}

}  // namespace

std::vector<Command> DaemonCommands() {
  return {
      {.name = "ping",
       .summary = SummaryOf(Operation::kPing),
       .uses = {},
       .example = "anteroom ping",
       .notes = {},
       .check = nullptr,
       .run = RunPing},
      {.name = "health",
       .summary = SummaryOf(Operation::kHealth),
       .uses = {},
       .example = "anteroom --output json health",
       .notes = {},
       .check = nullptr,
       .run = RunHealth},
      {.name = "stats",
       .summary = SummaryOf(Operation::kStats),
       .uses = {{&kRoom, Need::kOptional}},
       .example = "anteroom stats concert",
       .notes = "Without a room, of all rooms together.",
       .check = nullptr,
       .run = RunStats},
      {.name = "tokens rotate",
       .summary = SummaryOf(Operation::kRotateTokenKey),
       .uses = {},
       .example = "anteroom tokens rotate",
       .notes =
           "The key is the daemon's, in the file `secrets` of its data directory; no application\n"
           "has it, and none needs to be told. Said again, it rotates again; a daemon takes\n"
           "1000 keys in its life.",
       .check = nullptr,
       .run = RunRotate},
      {.name = "clock advance",
       .summary = SummaryOf(Operation::kClockAdvance),
       .uses = {{&kDuration}},
       .example = "anteroom clock advance 5m",
       .notes = "For a daemon that was started with --virtual-clock.",
       .check = nullptr,
       .run = RunAdvance},
  };
}

}  // namespace anteroom::cli
