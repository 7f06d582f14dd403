// The text form that Prometheus reads, once and over HTTP.
#ifndef ANTEROOM_TOOLS_METRICS_EXPOSITION_H_
#define ANTEROOM_TOOLS_METRICS_EXPOSITION_H_

#include <prometheus/collectable.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/metrics/family.h"

namespace anteroom::metrics {

std::string TextOf(const Families& families);

// The address in the form that Serve takes. Beyond loopback only if that is `public_too`: there are
// no credentials, and whoever can connect sees every room.
absl::StatusOr<std::string> CheckListenAddress(std::string_view text, bool public_too);

// Answers GET /metrics until SIGINT or SIGTERM, then OK. `on_listening` is told the URL. The caller
// has no other thread that takes these two signals.
absl::Status Serve(const std::string& address,
                   const std::function<std::shared_ptr<prometheus::Collectable>()>& make,
                   const std::function<void(const std::string& url)>& on_listening);

}  // namespace anteroom::metrics

#endif  // ANTEROOM_TOOLS_METRICS_EXPOSITION_H_
