#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/rehearse/progress.h"
#include "tools/rehearse/report.h"

namespace anteroom::tools {
namespace {

TEST_CASE("percentiles are values that occurred") {
  std::vector<uint64_t> none;
  CHECK_FALSE(Percentile(&none, 50));
  std::vector<uint64_t> one = {7};
  CHECK(Percentile(&one, 50) == 7);
  CHECK(Percentile(&one, 100) == 7);
  std::vector<uint64_t> hundred;
  for (uint64_t i = 100; i > 0; --i) hundred.push_back(i);
  CHECK(Percentile(&hundred, 50) == 50);
  CHECK(Percentile(&hundred, 95) == 95);
  CHECK(Percentile(&hundred, 100) == 100);
}

TEST_CASE("admissions per second, from the first to the last") {
  CHECK_FALSE(AdmissionsPerSecondMilli({}));
  CHECK_FALSE(AdmissionsPerSecondMilli(std::vector<Admission>{{.admitted_at_ms = 5}}));
  std::vector<Admission> admissions;
  for (uint64_t i = 0; i <= 20; ++i) admissions.push_back({.admitted_at_ms = 1000 + 50 * i});
  CHECK(AdmissionsPerSecondMilli(admissions) == 20000);
}

TEST_CASE("what a report says as JSON and as a table") {
  Report report;
  report.counts.joined = 12;
  report.counts.admitted = 11;
  report.counts.finished = 10;
  report.counts.longest_line = 4;
  report.unreadable_lines = 2;
  report.end = "done";
  cli::Json json = ToJson(report);
  for (const char* name : {"joined", "admitted", "finished", "longest_line", "unreadable_lines"}) {
    CHECK(json.contains(name));
  }
  CHECK(json["joined"] == 12);
  CHECK(json["violations"] == 0);
  // Nobody waited: absent, not 0.
  CHECK_FALSE(json.contains("wait_p50_ms"));
  CHECK_FALSE(json.contains("admissions_per_s"));

  report.wait_p50_ms = 10;
  report.wait_p95_ms = 20;
  report.wait_max_ms = 0;
  report.admissions_per_s_milli = 12340;
  report.counts.refused[protocol::ErrorCode::kLineFull] = 3;
  report.violations.Add("one thing");
  json = ToJson(report);
  CHECK(json["wait_max_ms"] == 0);
  CHECK(json["admissions_per_s"] == doctest::Approx(12.34));
  CHECK(json["refused"] == 3);
  CHECK(json["violations"] == 1);

  const std::string table = FormatTable(report);
  for (const char* text : {"joined", "12.34", "line_full", "one thing", "10 ms"}) {
    CAPTURE(text);
    CHECK(table.find(text) != std::string::npos);
  }
}

TEST_CASE("the progress line fits its terminal") {
  const ProgressState state = {.arrived = 50,
                               .visitors = 100,
                               .waiting = 20,
                               .inside = 5,
                               .gone = 25,
                               .elapsed_ms = 61000,
                               .going_home = false};
  CHECK(FormatProgress(state, 200) ==
        "[####----        ] 1:01  20 in line, 5 inside, 25 gone; 50 of 100 came");
  CHECK(FormatProgress(state, 30).size() == 30);
  CHECK(FormatProgress({}, 200).substr(0, 18) == "[################]");
}

}  // namespace
}  // namespace anteroom::tools
