#include "tools/rehearse/rehearse.h"

#include <uv.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/async_client.h"
#include "client/failure.h"
#include "client/loop_handles.h"
#include "protocol/text.h"
#include "server/base/check.h"
#include "tools/cli/human.h"
#include "tools/rehearse/arrivals.h"
#include "tools/rehearse/checks.h"
#include "tools/rehearse/crowd.h"
#include "tools/rehearse/moment.h"
#include "tools/rehearse/progress.h"
#include "tools/rehearse/report.h"

namespace anteroom::tools {
namespace {

using cli::ExitStatus;
using protocol::ToStd;

// ---- what is asked for ----

absl::StatusOr<std::optional<Moment>> MomentOf(const std::string& text, std::string_view flag) {
  if (text.empty()) return std::nullopt;
  const auto moment = ParseMoment(text);
  if (moment) return moment;
  return absl::InvalidArgumentError(absl::StrCat(
      protocol::ToAbsl(flag), " takes a time like 20:15, 20:15:30 or \"1998-06-30 20:15\", not ",
      protocol::EscapeId(text)));
}

absl::StatusOr<Cut> CutOf(const RehearseOptions& options) {
  const auto from = MomentOf(options.from, "--from");
  if (!from.ok()) return from.status();
  const auto to = MomentOf(options.to, "--to");
  if (!to.ok()) return to.status();
  return Cut{*from, *to, options.max_visitors};
}

std::string WrongWithOptions(const RehearseOptions& options) {
  if (!(options.speed > 0) || !std::isfinite(options.speed)) return "--speed must be more than 0";
  if (options.session_ms < 0) return "--session must not be negative";
  if (options.give_up_ms <= 0) return "--give-up must be more than 0";
  return protocol::CheckRoomName(options.room);
}

uint64_t RandomSeed() {
  // Short enough to be typed again, and exact as a number of JSON.
  return std::random_device()();
}

// ---- whether the room can be rehearsed ----

// The room as it is before; or nothing, and why stands on the console.
std::optional<protocol::RoomReply> LookAtRoom(const std::string& room, cli::Context& context,
                                              ExitStatus* failed) {
  const absl::StatusOr<protocol::HealthReply> health = context.client().Health();
  if (!health.ok()) {
    *failed = context.Fail(health.status());
    return std::nullopt;
  }
  if (health->virtual_clock) {
    *failed =
        context.Fail("conflict",
                     "this daemon's clock is virtual and stands still; a rehearsal takes place in "
                     "real time and needs a daemon without --virtual-clock");
    return std::nullopt;
  }
  absl::StatusOr<protocol::RoomReply> shown = context.client().RoomShow(room);
  if (!shown.ok()) {
    *failed = context.Fail(shown.status());
    const auto refusal = client::RefusalOf(shown.status());
    if (refusal && refusal->error == protocol::ErrorCode::kNotFound) {
      context.Note("make it: anteroom room create " + room + " rate=50/s capacity=100");
    }
    return std::nullopt;
  }
  const protocol::Counts& counts = shown->counts;
  if (counts.waiting > 0 || counts.occupied > 0) {
    *failed = context.Fail(
        "conflict", absl::StrCat("room ", room, " holds others: ", counts.waiting, " waiting, ",
                                 counts.occupied, " inside; a rehearsal takes an empty room"));
    return std::nullopt;
  }
  if (shown->settings.mode == protocol::Mode::kClosed) {
    *failed = context.Fail("closed", "room " + room + " is closed: nobody could join");
    return std::nullopt;
  }
  return *std::move(shown);
}

// ---- the rehearsal itself ----

// A loop with a client, a crowd, two signals and the progress bar on it.
class Show {
 public:
  Show(cli::Context& context, ArrivalSource* source, uint64_t visitors, const CrowdPlan& plan)
      : context_(context), visitors_(visitors) {
    CHECK_EQ(uv_loop_init(&loop_), 0);
    client::ClientOptions options = context.client_options();
    options.requests_in_flight_max = client::kRequestsInFlightMax;
    client_.emplace(&loop_, options);
    crowd_.emplace(&loop_, &*client_, source, plan, [this](CrowdEnd end) { OnEnd(end); });
    loop_ref_ = std::make_shared<client::LoopRef>(&loop_);
    redraw_.emplace(loop_ref_, [this] { Redraw(); });
  }

  ~Show() {
    redraw_.reset();
    crowd_.reset();
    client_.reset();
    loop_ref_.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    CHECK_EQ(uv_loop_close(&loop_), 0);
  }
  Show(const Show&) = delete;
  Show& operator=(const Show&) = delete;

  // Until it is over.
  CrowdEnd Run() {
    Listen(&interrupt_, SIGINT);
    Listen(&terminate_, SIGTERM);
    crowd_->Start();
    if (progress_.shown()) Redraw();
    uv_run(&loop_, UV_RUN_DEFAULT);
    progress_.Clear();
    return end_;
  }

  const Crowd& crowd() const { return *crowd_; }

 private:
  void Listen(uv_signal_t* signal, int number) {
    CHECK_EQ(uv_signal_init(&loop_, signal), 0);
    signal->data = this;
    CHECK_EQ(
        uv_signal_start(
            signal, [](uv_signal_t* handle, int) { static_cast<Show*>(handle->data)->OnSignal(); },
            number),
        0);
  }

  void OnSignal() {
    if (interrupted_) return crowd_->Stop();
    interrupted_ = true;
    progress_.Clear();
    context_.Note("sending everyone home; once more to end at once");
    crowd_->SendHome();
  }

  void Redraw() {
    const CrowdCounts& counts = crowd_->counts();
    progress_.Draw({.arrived = counts.arrived,
                    .visitors = visitors_,
                    .waiting = crowd_->waiting(),
                    .inside = crowd_->inside(),
                    .gone = counts.arrived - crowd_->present(),
                    .elapsed_ms = crowd_->elapsed_ms(),
                    .going_home = interrupted_});
    redraw_->Start(Progress::kRedrawMs);
  }

  void OnEnd(CrowdEnd end) {
    end_ = end;
    redraw_->Stop();
    uv_close(reinterpret_cast<uv_handle_t*>(&interrupt_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&terminate_), nullptr);
    client_->Close();
  }

  cli::Context& context_;
  const uint64_t visitors_;
  uv_loop_t loop_{};
  uv_signal_t interrupt_{};
  uv_signal_t terminate_{};
  std::optional<client::AsyncClient> client_;
  std::optional<Crowd> crowd_;
  std::shared_ptr<client::LoopRef> loop_ref_;
  std::optional<client::Timer> redraw_;
  Progress progress_;
  bool interrupted_ = false;
  CrowdEnd end_ = CrowdEnd::kDone;
};

// ---- what came of it ----

std::string_view NameOf(CrowdEnd end) {
  switch (end) {
    case CrowdEnd::kDone:
      return "done";
    case CrowdEnd::kGaveUp:
      return "gave_up";
    case CrowdEnd::kInterrupted:
      return "interrupted";
    case CrowdEnd::kBroken:
      return "broken";
  }
  return {};
}

void Check(const Crowd& crowd, const protocol::RoomReply& room, Report* report) {
  const std::vector<Admission>& admissions = crowd.admissions();
  report->violations = crowd.violations();
  CheckNumbers(admissions, &report->violations);
  CheckOrder(admissions, &report->violations);
  if (report->settings_changed) return;
  const protocol::RoomSettings& settings = room.settings;
  if (settings.rate && settings.mode != protocol::Mode::kPassthrough) {
    CheckRate(admissions, *settings.rate,
              settings.admit_interval.value_or(protocol::Duration{0}).ms, &report->violations);
  }
  if (settings.capacity) CheckCapacity(admissions, *settings.capacity, &report->violations);
}

Report MakeReport(const Crowd& crowd) {
  Report report;
  report.counts = crowd.counts();
  std::vector<uint64_t> waits_ms = crowd.waits_ms();
  report.wait_p50_ms = Percentile(&waits_ms, 50);
  report.wait_p95_ms = Percentile(&waits_ms, 95);
  report.wait_max_ms = Percentile(&waits_ms, 100);
  report.admissions_per_s_milli = AdmissionsPerSecondMilli(crowd.admissions());
  report.left_over = crowd.present();
  report.duration_ms = crowd.elapsed_ms();
  return report;
}

// What is worth a word on standard error, and the exit status.
ExitStatus Conclude(CrowdEnd end, const Crowd& crowd, const Report& report, cli::Context& context) {
  if (report.counts.lag_ms_max >= 1000) {
    context.Note("some arrivals came up to " +
                 cli::HumanDuration(static_cast<uint64_t>(report.counts.lag_ms_max)) +
                 " late: the daemon, or this machine, could not keep up");
  }
  if (end == CrowdEnd::kBroken) {
    const absl::Status& status = crowd.broken();
    context.Note("ended early: " + cli::Printable(ToStd(status.message())));
    return client::IsUnreachable(status) ? ExitStatus::kNoDaemon : ExitStatus::kRefused;
  }
  if (end == CrowdEnd::kGaveUp) {
    context.Note("gave up: nothing moved any more, and those left waiting were sent home");
    return ExitStatus::kRefused;
  }
  if (report.violations.count() > 0) {
    context.Note("the daemon broke a promise: see the violations");
    return ExitStatus::kRefused;
  }
  return ExitStatus::kDone;
}

void Announce(const RehearseOptions& options, const ArrivalSurvey& survey, uint64_t seed,
              cli::Context& context) {
  const auto span_ms = static_cast<uint64_t>(survey.span_ms);
  std::string text = absl::StrCat(survey.visitors, survey.visitors == 1 ? " visitor" : " visitors",
                                  " over ", cli::HumanDuration(span_ms));
  if (options.speed != 1) {
    const double faster_ms = static_cast<double>(span_ms) / options.speed;
    absl::StrAppend(&text, ", here ", cli::HumanDuration(static_cast<uint64_t>(faster_ms)));
  }
  absl::StrAppend(&text, "; sessions of ",
                  cli::HumanDuration(static_cast<uint64_t>(options.session_ms)),
                  " on average, seed ", seed);
  if (survey.unreadable_lines > 0) {
    absl::StrAppend(&text, "; ", survey.unreadable_lines, " of ", survey.lines,
                    " lines cannot be read");
  }
  context.Note(text);
}

}  // namespace

ExitStatus Rehearse(const RehearseOptions& options, cli::Context& context) {
  if (const std::string wrong = WrongWithOptions(options); !wrong.empty()) {
    return context.WrongUsage(wrong);
  }
  const absl::StatusOr<Cut> cut = CutOf(options);
  if (!cut.ok()) return context.WrongUsage(ToStd(cut.status().message()));
  const auto source = OpenArrivals(options.file, *cut);
  if (!source.ok()) return context.WrongUsage(ToStd(source.status().message()));

  ExitStatus failed = ExitStatus::kDone;
  const std::optional<protocol::RoomReply> room = LookAtRoom(options.room, context, &failed);
  if (!room) return failed;

  const absl::StatusOr<ArrivalSurvey> survey = SurveyArrivals(options.file, *cut);
  if (!survey.ok()) return context.WrongUsage(ToStd(survey.status().message()));
  const uint64_t seed = options.seed.value_or(RandomSeed());
  Announce(options, *survey, seed, context);

  Show show(context, source->get(), survey->visitors,
            {.room = options.room,
             .speed = options.speed,
             .session_ms = options.session_ms,
             .seed = seed,
             .sliding = room->settings.session_renewal != protocol::Renewal::kFixed,
             .give_up_ms = options.give_up_ms});
  const CrowdEnd end = show.Run();

  Report report = MakeReport(show.crowd());
  report.end = NameOf(end);
  report.seed = seed;
  report.unreadable_lines = survey->unreadable_lines;
  if (end != CrowdEnd::kBroken) {
    const absl::StatusOr<protocol::RoomReply> after = context.client().RoomShow(options.room);
    report.settings_changed = !after.ok() || after->revision != room->revision;
  }
  Check(show.crowd(), *room, &report);
  if (context.json()) {
    context.PrintJson(ToJson(report));
  } else {
    context.PrintText(FormatTable(report));
  }
  context.console().out.flush();
  return Conclude(end, show.crowd(), report, context);
}

}  // namespace anteroom::tools
