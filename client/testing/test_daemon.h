// A daemon for the tests of a program that uses libanteroom: the real engine, in this process, with
// a clock that the test moves, and refusals, lost messages and outages that it asks for.
//
//   testing::TestDaemon daemon;
//   client::ClientOptions options;
//   options.addresses = {daemon.address()};
//   client::Client client(options);
//   …
//   daemon.Advance(absl::Minutes(5));                     // every deadline on the way is met
//   daemon.LoseReplyNext(protocol::Operation::kJoin);     // done, but the client never hears of it
//
// It answers every operation of the protocol as anteroomd with a virtual clock does; both clients
// are tested as they are, over a Unix socket in a folder of its own that is removed at the end. All
// is in memory, and all is the same in every run, tokens included: its key is no secret.
//
// Other than anteroomd's:
// - Watches have no cadence: whatever has changed is pushed at once, but for positions during an
//   Advance, of which the latest is pushed at its end.
// - There is no disk, so nothing waits for one and health tells of none.
// - Everybody is an operator. It asks for no credentials, and a client that has some does not talk
// to
//   such a daemon, so a test leaves them out.
//
// A ping settles things, on both clients: when its answer is there, a watch that was asked for
// before it has arrived, and all that a function here pushed before it has been told.
//
// A misuse that only a mistake in the test can make (a negative duration, no folder for temporary
// files) ends the process with a message.
//
// Threads: any, but for the constructor and the destructor. It has one thread of its own, which
// takes no signals. Functions wait for that thread, never for a client, and may be called from a
// client's callbacks. A forked child must leave it alone, its destructor too.
#ifndef ANTEROOM_CLIENT_TESTING_TEST_DAEMON_H_
#define ANTEROOM_CLIENT_TESTING_TEST_DAEMON_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "protocol/messages.h"
#include "protocol/operations.h"
#include "protocol/refusal.h"

namespace anteroom::testing {

// What a client sees of a lost message.
enum class Loss : uint8_t {
  kHangUp,   // the connection is closed: the call fails with connection_lost
  kSilence,  // nothing: the call fails at its deadline
};

class TestDaemon {
 public:
  // Listens already when it returns. The clock shows 0, and there are no rooms.
  TestDaemon();
  // Hangs up on every client.
  ~TestDaemon();
  TestDaemon(const TestDaemon&) = delete;
  TestDaemon& operator=(const TestDaemon&) = delete;

  // For ClientOptions::addresses; the same as long as the daemon lives.
  std::string address() const;

  // ---- time ----

  // What `at_ms` of a reply counts by. It stands still unless it is advanced.
  int64_t now_ms() const;
  // Moves the clock forward, at most 365 days, stopping at every due moment on the way; returns
  // when all is done. Parts of a millisecond are dropped. Also while the daemon is away.
  void Advance(absl::Duration duration);
  void AdvanceMs(int64_t duration_ms);

  // ---- faults: of the next requests of one operation, in the order in which they were asked ----

  // The next `times` such requests get this refusal and are not done.
  void RefuseNext(protocol::Operation operation, const protocol::Refusal& refusal,
                  size_t times = 1);
  // The next such request is never done.
  void LoseRequestNext(protocol::Operation operation, Loss loss = Loss::kHangUp);
  // The next such request is done, and its answer lost.
  void LoseReplyNext(protocol::Operation operation, Loss loss = Loss::kHangUp);
  // How many requests have yet to come for all that was asked to have happened.
  size_t faults_left() const;
  void ClearFaults();

  // ---- outages ----

  // Hangs up on every client; they may come back at once.
  void Disconnect();
  // Hangs up, and nobody can connect until ComeBack. Rooms and people stay, time can be moved.
  void GoAway();
  void ComeBack();

  // ---- a look inside, past the wire ----

  // Nothing when there is no such room.
  std::optional<protocol::Counts> Counts(std::string_view room) const;
  // Requests of this operation that have arrived, refused and lost ones included.
  uint64_t requests(protocol::Operation operation) const;
  // Clients connected, and greeted.
  size_t connections() const;

  void check_invariants() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_TEST_DAEMON_H_
