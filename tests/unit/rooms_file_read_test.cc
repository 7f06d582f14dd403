// What a file of rooms says, and what is said when it is wrong.
#include "tools/rooms_file/read.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/rooms_file/limits.h"

namespace anteroom::tools {
namespace {

std::string Settings(const protocol::RoomSettings& settings) {
  std::string text;
  for (const auto& [name, value] : FormatSettings(settings)) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text;
}

std::string Rooms(std::string_view file) {
  const RoomsFile read = ReadRoomsFile(file);
  std::string text;
  for (const FileProblem& problem : read.problems) text += "wrong: " + problem.text + "\n";
  for (const FileRoom& room : read.rooms) text += room.name + ": " + Settings(room.said) + "\n";
  return text;
}

std::string Problems(std::string_view file) {
  std::string text;
  for (const FileProblem& problem : ReadRoomsFile(file).problems) {
    text += std::to_string(problem.line) + ": " + problem.text + "\n";
  }
  return text;
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("rooms file: rooms by name, text and numbers, the defaults under each") {
  CHECK(Rooms("[rooms.sale]\n"
              "rate = \"50/s\"\n"
              "capacity = 500\n"
              "requeue_max = 3\n"
              "\n"
              "[rooms.\"concert.vip\"]  # a dot takes quotes\n"
              "rate = 'none'\n"
              "claim_ttl = \"90s\"\n"
              "\n"
              "[defaults]\n"
              "claim_ttl = \"2m\"\n"
              "max_waiting = 1_000\n") ==
        "concert.vip: rate=none claim_ttl=90s max_waiting=1000\n"
        "sale: rate=50/s capacity=500 claim_ttl=2m requeue_max=3 max_waiting=1000\n");
}

TEST_CASE("rooms file: other ways to write the same") {
  const std::string sale = "sale: rate=50/s\n";
  CHECK(Rooms("rooms.sale.rate = \"50/s\"") == sale);
  CHECK(Rooms("rooms = { sale = { rate = \"50/s\" } }") == sale);
  CHECK(Rooms("[rooms]\nsale = { rate = \"50/s\" }") == sale);
  CHECK(Rooms("\xef\xbb\xbf[rooms.'sale']\r\n\"rate\" = \"5\\u0030/s\"\r\n") == sale);
}

TEST_CASE("rooms file: rate or capacity may come from the defaults") {
  CHECK(Rooms("[defaults]\nrate = \"none\"\n[rooms.sale]\n") == "sale: rate=none\n");
}

TEST_CASE("rooms file: no rooms are said to be none") {
  CHECK(Rooms("[rooms]\n").empty());
  CHECK(Contains(Problems(""), "1: there is no table [rooms.NAME]"));
  CHECK(Contains(Problems("[defaults]\nrate = \"5/s\"\n"), "there is no table [rooms.NAME]"));
}

TEST_CASE("rooms file: everything wrong is said at once, with its line") {
  CHECK(Problems("[defaults]\n"
                 "clame_ttl = \"5m\"\n"
                 "[rooms.sale]\n"
                 "rte = \"50/s\"\n"
                 "capacity = \"many\"\n"
                 "waiting_ttl = true\n"
                 "[rooms.Sale]\n"
                 "rate = \"5/s\"\n"
                 "[rooms.bare]\n"
                 "session_ttl = \"5m\"\n"
                 "[room.other]\n"
                 "rate = \"5/s\"\n") ==
        "2: there is no setting \"clame_ttl\", did you mean claim_ttl?\n"
        "4: there is no setting \"rte\", did you mean rate?\n"
        "5: capacity is \"many\", it takes a whole number like 100, or none\n"
        "6: waiting_ttl is true or false, it takes text as in rate = \"50/s\", or a whole number\n"
        "7: a room's name is 1 to 64 of a-z 0-9 . _ -, not \"Sale\"\n"
        "9: room \"bare\" says neither rate nor capacity nor stock: it takes at least one of them, "
        "if "
        "only as \"none\"\n"
        "11: there is no table \"room\", did you mean rooms?\n");
}

TEST_CASE("rooms file: a stock alone is enough, and is a number of units, not a change") {
  CHECK(Problems("[rooms.sale]\nstock = 200\n").empty());
  CHECK(Problems("[rooms.sale]\nstock = \"+4\"\nrate = \"5/s\"\nclaim_ttl = \"5m\"\n") ==
        "2: stock is +4: a file says how many there are, not a change\n");
}

TEST_CASE("rooms file: a number where a unit is wanted") {
  CHECK(Contains(Problems("[rooms.sale]\nrate = 50\n"), "2: rate is \"50\", it takes admissions"));
  CHECK(
      Contains(Problems("[rooms.sale]\nrate = \"5/s\"\nclaim_ttl = 5\n"), "3: claim_ttl is \"5\""));
  CHECK(Contains(Problems("[rooms.sale]\ncapacity = -1\n"), "2: capacity is \"-1\""));
  CHECK(Contains(Problems("[rooms.sale]\ncapacity = 1.5\n"), "a number with a point"));
  CHECK(Contains(Problems("[rooms.sale]\ncapacity = [1]\n"), "an array"));
  CHECK(Contains(Problems("[rooms.sale]\nrate = 2026-11-30T10:00:00Z\n"), "a date or a time"));
}

TEST_CASE("rooms file: a name with a dot and no quotes") {
  CHECK(Problems("[rooms.concert.vip]\nrate = \"5/s\"\n") ==
        "1: there is no setting \"vip\"; a room whose name has a dot stands in quotes: "
        "[rooms.\"concert.vip\"]\n");
  CHECK(Contains(Problems("[rooms.a.b.c]\nrate = \"5/s\"\n"), "[rooms.\"a.b.c\"]"));
  CHECK(Contains(Problems("[rooms.a.b.c]\n"), "[rooms.\"a.b.c\"]"));
  CHECK(
      Contains(Problems("[rooms.a.b.c.d.e.f.g.h.i.j.k.l.m]\n"), "[rooms.\"a.b.c.d.e.f.g.h.i.j..."));
}

TEST_CASE("rooms file: settings and tables in a wrong place") {
  CHECK(Contains(Problems("rate = \"5/s\"\n[rooms]\n"), "1: rate stands in no table"));
  CHECK(Contains(Problems("[rooms]\nrate = \"5/s\"\n"), "2: rate is a setting of no room"));
  CHECK(Contains(Problems("[rooms]\nsale = 5\n"), "2: room \"sale\" takes a table"));
  CHECK(Contains(Problems("rooms = 5\n"), "1: rooms is "));
  CHECK(Contains(Problems("[[rooms]]\nrate = \"5/s\"\n"), "1: rooms is an array"));
  CHECK(Contains(Problems("defaults = \"x\"\n[rooms]\n"), "1: defaults is "));
  CHECK(Contains(Problems("[defaults.sale]\nrate = \"5/s\"\n[rooms]\n"),
                 "1: there is no setting \"sale\""));
}

TEST_CASE("rooms file: what is no TOML") {
  CHECK(Problems("[rooms.sale]\nrate = \"5/s\"\nrate = \"6/s\"\n").starts_with("3: "));
  CHECK(Problems("[rooms.sale]\nrate = 50/s\n").starts_with("2: "));
  CHECK(Problems("[rooms.sale]\nrate = \"5/s\"\n[rooms.sale]\n").starts_with("3: "));
  CHECK(Problems("[rooms.\xff]\n").starts_with("1: "));
}

TEST_CASE("rooms file: keys and values nested without end are refused") {
  std::string keys = "[";
  for (int i = 0; i < 1'000'000; ++i) keys += "a.";
  CHECK(Contains(Problems("[rooms]\n" + keys + "a]\n"), "2: the line has more than 4096 bytes"));
  CHECK(Problems("a = " + std::string(4000, '[')).starts_with("1: "));
  const std::string deep = "a." + keys.substr(1, 3900) + "a";
  CHECK_FALSE(Problems("[rooms." + deep + "]\n" + deep + " = 1\n").empty());
  const std::string longest = "[rooms]\n#" + std::string(kRoomsFileLineBytesMax - 1, ' ');
  CHECK(Problems(longest).empty());
  CHECK_FALSE(Problems(longest + " ").empty());
}

}  // namespace
}  // namespace anteroom::tools
