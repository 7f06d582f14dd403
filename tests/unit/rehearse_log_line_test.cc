#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <set>
#include <string>

#include "tests/support/seed.h"
#include "tests/support/temporary_file.h"
#include "tools/rehearse/log_line.h"
#include "tools/rehearse/moment.h"

namespace anteroom::tools {
namespace {

// 1998-06-30 20:15:30, by `date --utc --date='1998-06-30 20:15:30' +%s`.
constexpr int64_t kWrittenS = 899237730;
constexpr std::string_view kCommon =
    R"(v1 - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0" 200 1839)";

TEST_CASE("a line in Common Log Format") {
  const auto line = ParseLogLine(kCommon);
  REQUIRE(line);
  CHECK(line->host == "v1");
  CHECK(line->written_s == kWrittenS);
  CHECK(line->zone_s == 0);
}

TEST_CASE("the zone moves the moment") {
  const auto east = ParseLogLine(R"(h - - [30/Jun/1998:20:15:30 +0530] "GET /" 200 -)");
  REQUIRE(east);
  CHECK(east->utc_s() == kWrittenS - (5 * 60 + 30) * 60);
  const auto west = ParseLogLine(R"(h - - [30/Jun/1998:20:15:30 -0400] "GET /" 200 -)");
  REQUIRE(west);
  CHECK(west->utc_s() == kWrittenS + 4 * 3600);
  CHECK(west->written_s == kWrittenS);
}

TEST_CASE("lines that are odd and readable") {
  for (
      const std::string_view text : {
          // Combined Log Format, and more after it
          R"(10.0.0.1 - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.1" 200 5 "http://a/" "M 5.0")",
          R"(10.0.0.1 - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 0.01 x)",
          R"(2001:db8::1 - ann [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.1" 304 -)",
          // a user with spaces and brackets
          R"(h - ann of [green] gables [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.1" 200 5)",
          // requests that are none
          R"(h - - [30/Jun/1998:20:15:30 +0000] "" 400 0)",
          R"(h - - [30/Jun/1998:20:15:30 +0000] "-" 408 -)",
          "h - - [30/Jun/1998:20:15:30 +0000] \"\x16\x03\x01\xff\xfe\" 400 226",
          R"(h - - [30/Jun/1998:20:15:30 +0000] "\x16\x03\x01" 400 226)",
          // quotes within the request
          R"(h - - [30/Jun/1998:20:15:30 +0000] "GET /"a" b" HTTP/1.0" 404 12)",
          R"(h - - [30/Jun/1998:20:15:30 +0000] "GET /a" 200 b" 404 12)",
          // a line from a system that ends them otherwise
          "h - - [30/Jun/1998:20:15:30 +0000] \"GET /\" 200 5\r",
      }) {
    CAPTURE(text);
    const auto line = ParseLogLine(text);
    REQUIRE(line);
    CHECK(line->utc_s() == kWrittenS);
  }
}

TEST_CASE("lines that cannot be read") {
  for (const std::string_view text : {
           "",
           " ",
           "h",
           "h - -",
           R"(h - - [30/Jun/1998:20:15:30 +0000])",
           R"(h - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0")",
           R"(h - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0" 200)",
           R"(h - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0" 200 )",
           R"(h - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0" 20 5)",
           R"(h - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0)",
           R"(h - - [31/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0" 200 5)",
           R"(h - - [30/Jum/1998:20:15:30 +0000] "GET / HTTP/1.0" 200 5)",
           R"(h - - [30/Jun/1998:24:15:30 +0000] "GET / HTTP/1.0" 200 5)",
           R"(h - - [30/Jun/1998:20:15 +0000] "GET / HTTP/1.0" 200 5)",
           R"(h - - [30/Jun/1998:20:15:30] "GET / HTTP/1.0" 200 5)",
           R"(h - - [30/Jun/1998:20:15:30 0000] "GET / HTTP/1.0" 200 5)",
           R"( - - [30/Jun/1998:20:15:30 +0000] "GET / HTTP/1.0" 200 5)",
           "second_of_day,requests",
           "0,0",
       }) {
    CAPTURE(text);
    CHECK_FALSE(ParseLogLine(text));
  }
  const std::string rest(kCommon.substr(2));
  CHECK(ParseLogLine(std::string(255, 'h') + rest));
  CHECK_FALSE(ParseLogLine(std::string(256, 'h') + rest));
}

TEST_CASE("a line cut anywhere, and any byte of it changed, is read or not, and no more") {
  // Only the digits of the size may be missing.
  for (size_t size = 0; size < kCommon.size(); ++size) {
    CAPTURE(size);
    CHECK(ParseLogLine(kCommon.substr(0, size)).has_value() == (size > kCommon.size() - 4));
  }
  for (size_t i = 0; i < kCommon.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed(kCommon);
      changed[i] = static_cast<char>(byte);
      if (const auto line = ParseLogLine(changed)) CHECK_FALSE(line->host.empty());
    }
  }
  std::mt19937_64 random(TestSeed());
  constexpr std::string_view kAlphabet = "h -[]\"/:+0123Jun\\\n\xff";
  for (int i = 0; i < 100000; ++i) {
    std::string text(random() % 80, ' ');
    for (char& c : text) c = kAlphabet[random() % kAlphabet.size()];
    ParseLogLine(text);
  }
}

TEST_CASE("every line of the real logs is readable") {
  for (const auto& [name, visitors] :
       {std::pair("tests/data/nasa-1995-08-01-access.log", 39),
        std::pair("tests/data/semicomplete-2015-05-17-access.log", 90)}) {
    std::ifstream file(SourcePath(name), std::ios::binary);
    std::set<std::string> hosts;
    int lines = 0;
    for (std::string text; std::getline(file, text); ++lines) {
      CAPTURE(text);
      const auto line = ParseLogLine(text);
      REQUIRE(line);
      hosts.emplace(line->host);
    }
    CHECK(lines == 300);
    CHECK(hosts.size() == static_cast<size_t>(visitors));
  }
}

TEST_CASE("moments") {
  const int64_t day = *DayNumber(1998, 6, 30);
  CHECK(day == kWrittenS / kSecondsPerDay);
  CHECK(ParseMoment("20:15") == Moment{std::nullopt, 72900});
  CHECK(ParseMoment("20:15:30") == Moment{std::nullopt, 72930});
  CHECK(ParseMoment("1998-06-30 20:15") == Moment{day, 72900});
  CHECK(ParseMoment("1998-06-30T20:15:30") == Moment{day, 72930});
  CHECK(ParseMoment("30/Jun/1998:20:15:30") == Moment{day, 72930});
  CHECK(DayNumber(2000, 2, 29));
  CHECK_FALSE(DayNumber(1900, 2, 29));
  for (const std::string_view text : {"", "20", "8:15", "20:60", "20:15:", "20:15:30 ", "-1:15",
                                      "1998-06-30", "1998-06-31 20:15", "1998-6-30 20:15"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseMoment(text));
  }
}

}  // namespace
}  // namespace anteroom::tools
