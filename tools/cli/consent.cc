#include "tools/cli/consent.h"

#include "tools/cli/describe.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

using protocol::Mode;
using protocol::Rate;

// Exact: both sides of 2 × before < after, brought to one unit of time.
bool MoreThanDoubled(const Rate& before, const Rate& after) {
  if (before.none()) return false;
  if (after.none()) return true;
  return uint64_t{after.count} * before.per_ms > 2 * uint64_t{before.count} * after.per_ms;
}

std::string People(const protocol::Counts& counts) {
  return Count(counts.waiting, "person", "people") + " waiting, " +
         std::to_string(counts.occupied) + " inside";
}

}  // namespace

bool CouldHarm(const protocol::RoomSettings& said) {
  return said.rate.has_value() || said.mode == Mode::kPassthrough;
}

std::optional<Harm> HarmOfSet(const protocol::RoomReply& room, const protocol::RoomSettings& said) {
  std::string warning;
  const uint64_t waiting = room.counts.waiting;
  if (said.mode == Mode::kPassthrough && room.settings.mode != Mode::kPassthrough && waiting > 0) {
    warning = "in passthrough the rate no longer holds back the " +
              Count(waiting, "person", "people") + " waiting";
  }
  if (said.rate && MoreThanDoubled(room.settings.rate.value_or(Rate{}), *said.rate)) {
    if (!warning.empty()) warning += ", and ";
    warning += said.rate->none() ? "without a rate people come in as fast as there are slots"
                                 : "the rate is more than doubled";
  }
  if (warning.empty()) return std::nullopt;

  Harm harm{.warning = std::move(warning), .changes = {}};
  protocol::RoomSettings changed = room.settings;
  Overlay(said, &changed);
  const auto before = FormatSettings(room.settings);
  const auto after = FormatSettings(changed);
  for (const auto& [name, value] : after) {
    std::string old = "none";
    for (const auto& [old_name, old_value] : before) {
      if (old_name == name) old = old_value;
    }
    if (old != value) harm.changes.push_back({name, old, value});
  }
  harm.changes.push_back({"people", People(room.counts), "may come in at once"});
  return harm;
}

Harm HarmOfReset(const protocol::RoomReply& room) {
  return {.warning =
              "a reset sends everybody away, voids every token and lets in again whom revoke keeps "
              "out; it cannot be "
              "undone",
          .changes = {{"people", People(room.counts), "nobody"},
                      {"settings", "revision " + std::to_string(room.revision), "kept"}}};
}

Harm HarmOfDelete(const protocol::RoomReply& room) {
  return {.warning = "the room, its settings and everybody in it are gone; it cannot be undone",
          .changes = {{"room", room.room, "gone"}, {"people", People(room.counts), "nobody"}}};
}

std::string DescribeHarm(const Harm& harm) {
  std::vector<std::vector<std::string>> rows = {{"", "before", "after"}};
  for (const Harm::Change& change : harm.changes) {
    rows.push_back({change.what, change.before, change.after});
  }
  return harm.warning + "\n" + Table(rows);
}

std::optional<ExitStatus> AskToGoOn(Context& context, const Arguments& arguments) {
  if (arguments.yes) return std::nullopt;
  Console& console = context.console();
  if (!console.interactive) {
    return context.WrongUsage("nothing was changed: without a terminal to ask on it takes --yes");
  }
  console.err << "Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(console.in, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return std::nullopt;
  return context.Fail("cancelled", "nothing was changed");
}

std::optional<ExitStatus> AskConsent(Context& context, const Arguments& arguments,
                                     const Harm& harm) {
  if (arguments.yes) return std::nullopt;
  context.Note(DescribeHarm(harm));
  return AskToGoOn(context, arguments);
}

}  // namespace anteroom::cli
