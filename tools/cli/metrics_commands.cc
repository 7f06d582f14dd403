// metrics: the daemon in the form that Prometheus reads, once or for every scrape.
#include <memory>

#include "client/failure.h"
#include "protocol/text.h"
#include "tools/cli/command.h"
#include "tools/cli/context.h"
#include "tools/metrics/collector.h"
#include "tools/metrics/exposition.h"
#include "tools/metrics/limits.h"

namespace anteroom::cli {
namespace {

std::string_view CheckMetrics(const Arguments& arguments) {
  if (arguments.output == OutputForm::kJson) return "metrics are text in a form of their own";
  if (arguments.public_too && !arguments.listen) return "--public goes with --listen";
  return "";
}

ExitStatus Once(Context& context, size_t rooms_max) {
  const metrics::Answered answered = metrics::Ask(context.client(), rooms_max);
  // A daemon that is away is a metric; one that refuses has to be told who asks.
  if (!answered.status.ok() && !client::IsUnreachable(answered.status)) {
    return context.Fail(answered.status);
  }
  context.console().out << metrics::TextOf(metrics::FamiliesOf(answered.reading));
  if (!answered.status.ok()) context.Note(protocol::ToStd(answered.status.message()));
  return ExitStatus::kDone;
}

ExitStatus Listen(Context& context, const std::string& said, bool public_too, size_t rooms_max) {
  const absl::StatusOr<std::string> address = metrics::CheckListenAddress(said, public_too);
  if (!address.ok()) return context.WrongUsage(protocol::ToStd(address.status().message()));
  client::ClientOptions options = context.client_options();
  options.reconnect = true;
  options.reconnect_delay_max_ms = metrics::kReconnectMsMax;
  const auto on_change = [&context](const absl::Status& status) {
    if (status.ok()) {
      context.Note("the daemon answers");
    } else {
      context.Note(protocol::ToStd(status.message()));
    }
  };
  const absl::Status status = metrics::Serve(
      *address, [&] { return std::make_shared<metrics::Collector>(options, rooms_max, on_change); },
      [&](const std::string& url) { context.Note("metrics at " + url); });
  return status.ok() ? ExitStatus::kDone
                     : context.Fail("unavailable", protocol::ToStd(status.message()));
}

ExitStatus RunMetrics(Context& context, const Arguments& arguments) {
  const size_t rooms_max = arguments.count.value_or(metrics::kRoomsDefault);
  if (!arguments.listen) return Once(context, rooms_max);
  return Listen(context, *arguments.listen, arguments.public_too, rooms_max);
}

}  // namespace

std::vector<Command> MetricsCommands() {
  return {
      {.name = "metrics",
       .summary = "prints or serves the daemon's metrics, for Prometheus",
       .uses = {{&kMetricsListen, Need::kOptional},
                {&kPublic, Need::kOptional},
                {&kMetricsRooms, Need::kOptional}},
       .example = "anteroom metrics --listen 127.0.0.1:9464",
       .notes =
           "Without --listen once, on standard output. With it, under /metrics until Ctrl-C, and\n"
           "the daemon is asked anew for each scrape. A daemon that is away is no error but\n"
           "`anteroom_up 0`. With credentials the role `reader` is enough.",
       .check = CheckMetrics,
       .run = RunMetrics},
  };
}

}  // namespace anteroom::cli
