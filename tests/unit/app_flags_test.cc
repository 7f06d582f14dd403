// The daemon's flags as a table: reading, defaults, limits, help.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/app/flags.h"
#include "server/app/options.h"

namespace anteroom::app {
namespace {

struct Table {
  std::vector<FlagSection> sections;
  std::string path = "untouched";
  bool on = false;
  Limits limits;

  Table() {
    sections.push_back({"Things",
                        {{.name = "some-path",
                          .value = "PATH",
                          .by_default = "here",
                          .help = "Where.",
                          .examples = {"program --some-path there"},
                          .take =
                              [this](const std::string& said) {
                                path = said;
                                return std::string(said == "wrong" ? "it takes another" : "");
                              }},
                         {.name = "switch", .help = "On.", .take = [this](const std::string& said) {
                            on = said == "true";
                            return std::string();
                          }}}});
    FlagSection more{"Limits", {}};
    for (const LimitFlag& limit : kLimitFlags) more.flags.push_back(FlagOf(limit, &limits));
    sections.push_back(more);
    sections.push_back({"", {{.name = "help", .help = "this", .take = {}, .alone = true}}});
  }
  // What is wrong with it; empty: nothing.
  std::string Read(const std::vector<std::string>& arguments) {
    const auto said = ReadCommandLine(sections, arguments);
    if (!said.ok()) return std::string(said.status().message());
    return std::string(TakeFlags(sections, *said).message());
  }
};

TEST_CASE("flags: every way of saying one") {
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--some-path", "--there"},
                                              {"--some-path=--there"},
                                              {"--some-path", "first", "--some-path", "--there"}}) {
    Table table;
    CHECK(table.Read(way).empty());
    CHECK(table.path == "--there");
    CHECK_FALSE(table.on);
  }
  Table table;
  CHECK(table.Read({"--switch"}).empty());
  CHECK(table.path == "here");
  CHECK(table.on);
  CHECK(table.Read({"--switch=false"}).empty());
  CHECK_FALSE(table.on);
}

TEST_CASE("flags: what is wrong is said with what would be right") {
  Table table;
  CHECK(table.Read({"--some-path", "wrong"}) == "--some-path wrong: it takes another");
  CHECK(table.Read({"--some-pth=x"}) == "there is no flag --some-pth; did you mean --some-path?");
  CHECK(table.Read({"--qqqqqqqqqqqq"}) == "there is no flag --qqqqqqqqqqqq; --help lists them all");
  CHECK(table.Read({"--some-path"}) == "the flag --some-path is without its value");
  CHECK(table.Read({"stray"}) == "\"stray\" is no flag; --help lists them all");
  CHECK(table.Read({"-some-path=x"}) == "there is no flag -some-path; did you mean --some-path?");
  const auto said = ReadCommandLine(table.sections, std::vector<std::string>{"--help", "stray"});
  REQUIRE(said.ok());
  CHECK(said->back().flag->name == "help");
}

TEST_CASE("flags: sizes") {
  CHECK(ParseSize("0") == 0u);
  CHECK(ParseSize("1000") == 1000u);
  CHECK(ParseSize("4K") == 4096u);
  CHECK(ParseSize("64M") == uint64_t{64} << 20);
  CHECK(ParseSize("1G") == uint64_t{1} << 30);
  CHECK(ParseSize("3T") == uint64_t{3} << 40);
  for (const char* wrong : {"", "K", "-1", "1k", "1KB", "1.5G", "4 K", " 4", "17000000T"}) {
    CHECK_FALSE(ParseSize(wrong));
  }
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1024}, uint64_t{1536},
                               uint64_t{5} << 20, uint64_t{1} << 50, UINT64_MAX}) {
    CHECK(ParseSize(FormatSize(bytes)) == bytes);
  }
  CHECK(FormatSize(128 << 10) == "128K");
}

TEST_CASE("flags: every limit has its default, and takes all from its smallest to its largest") {
  for (const LimitFlag& limit : kLimitFlags) {
    Table table;
    INFO(std::string(limit.name));
    const std::string flag = "--" + std::string(limit.name);
    const std::string unit = limit.unit == LimitUnit::kMs ? "ms" : "";
    const auto read = [&](uint64_t value) {
      return table.Read({absl::StrCat(flag, "=", value, unit)});
    };
    CHECK(table.Read({}).empty());
    CHECK(table.limits.*limit.member == limit.by_default);
    CHECK(Limits().*limit.member == limit.by_default);
    CHECK(limit.smallest <= limit.by_default);
    CHECK((limit.by_default <= limit.largest || limit.by_default == limits::kMemoryOfMachine));
    for (const uint64_t right : {limit.smallest, limit.smallest + 1, limit.largest}) {
      CHECK(read(right).empty());
      CHECK(table.limits.*limit.member == right);
    }
    for (const uint64_t wrong : {uint64_t{0}, limit.smallest - 1, limit.largest + 1}) {
      CHECK(read(wrong).find(": it takes a ") != std::string::npos);
    }
    for (const char* wrong : {"", "none", "-1", "1.5", "ten"}) {
      const std::string said = table.Read({flag, wrong});
      CHECK(said.starts_with(flag + " " + wrong + ": it takes a "));
      CHECK(said.find(" from ") != std::string::npos);
      CHECK(said.find(", such as ") != std::string::npos);
    }
  }
}

TEST_CASE("flags: a limit says its range in the unit that it takes") {
  Table table;
  CHECK(table.Read({"--max-hello-time=1"}) ==
        "--max-hello-time 1: it takes a time from 100ms to 1h, such as 10s");
  CHECK(table.Read({"--max-input-bytes=2M"}) ==
        "--max-input-bytes 2M: it takes a size from 1K to 1M, such as 128K");
  CHECK(table.Read({"--max-rooms=0"}) ==
        "--max-rooms 0: it takes a number from 1 to 1000000, such as 1000000");
  CHECK(table.Read({"--max-memory=none"}) ==
        "--max-memory none: it takes a size from 1M to 1024T, such as 8G");
}

TEST_CASE("flags: help has every flag with its default, in lines that fit") {
  const Table table;
  const std::string help = DescribeFlags(table.sections);
  size_t from = 0;
  while (from < help.size()) {
    const size_t end = help.find('\n', from);
    CHECK(end - from <= 100);
    from = end + 1;
  }
  CHECK(help.find("Things\n"
                  "  --some-path PATH         Where.  Default: here\n"
                  "                             program --some-path there\n"
                  "  --switch                 On.\n") == 0);
  for (const LimitFlag& limit : kLimitFlags) {
    const size_t at = help.find("  --" + std::string(limit.name) + " ");
    REQUIRE(at != std::string::npos);
    CHECK(help.find("Default:", at) < help.find("\n  --", at));
  }
}

TEST_CASE("options: what flags must be together") {
  const auto parse = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "anteroomd");
    std::vector<char*> pointers;
    pointers.reserve(arguments.size());
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    return ParseOptions(static_cast<int>(pointers.size()), pointers.data());
  };
  const auto wrong = [&](const std::vector<std::string>& arguments) {
    return std::string(parse(arguments).status().message());
  };
  CHECK(wrong({"--listen", "none"}) == "nothing to listen on: say --listen, --unix or both");
  CHECK(wrong({"--listen=0.0.0.0:1"}).starts_with("--listen: without --credentials"));
  CHECK(wrong({"--archive-keep", "1d"}) == "--archive-keep is without --archive");
  for (const char* const keep : {"0", "0s", "999ms", "366d", "x"}) {
    CHECK(wrong({"--archive", "a", "--archive-keep", keep})
              .ends_with("it takes a time from 1s to 365d, such as 30d"));
  }
  CHECK(wrong({"--max-output-bytes=2M", "--max-unread-bytes=3M"}) ==
        "--max-unread-bytes 3M: it takes at most --max-output-bytes, 2M");
  const auto options = parse({"--archive", "a", "--archive-keep", "1d", "--max-rooms", "7"});
  REQUIRE(options.ok());
  CHECK((*options)->archive_keep_s == 24 * 3600);
  CHECK((*options)->limits.rooms == 7);
  CHECK((*options)->data_directory == "./anteroom-data");
  // Of the machine.
  CHECK((*options)->limits.memory_bytes > 0);
  CHECK((*options)->limits.memory_bytes != limits::kMemoryOfMachine);
}

}  // namespace
}  // namespace anteroom::app
