// The CLI's command line: every form that is documented, and what is said to a wrong one.
#include "tools/cli/parser.h"

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "protocol/operations.h"
#include "tools/cli/help.h"

namespace anteroom::cli {
namespace {

// Splits at spaces; nothing here needs quotes.
std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

Parsed ParseLine(const std::string& line, std::string_view server = {}) {
  return Parse(Words(line), {.server = server});
}

Arguments Right(const std::string& line, std::string_view command) {
  INFO(line);
  const Parsed parsed = ParseLine(line);
  INFO(parsed.wrong.value_or("right"));
  REQUIRE(parsed.command != nullptr);
  CHECK(parsed.command->name == command);
  return parsed.arguments;
}

std::string Wrong(const std::string& line) {
  INFO(line);
  const Parsed parsed = ParseLine(line);
  CHECK(parsed.command == nullptr);
  CHECK_FALSE(parsed.answer.has_value());
  REQUIRE(parsed.wrong.has_value());
  return *parsed.wrong;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("cli: the forms of the commands") {
  CHECK(Right("ping", "ping").server == "127.0.0.1:7411");
  CHECK(Right("--server localhost:9 ping", "ping").server == "localhost:9");
  CHECK(Right("--server=unix:/tmp/a.sock health", "health").server == "unix:/tmp/a.sock");
  CHECK(Right("--output json ping", "ping").output == OutputForm::kJson);

  const Arguments create =
      Right("room create concert rate=50/s capacity=100 claim_ttl=5m", "room create");
  CHECK(create.room == "concert");
  CHECK(create.settings.rate == protocol::Rate{50, 1000});
  CHECK(create.settings.capacity == protocol::Limit{100});
  CHECK(create.settings.claim_ttl == protocol::Duration{300'000});

  const Arguments set = Right("room set concert mode=paused --if-revision 3", "room set");
  CHECK(set.settings.mode == protocol::Mode::kPaused);
  CHECK(set.if_revision == 3);
  CHECK(Right("room delete concert --force --yes", "room delete").force);
  CHECK(Right("room delete concert --force --yes", "room delete").yes);
  Right("room list", "room list");
  Right("room show concert", "room show");
  Right("room reset concert", "room reset");

  CHECK(Right("join concert ann", "join").visitor == "ann");
  CHECK(Right("join concert ann --lane 0", "join").lane == 0);
  CHECK(Right("enter concert ann --lane=255", "enter").lane == 255);
  CHECK(Right("finish concert ann", "finish").token == std::nullopt);
  const Arguments finish = Right("finish concert ann abc --completed", "finish");
  CHECK(finish.token == "abc");
  CHECK(finish.outcome == protocol::Outcome::kCompleted);
  CHECK(Right("finish concert ann --cancelled", "finish").outcome == protocol::Outcome::kCancelled);

  const Arguments admit = Right("admit concert 10 --key k1", "admit");
  CHECK(admit.count == 10);
  CHECK(admit.key == "k1");
  const Arguments admit_visitor = Right("admit concert --visitor ann --over", "admit");
  CHECK(admit_visitor.visitor == "ann");
  CHECK(admit_visitor.over);
  CHECK(Right("revoke concert ann --block 1h", "revoke").block_ms == 3'600'000);

  const Arguments peek = Right("peek concert 5 20", "peek");
  CHECK(peek.from == 5);
  CHECK(peek.count == 20);
  CHECK(Right("inside concert", "inside").count == std::nullopt);
  CHECK(Right("inside concert 17 2", "inside").from == 17);
  const Arguments watch = Right("watch concert ann bob --count 3 --for 2s", "watch");
  CHECK(watch.visitors == std::vector<std::string>{"ann", "bob"});
  CHECK(watch.count == 3);
  CHECK(watch.duration_ms == 2000);
  CHECK(Right("watch concert", "watch").visitors.empty());
  CHECK(Right("stats", "stats").room.empty());
  CHECK(Right("stats concert", "stats").room == "concert");
  CHECK(Right("clock advance 90s", "clock advance").duration_ms == 90'000);
  CHECK(Right("log check data", "log check").path == "data");
  CHECK(Right("log dump data", "log dump").path == "data");

  const Arguments rehearse = Right(
      "rehearse a.log --room r --speed 0.5 --session 20s --from 10:05 --to 11:00:30 "
      "--max-visitors 7 --seed 9 --give-up 1m",
      "rehearse");
  CHECK(rehearse.path == "a.log");
  CHECK(rehearse.room == "r");
  CHECK(rehearse.speed == 0.5);
  CHECK(rehearse.session_ms == 20'000);
  CHECK(rehearse.from_time == "10:05");
  CHECK(rehearse.to_time == "11:00:30");
  CHECK(rehearse.max_visitors == 7);
  CHECK(rehearse.seed == 9);
  CHECK(rehearse.give_up_ms == 60'000);
}

TEST_CASE("cli: what holds everywhere may stand anywhere") {
  CHECK(Right("join --output json concert ann", "join").output == OutputForm::kJson);
  CHECK(Right("room --server h:1 show concert --output json", "room show").server == "h:1");
  CHECK(Right("room set concert rate=1/s --yes capacity=3", "room set").settings.capacity ==
        protocol::Limit{3});
}

TEST_CASE("cli: the environment names the daemon unless the command line does") {
  CHECK(ParseLine("ping", "unix:/tmp/x").arguments.server == "unix:/tmp/x");
  CHECK(ParseLine("--server h:1 ping", "unix:/tmp/x").arguments.server == "h:1");
  CHECK(Contains(ParseLine("ping", "nonsense").wrong.value(), "ANTEROOM_SERVER"));
}

TEST_CASE("cli: credentials are a file, named by an option or the environment") {
  CHECK(Right("ping", "ping").credentials_path.empty());
  CHECK(Right("--credentials a.file ping", "ping").credentials_path == "a.file");
  CHECK(Right("ping --credentials=/b/file", "ping").credentials_path == "/b/file");
  const Environment environment{.server = {}, .credentials_path = "env.file"};
  CHECK(Parse(Words("ping"), environment).arguments.credentials_path == "env.file");
  CHECK(Parse(Words("ping --credentials a.file"), environment).arguments.credentials_path ==
        "a.file");
  CHECK(Contains(Wrong("ping --credentials"), "--credentials"));

  const Arguments made = Right("credentials new shop-1 app", "credentials new");
  CHECK(made.name == "shop-1");
  CHECK(made.role == protocol::Role::kApp);
  CHECK(Contains(Wrong("credentials new Shop app"), "1 to 64 of a-z"));
  CHECK(Contains(Wrong("credentials new shop anyone"), "reader, app or operator"));
  CHECK(Contains(Wrong("credentials new shop"), "ROLE is missing"));
}

TEST_CASE("cli: rooms and visitors may have the names of commands") {
  const Arguments join = Right("join status room", "join");
  CHECK(join.room == "status");
  CHECK(join.visitor == "room");
  CHECK(Right("room show list", "room show").room == "list");
  CHECK(Right("room create create rate=none", "room create").room == "create");
}

TEST_CASE("cli: tokens and ids may begin with a dash") {
  for (const char* token : {"-abcdefghijklmnopqrstu", "--bcdefghijklmnopqrstu",
                            "----------------------", "-A_cdefghijklmnopq-stA"}) {
    CHECK(Right(std::string("claim concert ann ") + token, "claim").token == token);
    CHECK(Right(std::string("finish concert ann ") + token + " --completed", "finish").token ==
          token);
  }
  CHECK(Right("leave concert -- -ann", "leave").visitor == "-ann");
  CHECK(Right("leave concert -- --", "leave").visitor == "--");
  CHECK(Right("leave --output json concert -- --help", "leave").visitor == "--help");
  CHECK(Right("watch concert ann -- -bob --count", "watch").visitors ==
        std::vector<std::string>{"ann", "-bob", "--count"});
  CHECK(Right("admit concert --visitor=-ann", "admit").visitor == "-ann");
  CHECK(Contains(Wrong("leave concert -ann"), "goes after --"));
}

// Otherwise it would be taken for a token.
TEST_CASE("cli: no option is as long as a token") {
  for (const Command& command : Commands()) {
    for (const Use& use : command.uses) CHECK(use.parameter->name.size() < 22);
  }
}

TEST_CASE("cli: ids are bytes") {
  CHECK(Right("join concert a\\x00\\xffb\\\\", "join").visitor == std::string("a\0\xff"
                                                                              "b\\",
                                                                              5));
  CHECK(Right("join concert [a,b]", "join").visitor == "[a,b]");
  CHECK(Right("watch concert [a,b] [c]", "watch").visitors ==
        std::vector<std::string>{"[a,b]", "[c]"});
  CHECK(Right("admit concert --visitor [a,b]", "admit").visitor == "[a,b]");
  CHECK(Right("admit concert --visitor=[a,b]", "admit").visitor == "[a,b]");
  CHECK(Right("join concert \x01", "join").visitor == "\x01");
  CHECK(Right("join concert {}", "join").visitor == "{}");
  CHECK(Right("join concert a=b", "join").visitor == "a=b");
  CHECK(Right("join concert %%", "join").visitor == "%%");
  CHECK(Right("join concert 'x'", "join").visitor == "'x'");
  CHECK(Contains(Wrong("join concert a\\n"), "backslash"));
  CHECK(Contains(Wrong("join concert " + std::string(256, 'a')), "1 to 255 bytes"));
  CHECK(Parse({"join", "concert", ""}, {}).wrong.has_value());
}

TEST_CASE("cli: a mistyped name is told the nearest right one") {
  CHECK(Contains(Wrong("jion concert ann"), "did you mean join?"));
  CHECK(Contains(Wrong("--output json verfy concert"), "did you mean verify?"));
  CHECK(Contains(Wrong("romo list"), "did you mean room?"));
  CHECK(Contains(Wrong("room crate concert"), "did you mean create?"));
  CHECK(Contains(Wrong("create concert"), "did you mean room create?"));
  CHECK(Contains(Wrong("clock advanse 1s"), "did you mean advance?"));
  CHECK(Contains(Wrong("room set concert capcity=3"), "did you mean capacity?"));
  CHECK(Contains(Wrong("room delete concert --froce"), "did you mean --force?"));
  CHECK(Contains(Wrong("ping --ouput json"), "did you mean --output?"));
  CHECK(Contains(Wrong("entirely-else"), "anteroom --help"));
}

TEST_CASE("cli: what is wrong is said") {
  CHECK(Contains(Wrong(""), "what is to be done?"));
  CHECK(Contains(Wrong("room"), "room create"));
  CHECK(Contains(Wrong("join concert"), "VISITOR is missing"));
  CHECK(Contains(Wrong("join"), "ROOM is missing"));
  CHECK(Contains(Wrong("rehearse a.log"), "--room is missing"));
  CHECK(Contains(Wrong("clock advance"), "DURATION is missing"));
  CHECK(Contains(Wrong("status concert ann bob"), "one argument too many"));
  CHECK(Contains(Wrong("join Concert ann"), "a room's name"));
  CHECK(Contains(Wrong("join concert ann --lane 256"), "--lane is \"256\""));
  CHECK(Contains(Wrong("join concert ann --lane"), "--lane"));
  CHECK(Contains(Wrong("join concert ann --lane 1 --lane 2"), "--lane"));
  CHECK(Contains(Wrong("peek concert one"), "whole number"));
  CHECK(Contains(Wrong("peek concert -1"), "-1"));
  CHECK(Contains(Wrong("clock advance 5"), "duration with a unit"));
  CHECK(Contains(Wrong("room create concert rate"), "key=value"));
  CHECK(Contains(Wrong("room create concert rate=50"), "50/s"));
  CHECK(Contains(Wrong("room create concert rate=1/s rate=2/s"), "said twice"));
  CHECK(Contains(Wrong("room set concert"), "KEY=VALUE is missing"));
  CHECK(Contains(Wrong("admit concert"), "--visitor"));
  CHECK(Contains(Wrong("admit concert 3 --visitor ann"), "either"));
  CHECK(Contains(Wrong("admit concert 3 --over"), "--over"));
  CHECK(Contains(Wrong("admit concert --visitor ann --key k"), "--key"));
  CHECK(Contains(Wrong("finish concert ann --completed --cancelled"), "either"));
  CHECK(Contains(Wrong("--output xml ping"), "text or json"));
  CHECK(Contains(Wrong("--server nowhere ping"), "HOST:PORT"));
  CHECK(Contains(Wrong("watch concert --count 0"), "at least 1"));
  CHECK(Contains(Wrong("rehearse a.log --room r --speed 0"), "above 0"));
  CHECK(Contains(Wrong("rehearse a.log --room r --speed nan"), "above 0"));
}

TEST_CASE("cli: the help shows every command with its usage and an example that is right") {
  const std::string overview = ParseLine("--help").answer.value();
  CHECK(ParseLine("help").answer == overview);
  for (const Command& command : Commands()) {
    const std::string name(command.name);
    INFO(name);
    CHECK(Contains(overview, name));
    CHECK_FALSE(command.summary.empty());
    const std::string help = ParseLine(name + " --help").answer.value();
    CHECK(help == CommandHelp(command));
    CHECK(ParseLine("help " + name).answer == help);
    CHECK(Contains(help, UsageLine(command)));
    std::istringstream examples{std::string(command.example)};
    int count = 0;
    for (std::string line; std::getline(examples, line); ++count) {
      REQUIRE(line.starts_with("anteroom "));
      Right(line.substr(9), name);
    }
    CHECK(count > 0);
  }
  CHECK(Contains(ParseLine("room --help").answer.value(), "room create"));
  CHECK_FALSE(Contains(ParseLine("room --help").answer.value(), "clock advance"));
  CHECK(Contains(ParseLine("--version").answer.value(), "anteroom 0."));
  CHECK(Contains(Wrong("help jion"), "did you mean join?"));
}

TEST_CASE("cli: every operation has its command") {
  // Batches are for programs, and a connection is opened and watched by the library.
  const std::set<std::string> no_command = {"hello", "authenticate", "join_many", "status_many",
                                            "unwatch"};
  const std::set<std::string> with_another = {"watch_room", "admit_visitor"};
  for (int number = 0; number < 256; ++number) {
    const auto info = protocol::FindOperation(static_cast<uint8_t>(number));
    if (!info) continue;
    std::string name(info->name);
    if (no_command.contains(name) || with_another.contains(name)) continue;
    INFO(name);
    if (name.starts_with("room_") || name.starts_with("clock_")) name[name.find('_')] = ' ';
    if (name == "rotate_token_key") name = "tokens rotate";
    CHECK(FindCommand(name) != nullptr);
  }
}

}  // namespace
}  // namespace anteroom::cli
