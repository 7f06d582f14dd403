// What the clients of a simulation ask and are told, as values that can be sent again.
#ifndef ANTEROOM_TESTS_SIM_ASK_H_
#define ANTEROOM_TESTS_SIM_ASK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/kinds.h"
#include "protocol/settings.h"
#include "server/engine/desk.h"
#include "tests/sim/names.h"

namespace anteroom::sim {

enum class Op : uint8_t {
  kJoin,
  kEnter,
  kStatus,
  kLook,  // what a watch pushes
  kLeave,
  kVerify,
  kClaim,
  kTouch,
  kFinish,
  kAdmit,
  kAdmitVisitor,
  kRevoke,
  kRoomCreate,
  kRoomSet,
  kRoomReset,
  kRoomDelete,
  kRotateTokenKey,
};

// Whether it is about one visitor.
inline bool IsAboutVisitor(Op op) {
  return op < Op::kAdmit || op == Op::kAdmitVisitor || op == Op::kRevoke;
}

struct Ask {
  Op op = Op::kStatus;
  uint32_t room = 0;
  uint32_t visitor = 0;
  std::optional<uint8_t> lane;
  std::optional<uint64_t> admission;  // whose token is shown
  uint32_t token_key = 0;             // and the key that it is made with
  protocol::Outcome outcome = protocol::Outcome::kCancelled;
  std::optional<uint32_t> units;  // of what is completed
  uint64_t key = 0;               // of an admit; 0: none
  uint32_t count = 0;
  bool force = false;  // over, of an admit; force, of a delete
  std::optional<int64_t> block_ms;
  std::optional<uint64_t> if_revision;
  std::shared_ptr<const protocol::RoomSettings> settings;
};

struct ToldAdmitted {
  uint32_t visitor = 0;
  uint64_t admission = 0;
  uint32_t token_key = 0;  // that the token is made with

  bool operator==(const ToldAdmitted&) const = default;
};

// An answer, without what is advice only (estimates, when to ask again).
struct Told {
  std::optional<protocol::ErrorCode> refusal;
  std::optional<protocol::Reason> reason;

  // Of a visitor.
  std::optional<protocol::State> state;
  std::optional<protocol::Mode> mode;
  std::optional<uint64_t> ahead;
  std::optional<uint64_t> waiting;
  std::optional<uint64_t> arrival;
  std::optional<uint64_t> admission;
  std::optional<uint32_t> token_key;  // that the token is made with
  std::optional<uint64_t> at_ms;
  std::optional<uint64_t> expires_in_ms;
  bool late = false;

  // Of an admit by count.
  uint32_t count = 0;
  std::vector<ToldAdmitted> admitted;

  // Of a room.
  std::optional<uint64_t> revision;

  bool operator==(const Told&) const = default;
};

// Of a rotation; the new key is in `token_key`, its first admission in `admission`.
Told From(const Answer<protocol::TokenKeyReply>& answer);

// Has the desk answer, unless it is a rotation, which the daemon begins. Checks what an answer must
// be whatever the state: position and token.
Told Perform(Desk& desk, const Names& names, const Ask& ask);

// For messages.
std::string ToText(const Ask& ask);
std::string ToText(const Told& told);

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_ASK_H_
