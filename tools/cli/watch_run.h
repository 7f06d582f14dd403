// One `anteroom watch`: prints events as they come until interrupted, for so long, or so many.
//
// Everything happens on the loop's thread. Whoever reads the output slowly holds up this loop, then
// the connection, and in the end the daemon's own bounded buffer, where only the latest is kept.
#ifndef ANTEROOM_TOOLS_CLI_WATCH_RUN_H_
#define ANTEROOM_TOOLS_CLI_WATCH_RUN_H_

#include <uv.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/async_client.h"
#include "tools/cli/arguments.h"
#include "tools/cli/context.h"

namespace anteroom::cli {

// Invariant: once stopped_, nothing more is printed and every handle is closing.
// Threads: one. SIGINT and SIGTERM are taken while it runs.
class WatchRun {
 public:
  WatchRun(Context& context, const Arguments& arguments);
  ~WatchRun();
  WatchRun(const WatchRun&) = delete;
  WatchRun& operator=(const WatchRun&) = delete;

  ExitStatus Run();

  void check_invariants() const;

 private:
  void OnVisitor(const client::VisitorEvent& event);
  void OnRoom(const client::RoomEvent& event);
  // `untold`: nothing has been printed that says why.
  void OnLast(const absl::Status& status, bool untold);
  // Counts as an event. `name` is a visitor's id (bytes) or the room.
  void Print(std::string_view key, std::string_view name, const Json& object,
             std::string_view text);
  void Stop(ExitStatus status);

  Context& context_;
  const Arguments& arguments_;
  uint64_t events_ = 0;
  bool refused_ = false;  // of somebody there is no more to be told, for a reason
  bool stopped_ = false;
  ExitStatus status_ = ExitStatus::kDone;

  uv_loop_t loop_;
  uv_signal_t interrupt_;
  uv_signal_t terminate_;
  uv_timer_t timer_;
  std::unique_ptr<client::AsyncClient> client_;
};

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_WATCH_RUN_H_
