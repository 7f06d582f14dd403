#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/seed.h"
#include "tests/support/temporary_file.h"
#include "tools/rehearse/arrivals.h"
#include "tools/rehearse/count_row.h"
#include "tools/rehearse/limits.h"
#include "tools/rehearse/line_reader.h"

namespace anteroom::tools {
namespace {

struct Seen {
  int64_t after_ms;  // since the first
  std::string id;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> ReadAll(const std::string& path, const Cut& cut = {}) {
  auto source = OpenArrivals(path, cut);
  REQUIRE(source.ok());
  std::vector<Seen> all;
  int64_t first_ms = 0;
  while (const auto arrival = (*source)->Next()) {
    if (all.empty()) first_ms = arrival->at_ms;
    CHECK(arrival->number == all.size());
    all.push_back({arrival->at_ms - first_ms, VisitorIdOf(*arrival)});
  }
  return all;
}

ArrivalSurvey Survey(const std::string& path, const Cut& cut = {}) {
  const auto survey = SurveyArrivals(path, cut);
  REQUIRE(survey.ok());
  return *survey;
}

Cut Between(std::string_view from, std::string_view to) {
  return {ParseMoment(from), ParseMoment(to), UINT64_MAX};
}

std::string LogLineAt(int64_t second_of_day, std::string_view host) {
  char time[16];
  std::snprintf(time, sizeof time, "%02d:%02d:%02d", static_cast<int>(second_of_day / 3600),
                static_cast<int>(second_of_day / 60 % 60), static_cast<int>(second_of_day % 60));
  return std::string(host) + " - - [30/Jun/1998:" + time + " +0200] \"GET / HTTP/1.0\" 200 1\n";
}

TEST_CASE("lines of a file") {
  const std::string long_line(kLineBytesMax + 1, 'x');
  const std::string longest_line(kLineBytesMax, 'y');
  const TemporaryFile file("a\n\n" + long_line + "\n" + longest_line + "\r\nb\n" + long_line +
                           long_line + "\nlast");
  auto reader = LineReader::Open(file.path());
  REQUIRE(reader.ok());
  std::vector<std::pair<std::string, bool>> lines;
  while (const auto line = reader->Next()) {
    lines.emplace_back(line->text, line->whole);
    reader->check_invariants();
  }
  CHECK(reader->status().ok());
  using Line = std::pair<std::string, bool>;
  CHECK(lines == std::vector<Line>{{"a", true},
                                   {"", true},
                                   {"", false},
                                   {"", false},  // one byte longer with its \r
                                   {"b", true},
                                   {"", false},
                                   {"last", true}});
}

TEST_CASE("rows of count files") {
  const auto second = ParseCountRow(CountUnit::kSecond, "86399,12\r");
  REQUIRE(second);
  CHECK(second->start_s == 86399);
  CHECK(second->requests == 12);
  const auto minute = ParseCountRow(CountUnit::kMinute, "1970-01-02 00:01,16083");
  REQUIRE(minute);
  CHECK(minute->start_s == 86460);
  CHECK(minute->requests == 16083);
  for (const std::string_view text :
       {"", ",", "1", "1,", ",1", "1,-1", "-1,1", "1,1.5", "1,1,1", "86400,1", "x,1", "1,x",
        "1,99999999999999999999", "1,1000000001"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseCountRow(CountUnit::kSecond, text));
  }
  for (const std::string_view text : {"00:01,1", "1998-06-31 00:01,1", "1998-06-30,1", "1,1"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseCountRow(CountUnit::kMinute, text));
  }
  CHECK(ParseCountNames("second_of_day,requests") == CountUnit::kSecond);
  CHECK(ParseCountNames("minute_utc,requests\r") == CountUnit::kMinute);
  CHECK_FALSE(ParseCountNames("0,0"));
  CHECK_FALSE(ParseCountNames("hour,requests"));
}

TEST_CASE("in a count file every request is a visitor, spread evenly over its second") {
  const TemporaryFile file("second_of_day,requests\n10,1\n11,0\n12,4\nodd\n13,3\n");
  CHECK(ReadAll(file.path()) == std::vector<Seen>{{0, "v00000001"},
                                                  {2000, "v00000002"},
                                                  {2250, "v00000003"},
                                                  {2500, "v00000004"},
                                                  {2750, "v00000005"},
                                                  {3000, "v00000006"},
                                                  {3333, "v00000007"},
                                                  {3666, "v00000008"}});
  const ArrivalSurvey survey = Survey(file.path());
  CHECK(survey.visitors == 8);
  CHECK(survey.span_ms == 3666);
  CHECK(survey.lines == 6);
  CHECK(survey.unreadable_lines == 1);
}

TEST_CASE("a count file without names, and one that is not in order") {
  const TemporaryFile file("1998-06-29 00:01,1\n1998-06-29 00:00,1\n1998-06-29 00:02,2");
  CHECK(ReadAll(file.path()) ==
        std::vector<Seen>{
            {0, "v00000001"}, {0, "v00000002"}, {60000, "v00000003"}, {90000, "v00000004"}});
}

TEST_CASE("real count files") {
  const std::string launch =
      SourcePath("tests/data/nasa-launch-1995-07-13-requests-per-second.csv");
  CHECK(Survey(launch).visitors == 1636);
  CHECK(Survey(launch).unreadable_lines == 0);
  const std::string worldcup =
      SourcePath("tests/data/worldcup98-1998-07-07-requests-per-minute.csv");
  CHECK(Survey(worldcup, Between("21:41", "21:42")).visitors == 229426);
  CHECK(Survey(worldcup, Between("1998-07-07 21:41", "1998-07-07T21:42:00")).visitors == 229426);
  // Half of a minute has half of its visitors.
  CHECK(Survey(worldcup, Between("21:41:30", "21:42")).visitors == 229426 / 2);
}

TEST_CASE("in an access log each visitor comes once, at the first request") {
  const TemporaryFile file(LogLineAt(100, "ann") + LogLineAt(101, "bob") + "no line\n" +
                           LogLineAt(102, "ann") + LogLineAt(100, "cid") + LogLineAt(103, "bob"));
  CHECK(ReadAll(file.path()) == std::vector<Seen>{{0, "ann"}, {0, "cid"}, {1000, "bob"}});
  const ArrivalSurvey survey = Survey(file.path());
  CHECK(survey.visitors == 3);
  CHECK(survey.span_ms == 1000);
  CHECK(survey.lines == 6);
  CHECK(survey.unreadable_lines == 1);
}

TEST_CASE("cuts") {
  const TemporaryFile file(LogLineAt(3600, "ann") + LogLineAt(3700, "bob") +
                           LogLineAt(3800, "ann") + LogLineAt(3900, "cid") +
                           LogLineAt(7200, "dan") + "no line\n");
  const auto ids = [&](const Cut& cut) {
    std::string all;
    for (const Seen& seen : ReadAll(file.path(), cut)) all += seen.id + " ";
    return all;
  };
  CHECK(ids({}) == "ann bob cid dan ");
  // The first request within the cut counts.
  CHECK(ids(Between("01:01:40", "")) == "bob ann cid dan ");
  CHECK(ids(Between("", "01:01:40")) == "ann ");
  CHECK(ids(Between("01:05", "02:00")) == "cid ");
  CHECK(ids(Between("1998-06-30 01:05", "03:00")) == "cid dan ");
  CHECK(ids(Between("1998-07-01 00:00", "")).empty());
  CHECK(ids({std::nullopt, std::nullopt, 2}) == "ann bob ");
  // What cannot be read is counted over the whole file, cut or not.
  CHECK(Survey(file.path(), {std::nullopt, std::nullopt, 2}).unreadable_lines == 1);
  CHECK(Survey(file.path(), Between("", "01:01:40")).unreadable_lines == 1);

  CHECK_FALSE(OpenArrivals(file.path(), Between("1998-06-30 02:00", "1998-06-30 01:00")).ok());
  // Over midnight.
  const auto night = ResolveCut(Between("23:00", "01:00"), 10 * kSecondsPerDay + 5);
  REQUIRE(night.ok());
  CHECK(night->to_s - night->from_s == 2 * 3600);
}

TEST_CASE("files that cannot be rehearsed") {
  CHECK_FALSE(OpenArrivals("/nonexistent/file", {}).ok());
  CHECK_FALSE(OpenArrivals("/", {}).ok());
  CHECK_FALSE(OpenArrivals("/dev/null", {}).ok());
  const TemporaryFile seconds("second_of_day,requests\n0,1\n");
  CHECK_FALSE(OpenArrivals(seconds.path(), Between("1998-06-30 02:00", "")).ok());
}

TEST_CASE("files without a readable line are no error") {
  const TemporaryFile empty("");
  CHECK(Survey(empty.path()).visitors == 0);
  const TemporaryFile garbage(std::string("\0\xff\n\n\x01[\"\n", 8));
  CHECK(Survey(garbage.path()).visitors == 0);
  CHECK(Survey(garbage.path()).unreadable_lines == Survey(garbage.path()).lines);
  CHECK(Survey(garbage.path()).lines > 0);
}

TEST_CASE("a slightly disordered log gives what sorting all of it would") {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 20; ++round) {
    struct Request {
      int64_t at_s;
      size_t line;
      std::string host;
    };
    std::vector<Request> requests;
    std::string text;
    int64_t now_s = 1000;
    const size_t lines = 1 + random() % 3000;
    for (size_t line = 0; line < lines; ++line) {
      if (random() % 3 == 0) now_s += static_cast<int64_t>(random() % 40);
      const int64_t at_s = now_s - static_cast<int64_t>(random() % (kReorderSecondsMax + 1));
      std::string host = "v" + std::to_string(random() % 500);
      text += LogLineAt(at_s, host);
      requests.push_back({at_s, line, std::move(host)});
    }
    std::sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) {
      return std::tie(a.at_s, a.line) < std::tie(b.at_s, b.line);
    });
    std::set<std::string> known;
    std::vector<Seen> expected;
    for (const Request& request : requests) {
      if (!known.insert(request.host).second) continue;
      expected.push_back({(request.at_s - requests.front().at_s) * 1000, request.host});
    }
    const TemporaryFile file(text);
    CHECK(ReadAll(file.path()) == expected);
  }
}

}  // namespace
}  // namespace anteroom::tools
