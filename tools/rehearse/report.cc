#include "tools/rehearse/report.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "protocol/kinds.h"
#include "protocol/text.h"
#include "tools/cli/human.h"

namespace anteroom::tools {
namespace {

uint64_t RefusedTotal(const CrowdCounts& counts) {
  uint64_t total = 0;
  for (const auto& [error, count] : counts.refused) total += count;
  return total;
}

std::string Name(protocol::ErrorCode error) {
  return std::string(protocol::NameOf(error));
}

// Rows of a name, a value and a remark; the values stand below one another, to the right.
class Rows {
 public:
  void Row(std::string_view name, std::string_view value, std::string_view remark = {}) {
    if (!text_.empty()) text_ += '\n';
    text_ += absl::StrFormat("%-17s %12s", protocol::ToAbsl(name), protocol::ToAbsl(value));
    if (!remark.empty()) absl::StrAppend(&text_, "  ", protocol::ToAbsl(remark));
  }
  void Count(std::string_view name, uint64_t count, std::string_view remark = {}) {
    Row(name, absl::StrCat(count), remark);
  }
  // Only for what happened.
  void CountIfAny(std::string_view name, uint64_t count, std::string_view remark) {
    if (count > 0) Count(name, count, remark);
  }
  void Span(std::string_view name, std::optional<uint64_t> span_ms) {
    Row(name, span_ms ? cli::HumanDuration(*span_ms) : "-");
  }
  void Line(std::string_view line) { absl::StrAppend(&text_, "\n", protocol::ToAbsl(line)); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::optional<uint64_t> Percentile(std::vector<uint64_t>* values, uint32_t percent) {
  if (values->empty()) return std::nullopt;
  const size_t rank = (values->size() * percent + 99) / 100;
  const auto nth = values->begin() + static_cast<ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(values->begin(), nth, values->end());
  return *nth;
}

std::optional<uint64_t> AdmissionsPerSecondMilli(std::span<const Admission> admissions) {
  if (admissions.empty()) return std::nullopt;
  const auto [first, last] = std::minmax_element(
      admissions.begin(), admissions.end(),
      [](const Admission& a, const Admission& b) { return a.admitted_at_ms < b.admitted_at_ms; });
  const uint64_t span_ms = last->admitted_at_ms - first->admitted_at_ms;
  if (span_ms == 0) return std::nullopt;
  return (admissions.size() - 1) * 1'000'000 / span_ms;
}

cli::Json ToJson(const Report& report) {
  cli::Json json = cli::Json::object();
  const auto add_if_any = [&](const char* name, const std::optional<uint64_t>& value) {
    if (value) json[name] = *value;
  };
  const CrowdCounts& counts = report.counts;
  json["joined"] = counts.joined;
  json["admitted"] = counts.admitted;
  json["finished"] = counts.finished;
  json["longest_line"] = counts.longest_line;
  add_if_any("wait_p50_ms", report.wait_p50_ms);
  add_if_any("wait_p95_ms", report.wait_p95_ms);
  add_if_any("wait_max_ms", report.wait_max_ms);
  if (report.admissions_per_s_milli) {
    json["admissions_per_s"] = static_cast<double>(*report.admissions_per_s_milli) / 1000;
  }
  json["unreadable_lines"] = report.unreadable_lines;
  json["violations"] = report.violations.count();
  if (report.violations.count() > 0) json["violations_told"] = report.violations.told();
  if (report.settings_changed) json["settings_changed"] = true;
  json["refused"] = RefusedTotal(counts);
  if (!counts.refused.empty()) {
    auto& by_error = json["refused_by_error"];
    for (const auto& [error, count] : counts.refused) by_error[Name(error)] = count;
  }
  json["no_shows"] = counts.no_shows;
  json["expired"] = counts.expired;
  json["removed"] = counts.removed;
  json["sent_home"] = counts.sent_home;
  json["left_over"] = report.left_over;
  json["end"] = report.end;
  json["duration_ms"] = report.duration_ms;
  json["lag_ms_max"] = counts.lag_ms_max;
  json["seed"] = report.seed;
  return json;
}

std::string FormatTable(const Report& report) {
  const CrowdCounts& counts = report.counts;
  Rows rows;
  rows.Count("joined", counts.joined);
  for (const auto& [error, count] : counts.refused) {
    rows.Count("refused", count, absl::StrCat("at the join: ", Name(error)));
  }
  rows.Count("admitted", counts.admitted);
  rows.Count("finished", counts.finished);
  rows.CountIfAny("no-shows", counts.no_shows, "claimed too late");
  rows.CountIfAny("expired", counts.expired, "the session ran out before the visitor had finished");
  rows.CountIfAny("removed", counts.removed, "by the room's rules or an operator");
  rows.CountIfAny("sent home", counts.sent_home, "because the rehearsal ended early");
  rows.CountIfAny("left over", report.left_over, "still in the room");
  rows.Count("longest line", counts.longest_line);
  rows.Span("wait, half within", report.wait_p50_ms);
  rows.Span("wait, 95% within", report.wait_p95_ms);
  rows.Span("wait, longest", report.wait_max_ms);
  const auto per_s_milli = report.admissions_per_s_milli;
  rows.Row("admissions per s",
           per_s_milli ? absl::StrFormat("%d.%02d", *per_s_milli / 1000, *per_s_milli % 1000 / 10)
                       : "-");
  rows.Count("unreadable lines", report.unreadable_lines);
  rows.Count("violations", report.violations.count(),
             report.settings_changed
                 ? "order only: the settings changed, so rate and capacity were not checked"
                 : "of order, rate, capacity; nobody admitted twice");
  for (const std::string& text : report.violations.told()) rows.Line("  " + text);
  const uint64_t untold = report.violations.count() - report.violations.told().size();
  if (untold > 0) rows.Line(absl::StrCat("  and ", untold, " more"));
  return std::move(rows).text();
}

}  // namespace anteroom::tools
