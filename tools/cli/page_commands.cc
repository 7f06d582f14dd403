// Who is where: peek into the line, and who is inside. Pages of the wire are put together here.
#include <algorithm>
#include <limits>

#include "protocol/limits.h"
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/cli/describe.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

using protocol::Operation;
using protocol::PageReply;
using protocol::VisitorEntry;

// The room's name is not repeated; a visitor's id comes last because it may be long.
std::vector<std::string> PeekRow(const VisitorEntry& entry) {
  return {entry.reply.ahead ? std::to_string(*entry.reply.ahead) : "-", std::to_string(entry.lane),
          protocol::EscapeId(entry.visitor)};
}

std::vector<std::string> InsideRow(const VisitorEntry& entry) {
  return {entry.reply.admission ? std::to_string(*entry.reply.admission) : "-",
          std::string(NameOf(entry.reply.state)),
          entry.reply.expires_in_ms ? HumanDuration(*entry.reply.expires_in_ms) : "-",
          protocol::EscapeId(entry.visitor)};
}

struct Listing {
  absl::StatusOr<PageReply> (client::Client::*page)(std::string_view, uint64_t, uint32_t,
                                                    const client::CallOptions&);
  std::vector<std::string> header;
  std::vector<std::string> (*row)(const VisitorEntry&);
  std::string_view nobody;
};

ExitStatus RunListing(Context& context, const Arguments& arguments, const Listing& listing) {
  uint64_t from = arguments.from.value_or(0);
  uint64_t left = arguments.count.value_or(std::numeric_limits<uint64_t>::max());
  bool anybody = false;
  bool more = left > 0;
  while (more) {
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(left, protocol::kPageItemsMax));
    const auto page = (context.client().*listing.page)(arguments.room, from, count, {});
    if (!page.ok()) return context.Fail(page.status());
    // Each page is aligned by itself, so that a long line shows at once and needs no memory.
    std::vector<std::vector<std::string>> rows;
    if (!anybody) rows.push_back(listing.header);
    for (const VisitorEntry& entry : page->items) {
      anybody = true;
      if (context.json()) {
        context.PrintJson(ToJson(entry));
      } else {
        rows.push_back(listing.row(entry));
      }
    }
    if (!context.json() && anybody) context.PrintText(Table(rows));
    left -= std::min<uint64_t>(left, page->items.size());
    more = page->next.has_value() && left > 0 && !page->items.empty();
    if (more) from = *page->next;
  }
  if (!anybody && !context.json()) context.PrintText(listing.nobody);
  return ExitStatus::kDone;
}

ExitStatus RunPeek(Context& context, const Arguments& arguments) {
  return RunListing(context, arguments,
                    {&client::Client::Peek,
                     {"ahead", "lane", "visitor"},
                     PeekRow,
                     "nobody waits at these places"});
}

ExitStatus RunInside(Context& context, const Arguments& arguments) {
  return RunListing(context, arguments,
                    {&client::Client::Inside,
                     {"admission", "state", "ends in", "visitor"},
                     InsideRow,
                     "nobody is inside"});
}

}  // namespace

std::vector<Command> PageCommands() {
  return {
      {.name = "peek",
       .summary = SummaryOf(Operation::kPeek),
       .uses = {{&kRoom}, {&kPeekFrom, Need::kOptional}, {&kPageCount, Need::kOptional}},
       .example = "anteroom peek concert 0 20",
       .notes = "Counts from 0, as `ahead` does. The line may move between two pages of 1000.",
       .check = nullptr,
       .run = RunPeek},
      {.name = "inside",
       .summary = SummaryOf(Operation::kInside),
       .uses = {{&kRoom}, {&kInsideFrom, Need::kOptional}, {&kPageCount, Need::kOptional}},
       .example = "anteroom inside concert",
       .notes = "In the order of admission.",
       .check = nullptr,
       .run = RunInside},
  };
}

}  // namespace anteroom::cli
