// Commands in any order: the engine's invariants hold, nobody comes in beyond the capacity unless
// sent by hand, and at any point the state saved and loaded is the same and goes on as it would
// have.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <variant>

#include "server/base/check.h"
#include "server/engine/engine.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/command_source.h"
#include "tests/fuzz/targets.h"
#include "tests/support/engine_entries.h"

namespace anteroom::fuzz {
namespace {

class WatchedEngine {
 public:
  void Apply(const std::string& record) {
    int64_t at_ms = 0;
    Command command;
    CHECK(DecodeRecord(record, &at_ms, &command));
    effects_.Clear();
    engine_.Apply(at_ms, command, &effects_);
    const auto* by_hand = std::get_if<command::AdmitVisitor>(&command);
    // What is due is done before the command, and so under the capacity that was there before it.
    for (uint32_t number = 1; number < kRoomsTried; ++number) {
      const Room* room = engine_.RoomAt(number);
      const uint64_t occupied = room == nullptr ? 0 : room->occupied();
      const uint64_t capacity = room == nullptr ? 0 : room->policy.capacity;
      const bool over = by_hand != nullptr && by_hand->room == number && by_hand->over;
      Seen& before = seen_[number];
      CHECK(occupied <= std::max({before.occupied, before.capacity, capacity}) || over);
      before = {occupied, capacity};
    }
    if (copy_ != nullptr) {
      effects_.Clear();
      copy_->Apply(at_ms, command, &effects_);
    }
  }

  // From now on everything is done to a copy too.
  void Copy() {
    engine_.check_invariants();
    if (copy_ != nullptr) CheckSame(engine_, *copy_);
    copy_ = CopyOf(engine_);
  }

  void Check() {
    Copy();
    // What is left to do by now gets done.
    for (int i = 0; i < 20; ++i) {
      std::string tick;
      EncodeRecord(engine_.now_ms(), command::Tick{}, &tick);
      Apply(tick);
    }
    engine_.check_invariants();
    CheckSame(engine_, *copy_);
  }

 private:
  struct Seen {
    uint64_t occupied = 0;
    uint64_t capacity = 0;
  };

  Engine engine_{EngineOptions{.index_seed = 1}};
  std::unique_ptr<Engine> copy_;
  Effects effects_;
  std::array<Seen, kRoomsTried> seen_{};
};

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TryEngine(std::string_view input) {
  ByteSource source(input);
  // The copy is made after so many commands.
  size_t left = 4 * size_t{source.Byte()};
  CommandSource commands(&source);
  WatchedEngine engine;
  for (; !commands.empty(); --left) {
    if (left == 0) engine.Copy();
    engine.Apply(commands.Next());
  }
  engine.Check();
}
