// What people read: durations, tables, replies in words, and nothing that steers a terminal.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "tests/support/seed.h"
#include "tools/cli/describe.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

TEST_CASE("cli text: durations") {
  CHECK(HumanDuration(0) == "0 s");
  CHECK(HumanDuration(450) == "450 ms");
  CHECK(HumanDuration(999) == "999 ms");
  CHECK(HumanDuration(1000) == "1 s");
  CHECK(HumanDuration(1499) == "1 s");
  CHECK(HumanDuration(45'400) == "45 s");
  CHECK(HumanDuration(59'600) == "1 min");
  CHECK(HumanDuration(60'000) == "1 min");
  CHECK(HumanDuration(150'000) == "2 min 30 s");
  CHECK(HumanDuration(59 * 60'000 + 59'900) == "1 h");
  CHECK(HumanDuration(80 * 60'000) == "1 h 20 min");
  CHECK(HumanDuration(26 * 3'600'000) == "1 d 2 h");
  CHECK(HumanDuration(400ull * 86'400'000) == "400 d");
}

TEST_CASE("cli text: ranges") {
  CHECK(HumanRange(60'000, 180'000) == "1–3 min");
  CHECK(HumanRange(40'000, 120'000) == "40 s – 2 min");
  CHECK(HumanRange(5'100, 5'300) == "5 s");
  CHECK(HumanRange(0, 3'000) == "0–3 s");
}

TEST_CASE("cli text: sizes and counts") {
  CHECK(HumanBytes(1) == "1 byte");
  CHECK(HumanBytes(310) == "310 bytes");
  CHECK(HumanBytes(64 << 20) == "64.0 MiB");
  CHECK(HumanBytes(1536) == "1.5 KiB");
  CHECK(Count(1, "person", "people") == "1 person");
  CHECK(Count(0, "person", "people") == "0 people");
}

TEST_CASE("cli text: tables count characters, not bytes") {
  CHECK(Table({{"é", "x"}, {"ab", "y"}}) == "é   x\nab  y");
  CHECK(Aligned({{"a", "1"}, {"bcd", "2"}}, 2) == "  a    1\n  bcd  2");
}

TEST_CASE("cli text: a visitor in words") {
  protocol::VisitorReply reply;
  reply.state = protocol::State::kWaiting;
  reply.ahead = 41;
  reply.position = 42;
  reply.waiting = 120;
  reply.eta_ms = 120'000;
  reply.eta_low_ms = 60'000;
  reply.eta_high_ms = 180'000;
  CHECK(DescribeVisitor("alice", reply) ==
        "alice is waiting: 41 ahead, 120 in line, about 2 min (1–3 min)");
  reply.ahead = 0;
  reply.eta_ms = reply.eta_low_ms = reply.eta_high_ms = std::nullopt;
  reply.reason = protocol::Reason::kSoldOut;
  CHECK(DescribeVisitor("alice", reply) ==
        "alice is waiting: next to be let in, 120 in line; sold out");

  reply = {};
  reply.state = protocol::State::kAdmitted;
  reply.token.emplace().chars.fill('t');
  reply.expires_in_ms = 300'000;
  reply.admission = 7;
  CHECK(DescribeVisitor("bob", reply) ==
        "bob is admitted: token tttttttttttttttttttttt, to be claimed within 5 min, admission 7");
  reply.state = protocol::State::kActive;
  CHECK(DescribeVisitor("bob", reply) ==
        "bob is active: token tttttttttttttttttttttt, session ends in 5 min, admission 7");

  reply = {};
  reply.state = protocol::State::kEnded;
  reply.reason = protocol::Reason::kCompleted;
  reply.late = true;
  CHECK(DescribeVisitor("\x1b[31m", reply) == "\\x1b[31m has ended: completed, late");
}

TEST_CASE("cli text: an event of a room in words") {
  using protocol::Reason;
  using protocol::State;
  CHECK(DescribeEvent({"\x1b[31m", State::kWaiting, {}, 12, 128, {}, 0}) ==
        "\\x1b[31m is waiting: lane 128, arrival 12");
  CHECK(DescribeEvent({"ann", State::kWaiting, Reason::kNoShow, 13, 0, {}, 0}) ==
        "ann is waiting again: no show, lane 0, arrival 13");
  CHECK(DescribeEvent({"ann", State::kActive, {}, {}, {}, 7, 0}) == "ann is active: admission 7");
  CHECK(DescribeEvent({"ann", State::kEnded, Reason::kLeft, {}, {}, {}, 0}) ==
        "ann has ended: left");
  CHECK(DescribeEvent({"ann", State::kEnded, Reason::kExpired, {}, {}, 7, 0}) ==
        "ann has ended: expired, admission 7");
}

TEST_CASE("cli text: fields in the unit of their name") {
  const Json health = {
      {"version", "0.1.0"},      {"virtual_clock", true}, {"uptime_ms", 150'000u},
      {"log_bytes", 1536u},      {"sync_p50_us", 480u},   {"connections", 3u},
      {"reserved_minutes", 80u}, {"joins_per_s", 12.5},   {"refused_total", {{"line_full", 2}}}};
  CHECK(DescribeFields(health) ==
        "version        0.1.0\n"
        "virtual clock  yes\n"
        "uptime         2 min 30 s\n"
        "log            1.5 KiB\n"
        "sync p50       480 µs\n"
        "connections    3\n"
        "reserved       1 h 20 min\n"
        "joins          12.5/s\n"
        "refused total  2 line_full");
}

TEST_CASE("cli text: nothing of a peer's steers the terminal") {
  CHECK(Printable("a\\b") == "a\\b");
  CHECK(Printable("a\x1b[2Jb") == "a\\x1b[2Jb");
  CHECK(Printable("žluťoučký") == "žluťoučký");
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 20; ++i) bytes += static_cast<char>(random());
    for (const char c : Printable(bytes)) {
      const auto byte = static_cast<unsigned char>(c);
      REQUIRE((byte >= 0x20 && byte != 0x7f));
    }
  }
}

}  // namespace
}  // namespace anteroom::cli
