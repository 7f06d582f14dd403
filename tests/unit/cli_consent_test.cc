// What can do great harm shows before and after and asks.
#include "tools/cli/consent.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace anteroom::cli {
namespace {

protocol::RoomReply Room(std::string_view rate, uint64_t waiting) {
  protocol::RoomReply room;
  room.room = "concert";
  room.revision = 4;
  room.settings = protocol::DefaultSettings();
  CHECK(protocol::ParseSetting("rate", rate, &room.settings).empty());
  room.counts.waiting = waiting;
  return room;
}

protocol::RoomSettings Said(std::string_view name, std::string_view value) {
  protocol::RoomSettings settings;
  CHECK(protocol::ParseSetting(name, value, &settings).empty());
  return settings;
}

bool Harmful(std::string_view before, std::string_view after) {
  const protocol::RoomSettings said = Said("rate", after);
  return CouldHarm(said) && HarmOfSet(Room(before, 0), said).has_value();
}

TEST_CASE("cli consent: a rate more than doubled, in whatever unit") {
  CHECK_FALSE(Harmful("50/s", "100/s"));
  CHECK(Harmful("50/s", "101/s"));
  CHECK_FALSE(Harmful("50/s", "6000/m"));
  CHECK(Harmful("50/s", "6001/m"));
  CHECK_FALSE(Harmful("60/h", "2/m"));
  CHECK(Harmful("60/h", "3/m"));
  CHECK(Harmful("50/s", "none"));
  CHECK(Harmful("0/s", "1/s"));
  CHECK_FALSE(Harmful("none", "50/s"));
  CHECK_FALSE(Harmful("none", "none"));
  CHECK_FALSE(Harmful("100/s", "1/s"));
  CHECK(Harmful("1000000/h", "1000000/s"));
}

TEST_CASE("cli consent: passthrough with people waiting") {
  const protocol::RoomSettings said = Said("mode", "passthrough");
  CHECK(CouldHarm(said));
  CHECK(HarmOfSet(Room("50/s", 1), said).has_value());
  CHECK_FALSE(HarmOfSet(Room("50/s", 0), said).has_value());
  protocol::RoomReply room = Room("50/s", 1);
  room.settings.mode = protocol::Mode::kPassthrough;
  CHECK_FALSE(HarmOfSet(room, said).has_value());
}

TEST_CASE("cli consent: other settings are harmless") {
  for (const char* mode : {"queue", "paused", "closed"}) {
    CHECK_FALSE(HarmOfSet(Room("50/s", 9), Said("mode", mode)).has_value());
  }
  CHECK_FALSE(CouldHarm(Said("capacity", "none")));
}

TEST_CASE("cli consent: before and after are shown") {
  const std::string shown = DescribeHarm(*HarmOfSet(Room("50/s", 12), Said("rate", "200/s")));
  CHECK(shown.find("before") < shown.find("after"));
  CHECK(shown.find("50/s") < shown.find("200/s"));
  CHECK(shown.find("200/s") != std::string::npos);
  CHECK(shown.find("12 people waiting") != std::string::npos);
  CHECK(DescribeHarm(HarmOfReset(Room("50/s", 12))).find("12 people") != std::string::npos);
  CHECK(DescribeHarm(HarmOfDelete(Room("50/s", 12))).find("12 people") != std::string::npos);
}

struct Outcome {
  std::optional<ExitStatus> stopped;
  std::string err;
};

Outcome Ask(const std::string& answer, bool interactive, bool yes) {
  std::istringstream in(answer);
  std::ostringstream out;
  std::ostringstream err;
  Console console{.in = in, .out = out, .err = err, .interactive = interactive};
  Arguments arguments;
  arguments.yes = yes;
  Context context(console, arguments);
  Outcome outcome;
  outcome.stopped = AskConsent(context, arguments, HarmOfReset(Room("50/s", 3)));
  outcome.err = err.str();
  return outcome;
}

TEST_CASE("cli consent: who is asked, and what an answer means") {
  CHECK(Ask("", false, true).stopped == std::nullopt);
  CHECK(Ask("", false, true).err.empty());
  CHECK(Ask("y\n", true, false).stopped == std::nullopt);
  CHECK(Ask("n\n", true, false).stopped == ExitStatus::kRefused);
  CHECK(Ask("\n", true, false).stopped == ExitStatus::kRefused);
  CHECK(Ask("", true, false).stopped == ExitStatus::kRefused);
  const Outcome nobody = Ask("y\n", false, false);
  CHECK(nobody.stopped == ExitStatus::kWrongUsage);
  CHECK(nobody.err.find("--yes") != std::string::npos);
}

}  // namespace
}  // namespace anteroom::cli
