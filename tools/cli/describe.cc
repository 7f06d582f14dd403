#include "tools/cli/describe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/text.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

using protocol::State;

std::string DescribeWaiting(const protocol::VisitorReply& reply) {
  std::string text;
  if (reply.ahead) {
    text += *reply.ahead == 0 ? "next to be let in" : std::to_string(*reply.ahead) + " ahead";
  }
  if (reply.waiting)
    text += (text.empty() ? "" : ", ") + std::to_string(*reply.waiting) + " in line";
  if (reply.eta_ms) {
    text += ", about " + HumanDuration(*reply.eta_ms);
    if (reply.eta_low_ms && reply.eta_high_ms && *reply.eta_low_ms != *reply.eta_high_ms) {
      text += " (" + HumanRange(*reply.eta_low_ms, *reply.eta_high_ms) + ")";
    }
  }
  return text;
}

std::string DescribeInside(const protocol::VisitorReply& reply) {
  std::string text;
  if (reply.token) text += "token " + std::string(reply.token->view());
  if (reply.expires_in_ms) {
    if (!text.empty()) text += ", ";
    text += (reply.state == State::kAdmitted ? "to be claimed within " : "session ends in ") +
            HumanDuration(*reply.expires_in_ms);
  }
  if (reply.admission) {
    if (!text.empty()) text += ", ";
    text += "admission " + std::to_string(*reply.admission);
  }
  return text;
}

// A total of nothing says nothing.
void AddTotal(std::string_view name, uint64_t number, std::string* text) {
  if (number == 0) return;
  if (!text->empty()) *text += ", ";
  *text += std::to_string(number) + " " + std::string(name);
}

std::string DescribeTotals(const protocol::Counts& counts) {
  std::string text;
  AddTotal("joined", counts.joined_total, &text);
  AddTotal("admitted", counts.admitted_total, &text);
  AddTotal("claimed", counts.claimed_total, &text);
  AddTotal("completed", counts.completed_total, &text);
  AddTotal("cancelled", counts.cancelled_total, &text);
  AddTotal("no-shows", counts.no_show_total, &text);
  AddTotal("expired", counts.expired_total, &text);
  AddTotal("left", counts.left_total, &text);
  AddTotal("revoked", counts.revoked_total, &text);
  AddTotal("units sold", counts.sold_units_total.value_or(0), &text);
  AddTotal("units oversold", counts.oversold_units_total.value_or(0), &text);
  return text.empty() ? "nothing yet" : text;
}

std::string DescribeRefused(const std::vector<protocol::RefusedCount>& refused) {
  std::string text;
  for (const protocol::RefusedCount& one : refused) AddTotal(NameOf(one.error), one.count, &text);
  return text;
}

std::string Spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// The value of a field in the unit that its name ends in, and the name without it.
std::pair<std::string, std::string> DescribeField(std::string name, const Json& value) {
  const auto take_unit = [&](std::string_view unit) {
    if (!name.ends_with(unit)) return false;
    name.resize(name.size() - unit.size());
    return true;
  };
  std::string text;
  if (value.is_object()) {
    for (const auto& [reason, count] : value.items()) {
      if (!text.empty()) text += ", ";
      text += count.dump() + " " + reason;
    }
    if (text.empty()) text = "0";
  } else if (value.is_string()) {
    text = Printable(value.get<std::string>());
  } else if (value.is_boolean()) {
    text = value.get<bool>() ? "yes" : "no";
  } else if (value.is_number_unsigned() && take_unit("_ms")) {
    text = HumanDuration(value.get<uint64_t>());
  } else if (value.is_number_unsigned() && take_unit("_us")) {
    const auto us = value.get<uint64_t>();
    text = us < 10'000 ? std::to_string(us) + " µs" : HumanDuration(us / 1000);
  } else if (value.is_number_unsigned() && take_unit("_bytes")) {
    text = HumanBytes(value.get<uint64_t>());
  } else if (value.is_number_unsigned() && take_unit("_minutes")) {
    text = HumanDuration(value.get<uint64_t>() * 60'000);
  } else {
    text = value.dump();
    if (take_unit("_per_s")) text += "/s";
  }
  return {Spaced(std::move(name)), std::move(text)};
}

}  // namespace

std::string DescribeVisitor(std::string_view visitor, const protocol::VisitorReply& reply) {
  std::string text = protocol::EscapeId(visitor);
  std::string more;
  switch (reply.state) {
    case State::kWaiting:
      text += " is waiting";
      more = DescribeWaiting(reply);
      if (reply.reason)
        more += (more.empty() ? "" : "; ") + Spaced(std::string(NameOf(*reply.reason)));
      break;
    case State::kAdmitted:
    case State::kActive:
      text += " is " + std::string(NameOf(reply.state));
      more = DescribeInside(reply);
      break;
    case State::kEnded:
      text += " has ended";
      if (reply.reason) more = NameOf(*reply.reason);
      if (reply.late.value_or(false)) more += ", late";
      if (reply.admission) {
        more += (more.empty() ? "" : ", ") + ("admission " + std::to_string(*reply.admission));
      }
      break;
  }
  if (!more.empty()) text += ": " + more;
  if (reply.notice) text += "\n  notice: " + Printable(reply.notice->text);
  return text;
}

std::string DescribePresent(const protocol::Counts& counts) {
  return std::to_string(counts.waiting) + " waiting, " + std::to_string(counts.admitted) +
         " admitted, " + std::to_string(counts.active) + " active";
}

std::string DescribeRoom(const protocol::RoomReply& room) {
  std::vector<std::pair<std::string, std::string>> lines = FormatSettings(room.settings);
  lines.emplace_back("now", DescribePresent(room.counts));
  lines.emplace_back("so far", DescribeTotals(room.counts));
  const std::string refused = DescribeRefused(room.counts.refused_total);
  if (!refused.empty()) lines.emplace_back("refused", refused);
  return "room " + room.room + ", revision " + std::to_string(room.revision) + "\n" +
         Aligned(lines, 2);
}

std::string DescribeRoomInLine(const protocol::RoomReply& room) {
  const auto mode = room.settings.mode.value_or(protocol::Mode::kQueue);
  std::string text = room.room + " (" + std::string(NameOf(mode)) +
                     "): " + DescribePresent(room.counts) + "; so far " +
                     std::to_string(room.counts.joined_total) + " joined, " +
                     std::to_string(room.counts.admitted_total) + " admitted, " +
                     std::to_string(room.counts.completed_total) + " completed";
  return text;
}

std::string DescribeEvent(const protocol::RoomEvent& event) {
  std::string text = protocol::EscapeId(event.visitor);
  if (event.state == State::kEnded) {
    text += " has ended";
  } else {
    text += " is " + std::string(NameOf(event.state));
    if (event.state == State::kWaiting && event.reason) text += " again";
  }
  std::string more;
  const auto add = [&](const std::string& part) { more += (more.empty() ? ": " : ", ") + part; };
  if (event.reason) add(Spaced(std::string(NameOf(*event.reason))));
  if (event.lane) add("lane " + std::to_string(*event.lane));
  if (event.arrival) add("arrival " + std::to_string(*event.arrival));
  if (event.admission) add("admission " + std::to_string(*event.admission));
  return text + more;
}

std::string DescribeFields(const Json& object) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [name, value] : object.items()) {
    // Buckets are for programs.
    if (value.is_object() && value.contains("buckets")) continue;
    lines.push_back(DescribeField(name, value));
  }
  return Aligned(lines, 0);
}

}  // namespace anteroom::cli
