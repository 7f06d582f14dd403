// The people of a rehearsal who are in the room or on their way: who they are and where they are.
#ifndef ANTEROOM_TOOLS_REHEARSE_VISITORS_H_
#define ANTEROOM_TOOLS_REHEARSE_VISITORS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/codec.h"

namespace anteroom::tools {

struct Visitor;

// What somebody does next, by the moment it is due (milliseconds of the rehearsal's own clock).
using Agenda = std::multimap<int64_t, Visitor*>;

enum class Stage : uint8_t {
  kJoining,    // the join has no answer yet
  kWaiting,    // in line
  kClaiming,   // admitted; the claim is under way
  kActive,     // in session
  kFinishing,  // the finish is under way
};
inline constexpr size_t kStages = 5;

struct Visitor {
  std::string id;
  Stage stage = Stage::kJoining;
  bool polled = false;      // asked about now and then, because a watch was refused
  bool going_home = false;  // leave or finish is asked for because the rehearsal ends early

  uint64_t arrival = 0;
  uint64_t waiting_since_ms = 0;  // engine time
  protocol::Token token;

  // The admission that is not over, as an index into those of the crowd.
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  size_t admission = kNone;

  int64_t session_ends_ms = 0;  // the rehearsal's clock
  std::optional<Agenda::iterator> due;

  // Where the watch holds this visitor.
  size_t watch = kNone;
  size_t watch_slot = 0;
};

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Addresses stay as they are while a visitor is in it.
using VisitorTable = std::unordered_map<std::string, Visitor, TextHash, std::equal_to<>>;

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_VISITORS_H_
