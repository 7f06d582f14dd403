// Asks a daemon for one scrape after another.
#ifndef ANTEROOM_TOOLS_METRICS_COLLECTOR_H_
#define ANTEROOM_TOOLS_METRICS_COLLECTOR_H_

#include <prometheus/collectable.h>

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/client.h"
#include "tools/metrics/reading.h"

namespace anteroom::metrics {

struct Answered {
  Reading reading;
  absl::Status status;  // why something is absent from it; else OK
};

// Asks for health, the sum of all rooms, and the first `rooms_max` rooms by name, in at most
// limits' kScrapeMsMax. Any thread.
Answered Ask(client::Client& client, size_t rooms_max);

// The same for whoever serves scrapes. It keeps one connection, so that a daemon whose connections
// are all taken can still be looked at.
//
// Threads: Collect any, at the same time too. `on_change` is called when what is wrong has changed,
// with OK when nothing is any more; one call at a time, on a thread that collects.
class Collector : public prometheus::Collectable {
 public:
  using OnChange = std::function<void(const absl::Status&)>;
  Collector(const client::ClientOptions& options, size_t rooms_max, OnChange on_change);

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  void Tell(const absl::Status& status) const;

  // The interface says const, the connection lives.
  mutable client::Client client_;
  const size_t rooms_max_;
  const OnChange on_change_;
  mutable std::mutex mutex_;
  mutable absl::StatusCode told_ = absl::StatusCode::kOk;
};

}  // namespace anteroom::metrics

#endif  // ANTEROOM_TOOLS_METRICS_COLLECTOR_H_
