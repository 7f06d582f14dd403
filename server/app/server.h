// The daemon once it is recovered: one loop that owns everything that changes. A turn of it:
//
//   libuv reads, writes on, tells of a batch on disk
//   1  the clock is read, once; what is due by now is done, and watches push it; a key of tokens
//      that has come onto the disk comes into use
//   2  what the disk has taken may leave; what was staged meanwhile goes to the disk
//   3  all requests that have arrived are worked, as far as the budgets go, in chunks; between two
//      chunks the disk gets the next batch if it is done with the one before
//   4  watches push; a stop goes on
//   5  what was staged goes to the disk, if nothing is on its way
//   6  one write for each connection that has something to say
//
// Threads: the one that runs it.
#ifndef ANTEROOM_SERVER_APP_SERVER_H_
#define ANTEROOM_SERVER_APP_SERVER_H_

#include <uv.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/app/answer_times.h"
#include "server/app/clock_advance.h"
#include "server/app/credentials_file.h"
#include "server/app/engine_clock.h"
#include "server/app/group_commit.h"
#include "server/app/options.h"
#include "server/app/recovery.h"
#include "server/app/snapshots.h"
#include "server/app/token_key_rotations.h"
#include "server/auth/token_authority.h"
#include "server/engine/desk.h"
#include "server/engine/meter.h"
#include "server/net/connections.h"
#include "server/net/listener.h"
#include "server/net/watches.h"

namespace anteroom::app {

// Invariants: while the log takes nothing the engine's clock stands still; from the stop on no
// record is made.
class Server : private net::RequestWorker {
 public:
  // `files` and `credentials`, which may be nullptr, outlive it.
  Server(const Options& options, storage::Files* files, Recovered recovered,
         CredentialsFile* credentials);
  ~Server();

  // Opens the sockets.
  absl::Status Listen();
  // Where clients connect to, for the line that says so.
  std::string listening_on() const;

  // Runs until a signal and returns the process's exit status.
  int Run();

  void check_invariants();

 private:
  enum class Phase {
    kRunning,
    kStopping,  // new requests are refused, what has arrived goes to the disk
    kEnding,    // the log's end is being written
    kDraining,  // what is owed is sent
    kStopped,
  };

  // ---- a turn; server.cc ----
  void Turn();
  void SettleSpace();
  void StepAdvances();
  void Arm();
  void EverySecond();
  void TrimMemory();
  void SayMemory();

  // ---- stopping; server_stop.cc ----
  void OnSignal(int signal);
  void StepStop();
  void BeginStop();
  void CloseHandles();

  // ---- requests; server_requests.cc ----
  void Work(std::span<const protocol::Request> requests,
            std::span<const net::Arrival> arrivals) override;
  void OnGone(net::Connection* connection) override;
  template <typename OneOperation>
  void WorkOne(const net::Arrival& arrival, const OneOperation& one);
  template <protocol::Operation kOperation, typename Reply>
  void Answer(const net::Arrival& arrival, const anteroom::Answer<Reply>& answer);
  void TakeRotations();
  protocol::HealthReply DescribeHealth();

  uv_loop_t* loop() { return &loop_; }

  const Options options_;
  uv_loop_t loop_;
  CredentialsFile* const credentials_;
  Recovered recovered_;
  auth::TokenAuthority tokens_;
  TokenKeyRotations rotations_;
  GroupCommit commit_;
  Snapshots snapshots_;
  net::Watches watches_;
  Desk desk_;
  EngineClock clock_;
  ClockAdvances advances_;
  net::Connections connections_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;

  Phase phase_ = Phase::kRunning;
  bool stop_asked_ = false;
  uint64_t stop_asked_ms_ = 0;
  int exit_status_ = 0;

  uint64_t started_ms_;
  uint64_t loop_ms_ = 0;
  GroupCommit::Space space_;
  Meter requests_;
  AnswerTimes answer_times_;
  uint64_t disk_free_bytes_ = 0;
  bool statfs_under_way_ = false;
  size_t given_back_bytes_ = 0;  // by connections, and not yet to the system
  uint64_t trimmed_ms_ = 0;
  bool memory_said_ = false;  // that newcomers are refused for it

  uv_check_t turn_;
  uv_idle_t backlog_;  // keeps the loop from sleeping while there is work left
  uv_timer_t wake_;
  uv_timer_t second_;
  uv_signal_t terminate_;
  uv_signal_t interrupt_;
  uv_signal_t hangup_;
  uv_fs_t statfs_;
};

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_SERVER_H_
