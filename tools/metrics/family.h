// Making families of metrics: one name with its help and type, and a value for each set of labels.
// Pure functions.
#ifndef ANTEROOM_TOOLS_METRICS_FAMILY_H_
#define ANTEROOM_TOOLS_METRICS_FAMILY_H_

#include <prometheus/metric_family.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/messages.h"

namespace anteroom::metrics {

using Family = prometheus::MetricFamily;
using Families = std::vector<Family>;

// Name and value of each. Values may be anything: what is no text is shown as \xNN, for Prometheus
// refuses a whole scrape that is not UTF-8.
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// `name` without the prefix that all have.
Family Gauge(std::string_view name, std::string_view help);
// `name` with the `_total` that every counter ends with.
Family Counter(std::string_view name, std::string_view help);

void Add(Family* family, double value, Labels labels = {});

// A histogram in seconds, of one set of times.
Family Histogram(std::string_view name, std::string_view help,
                 const protocol::Latencies& latencies);

// A family of one value.
Family Gauge(std::string_view name, std::string_view help, double value);
Family Counter(std::string_view name, std::string_view help, double value);

// 1 for the state that is, 0 for each other one of `known`; a state that is not among them is
// added.
Family StateSet(std::string_view name, std::string_view help, std::string_view label,
                std::initializer_list<std::string_view> known, std::string_view state);

// In the base units that Prometheus wants.
inline double SecondsOfMs(uint64_t ms) {
  return static_cast<double>(ms) / 1e3;
}
inline double SecondsOfUs(uint64_t us) {
  return static_cast<double>(us) / 1e6;
}

}  // namespace anteroom::metrics

#endif  // ANTEROOM_TOOLS_METRICS_FAMILY_H_
