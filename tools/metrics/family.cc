#include "tools/metrics/family.h"

#include "server/base/check.h"
#include "tools/cli/human.h"

namespace anteroom::metrics {
namespace {

constexpr std::string_view kPrefix = "anteroom_";

Family Make(std::string_view name, std::string_view help, prometheus::MetricType type) {
  Family family;
  family.name = std::string(kPrefix) + std::string(name);
  family.help = help;
  family.type = type;
  return family;
}

}  // namespace

Family Gauge(std::string_view name, std::string_view help) {
  CHECK(!name.ends_with("_total"));
  return Make(name, help, prometheus::MetricType::Gauge);
}

Family Counter(std::string_view name, std::string_view help) {
  CHECK(name.ends_with("_total"));
  return Make(name, help, prometheus::MetricType::Counter);
}

void Add(Family* family, double value, Labels labels) {
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  metric.label.reserve(labels.size());
  for (const auto& [name, text] : labels) {
    metric.label.push_back({std::string(name), cli::Printable(text)});
  }
  if (family->type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

Family Histogram(std::string_view name, std::string_view help,
                 const protocol::Latencies& latencies) {
  Family family = Make(name, help, prometheus::MetricType::Histogram);
  auto& histogram = family.metric.emplace_back().histogram;
  histogram.sample_count = latencies.count;
  histogram.sample_sum = SecondsOfUs(latencies.sum_us);
  histogram.bucket.reserve(latencies.buckets.size());
  for (const protocol::LatencyBucket& bucket : latencies.buckets) {
    histogram.bucket.push_back({bucket.count, SecondsOfUs(bucket.at_most_us)});
  }
  return family;
}

Family Gauge(std::string_view name, std::string_view help, double value) {
  Family family = Gauge(name, help);
  Add(&family, value);
  return family;
}

Family Counter(std::string_view name, std::string_view help, double value) {
  Family family = Counter(name, help);
  Add(&family, value);
  return family;
}

Family StateSet(std::string_view name, std::string_view help, std::string_view label,
                std::initializer_list<std::string_view> known, std::string_view state) {
  Family family = Gauge(name, help);
  bool found = false;
  for (const std::string_view one : known) {
    found = found || one == state;
    Add(&family, one == state ? 1 : 0, {{label, one}});
  }
  if (!found) Add(&family, 1, {{label, state}});
  return family;
}

}  // namespace anteroom::metrics
