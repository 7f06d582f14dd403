// JSON as the design names it.
#include "tools/cli/json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace anteroom::cli {
namespace {

TEST_CASE("cli json: a reply about a visitor has what applies and nothing else") {
  protocol::VisitorReply reply;
  reply.state = protocol::State::kWaiting;
  reply.ahead = 0;
  reply.position = 1;
  reply.reason = protocol::Reason::kPaused;
  CHECK(OneLine(ToJson(reply)) ==
        R"({"state":"waiting","position":1,"ahead":0,"reason":"paused"})");

  reply = {};
  reply.state = protocol::State::kActive;
  reply.token.emplace().chars.fill('A');
  reply.late = false;
  CHECK(OneLine(ToJson(reply)) ==
        R"({"state":"active","token":"AAAAAAAAAAAAAAAAAAAAAA","late":false})");
}

TEST_CASE("cli json: an entry stands flat beside its visitor, ids are escaped") {
  protocol::VisitorEntry entry;
  entry.visitor = "a\xff\\";
  entry.lane = 7;
  entry.reply.ahead = 3;
  CHECK(OneLine(ToJson(entry)) ==
        R"({"visitor":"a\\xff\\\\","lane":7,"state":"waiting","ahead":3})");
}

TEST_CASE("cli json: a room's settings as they are typed, its counts, refusals by reason") {
  protocol::RoomReply room;
  room.room = "concert";
  room.revision = 2;
  room.settings = protocol::DefaultSettings();
  room.settings.rate = protocol::Rate{50, 1000};
  room.counts.waiting = 9;
  room.counts.refused_total = {{protocol::ErrorCode::kLineFull, 4}};
  const Json object = ToJson(room);
  CHECK(object["room"] == "concert");
  CHECK(object["revision"] == 2);
  CHECK(object["rate"] == "50/s");
  CHECK(object["claim_ttl"] == "5m");
  CHECK(object["waiting_ttl"] == "none");
  CHECK_FALSE(object.contains("capacity"));
  CHECK(object["waiting"] == 9);
  CHECK(object["no_show_total"] == 0);
  CHECK(object["refused_total"] == Json{{"line_full", 4}});
  CHECK_FALSE(object.contains("settings"));
  CHECK_FALSE(object.contains("counts"));
  // An object by reason also when there is none.
  CHECK(ToJson(protocol::RoomReply())["refused_total"].is_object());
}

TEST_CASE("cli json: refusals") {
  protocol::Refusal refusal = protocol::Refuse(protocol::ErrorCode::kLineFull, "the line is full");
  CHECK(OneLine(ToJson(refusal)) ==
        R"({"error":"line_full","message":"the line is full","retry":true})");
  refusal.retry_after_ms = 250;
  refusal.reason = protocol::Reason::kDiskFull;
  CHECK(OneLine(ToJson(refusal)) ==
        R"({"error":"line_full","message":"the line is full","retry":true,)"
        R"("retry_after_ms":250,"reason":"disk_full"})");
}

TEST_CASE("cli json: admissions are a list, thousandths a decimal number") {
  protocol::AdmitReply admit;
  admit.count = 1;
  admit.first_admission = 5;
  admit.admitted.push_back({.visitor = "ann", .admission = 5, .token = {}});
  std::fill(admit.admitted[0].token.chars.begin(), admit.admitted[0].token.chars.end(), 'b');
  CHECK(OneLine(ToJson(admit)) ==
        R"({"count":1,"first_admission":5,"admitted":[{"visitor":"ann","admission":5,)"
        R"("token":"bbbbbbbbbbbbbbbbbbbbbb"}]})");
  CHECK(OneLine(ToJson(protocol::AdmitReply())) == R"({"count":0,"admitted":[]})");

  protocol::StatsReply stats;
  stats.joins_per_s_milli = 12'500;
  CHECK(ToJson(stats)["joins_per_s"] == 12.5);
  CHECK_FALSE(ToJson(stats).contains("room"));
}

TEST_CASE("cli json: bytes that are no UTF-8 never break a line") {
  protocol::Refusal refusal = protocol::Refuse(protocol::ErrorCode::kInvalid, "odd \xff\x1b\n");
  const std::string line = OneLine(ToJson(refusal));
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find('\x1b') == std::string::npos);
  CHECK(Json::accept(line));
}

}  // namespace
}  // namespace anteroom::cli
