#include "tools/metrics/exposition.h"

#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>
#include <pthread.h>
#include <signal.h>

#include <exception>
#include <vector>

#include "server/base/check.h"
#include "server/base/listen_address.h"
#include "tools/metrics/limits.h"

namespace anteroom::metrics {
namespace {

// SIGINT and SIGTERM wait until they are asked for, in this thread and in those that it starts.
class HeldSignals {
 public:
  HeldSignals() {
    CHECK_EQ(sigemptyset(&held_), 0);
    CHECK_EQ(sigaddset(&held_, SIGINT), 0);
    CHECK_EQ(sigaddset(&held_, SIGTERM), 0);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &held_, &before_), 0);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  void Await() const {
    int signal = 0;
    CHECK_EQ(sigwait(&held_, &signal), 0);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

}  // namespace

std::string TextOf(const Families& families) {
  return prometheus::TextSerializer().Serialize(families);
}

absl::StatusOr<std::string> CheckListenAddress(std::string_view text, bool public_too) {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(text);
  if (!address.ok()) return address.status();
  if (!public_too && !address->is_loopback()) {
    return absl::InvalidArgumentError(
        "\"" + std::string(text) +
        "\" is beyond this machine, where anybody could read the metrics; if that is meant, say "
        "--public");
  }
  return address->ToText();
}

absl::Status Serve(const std::string& address,
                   const std::function<std::shared_ptr<prometheus::Collectable>()>& make,
                   const std::function<void(const std::string& url)>& on_listening) {
  const HeldSignals signals;
  try {
    const std::string silent_ms = std::to_string(kScraperSilentMsMax);
    prometheus::Exposer exposer(std::vector<std::string>{"listening_ports", address, "num_threads",
                                                         std::to_string(kScrapesAtATimeMax),
                                                         "request_timeout_ms", silent_ms});
    const std::shared_ptr<prometheus::Collectable> collectable = make();
    exposer.RegisterCollectable(collectable);
    const std::string host = address.substr(0, address.rfind(':'));
    on_listening("http://" + host + ":" + std::to_string(exposer.GetListeningPorts().at(0)) +
                 "/metrics");
    signals.Await();
  } catch (const std::exception& error) {
    return absl::UnavailableError("cannot listen on " + address + ": " + error.what());
  }
  return absl::OkStatus();
}

}  // namespace anteroom::metrics
