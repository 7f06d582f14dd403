#include "tools/rehearse/arrivals.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/rehearse/count_arrivals.h"
#include "tools/rehearse/count_row.h"
#include "tools/rehearse/limits.h"
#include "tools/rehearse/line_reader.h"
#include "tools/rehearse/log_arrivals.h"
#include "tools/rehearse/log_line.h"

namespace anteroom::tools {
namespace {

struct FileForm {
  std::optional<CountUnit> count_unit;  // absent: an access log
  int64_t first_s = 0;                  // of the first readable line, as written
  int64_t zone_s = 0;                   // in which an access log's first line is written
};

// The form of the file, from the first line that is readable in any form.
absl::StatusOr<FileForm> Recognise(const std::string& path) {
  absl::StatusOr<LineReader> reader = LineReader::Open(path);
  if (!reader.ok()) return reader.status();
  FileForm form;
  for (size_t i = 0; i < kRecogniseLinesMax; ++i) {
    const auto line = reader->Next();
    if (!line) break;
    if (const auto parsed = ParseLogLine(line->text)) {
      return FileForm{std::nullopt, parsed->written_s, parsed->zone_s};
    }
    if (const auto unit = ParseCountNames(line->text)) form.count_unit = unit;
    for (const CountUnit unit : {CountUnit::kSecond, CountUnit::kMinute}) {
      if (const auto row = ParseCountRow(unit, line->text)) return FileForm{unit, row->start_s, 0};
    }
  }
  if (!reader->status().ok()) return reader->status();
  return form;
}

absl::Status CheckRegularFile(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  if (!S_ISREG(about.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is not a regular file, which it has to be: it is read twice"));
  }
  return absl::OkStatus();
}

int64_t Absolute(const Moment& moment, int64_t day_unsaid) {
  return moment.day.value_or(day_unsaid) * kSecondsPerDay + moment.second_of_day;
}

int64_t DayOf(int64_t at_s) {
  const int64_t day = at_s / kSecondsPerDay;
  return day * kSecondsPerDay > at_s ? day - 1 : day;
}

}  // namespace

std::string VisitorIdOf(const Arrival& arrival) {
  if (!arrival.host.empty()) return std::string(arrival.host);
  return absl::StrFormat("v%08d", arrival.number + 1);
}

absl::StatusOr<Window> ResolveCut(const Cut& cut, int64_t first_s) {
  Window window;
  if (cut.from) window.from_s = Absolute(*cut.from, DayOf(first_s));
  if (cut.to) {
    window.to_s = Absolute(*cut.to, DayOf(cut.from ? window.from_s : first_s));
    if (cut.from && !cut.to->day && window.to_s <= window.from_s) window.to_s += kSecondsPerDay;
    if (cut.from && window.to_s <= window.from_s) {
      return absl::InvalidArgumentError("--to is not later than --from");
    }
  }
  return window;
}

absl::StatusOr<std::unique_ptr<ArrivalSource>> OpenArrivals(const std::string& path,
                                                            const Cut& cut) {
  if (absl::Status status = CheckRegularFile(path); !status.ok()) return status;
  const absl::StatusOr<FileForm> form = Recognise(path);
  if (!form.ok()) return form.status();
  if (form->count_unit == CountUnit::kSecond &&
      ((cut.from && cut.from->day) || (cut.to && cut.to->day))) {
    return absl::InvalidArgumentError(
        "a per-second count file has no dates: give --from and --to as HH:MM or HH:MM:SS");
  }
  absl::StatusOr<Window> window = ResolveCut(cut, form->first_s);
  if (!window.ok()) return window.status();
  absl::StatusOr<LineReader> reader = LineReader::Open(path);
  if (!reader.ok()) return reader.status();
  if (form->count_unit) {
    return std::make_unique<CountArrivals>(*std::move(reader), *form->count_unit, *window,
                                           cut.visitors_max);
  }
  // An access log may change its zone on the way, so its clock is UTC.
  if (cut.from) window->from_s -= form->zone_s;
  if (cut.to) window->to_s -= form->zone_s;
  return std::make_unique<LogArrivals>(*std::move(reader), *window, cut.visitors_max);
}

absl::StatusOr<ArrivalSurvey> SurveyArrivals(const std::string& path, const Cut& cut) {
  absl::StatusOr<std::unique_ptr<ArrivalSource>> source = OpenArrivals(path, cut);
  if (!source.ok()) return source.status();
  ArrivalSurvey survey;
  int64_t first_ms = 0;
  while (const auto arrival = (*source)->Next()) {
    if (survey.visitors++ == 0) first_ms = arrival->at_ms;
    survey.span_ms = arrival->at_ms - first_ms;
  }
  (*source)->ReadToEnd();
  if (!(*source)->status().ok()) return (*source)->status();
  survey.lines = (*source)->lines();
  survey.unreadable_lines = (*source)->unreadable_lines();
  return survey;
}

}  // namespace anteroom::tools
