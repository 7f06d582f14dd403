// How a client behaves: where the daemon is, how long a call may take, what happens without a
// daemon. Times are in milliseconds; values beyond client/limits.h are brought within them.
#ifndef ANTEROOM_CLIENT_OPTIONS_H_
#define ANTEROOM_CLIENT_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/limits.h"
#include "protocol/credentials.h"
#include "protocol/kinds.h"

namespace anteroom::client {

// What Enter, the question of a door, answers when the daemon cannot be asked.
enum class UnreachablePolicy : uint8_t {
  kHold,     // an error: nobody passes whom the daemon has not let in
  kLetPass,  // `let_pass`: the shop stays open, unprotected, until the daemon is back
};

// A finish_later that will not be delivered: refused for good, too old, or the client was closed.
struct LostFinish {
  std::string room;
  std::string visitor;
  absl::Status why;
};

struct ClientOptions {
  // HOST:PORT, [IPV6]:PORT or unix:PATH, tried in this order; after a loss the one that worked last
  // comes first.
  std::vector<std::string> addresses = {"127.0.0.1:7411"};

  // Who this client is, to a daemon that asks for credentials: a name and its secret, or the file
  // of one line `NAME ROLE SECRET` that holds them, read anew for each connection. With them, a
  // daemon that does not prove that it knows the secret too is not talked to (`unauthorized`), and
  // so is one that asks for no credentials.
  std::optional<protocol::Credential> credential = std::nullopt;
  std::string credentials_path = {};

  // From the call to its answer, waiting for a connection included. CallOptions can say otherwise.
  int64_t call_deadline_ms = 5000;

  // From the first byte to the daemon's greeting, for each address; resolving a name included.
  int64_t connect_timeout_ms = 2000;

  // A call beyond it fails at once, unsent. A call whose deadline has passed counts until its
  // answer comes or the connection is given up.
  size_t requests_in_flight_max = kRequestsInFlightDefault;

  // Without: when no address answers, or the connection is lost, that is final.
  bool reconnect = true;

  // After every address has failed, a random time between half of and the whole delay passes before
  // the next attempt; the delay doubles from the least to the most. After a loss the first attempt
  // comes within the least.
  int64_t reconnect_delay_min_ms = 50;
  int64_t reconnect_delay_max_ms = 5000;

  // While the daemon is known to be away (every address failed), calls fail at once. With this they
  // wait for it until their deadline. Either way a call waits while the first attempt is under way.
  bool wait_for_connection = false;

  // A connection on which nothing arrives for this long is asked for a sign of life, and given up
  // when nothing arrives for as long again.
  int64_t silence_max_ms = 10000;

  UnreachablePolicy when_unreachable = UnreachablePolicy::kHold;

  // Finishes that FinishLater may hold, and how long each is retried.
  size_t finish_later_max = kFinishLaterDefault;
  int64_t finish_later_keep_ms = int64_t{3600} * 1000;

  // Told of each finish_later that is lost, on the thread of the loop.
  std::function<void(const LostFinish&)> on_finish_lost = nullptr;
};

struct CallOptions {
  std::optional<int64_t> deadline_ms = std::nullopt;  // instead of call_deadline_ms
};

// What can be said beside a room and a visitor.

struct JoinOptions {
  std::optional<uint8_t> lane = std::nullopt;
};

struct FinishOptions {
  std::optional<std::string_view> token = std::nullopt;     // only an operator may leave it out
  std::optional<protocol::Outcome> outcome = std::nullopt;  // cancelled unless said
  // With kCompleted, of a room with a stock: units sold, 1 to 1,000,000; 1 unless said.
  std::optional<uint32_t> units = std::nullopt;
};

struct AdmitOptions {
  std::optional<std::string_view> key = std::nullopt;  // the same key lets in the same people
};

struct AdmitVisitorOptions {
  bool over = false;  // even beyond capacity
};

struct RevokeOptions {
  std::optional<int64_t> block_ms = std::nullopt;  // keeps the visitor out for so long
};

struct RoomSetOptions {
  std::optional<uint64_t> if_revision = std::nullopt;  // `conflict` when the room's is another
};

struct RoomDeleteOptions {
  bool force = false;  // even with people in it
};

// Finishes given to FinishLater: how many still wait, and what became of the others.
struct FinishLaterCounts {
  uint64_t pending = 0;
  uint64_t delivered = 0;
  uint64_t lost = 0;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_OPTIONS_H_
