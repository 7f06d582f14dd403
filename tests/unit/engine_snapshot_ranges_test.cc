// Entries of a snapshot that say what no engine can be, one at a time: each is refused, with words
// for it.

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "protocol/codec.h"
#include "server/engine/snapshot.h"
#include "tests/support/engine_entries.h"

namespace anteroom {
namespace {

// A room in which everybody is somebody else.
struct SmallState {
  SmallState() {
    engine.now_ms = 1000;
    engine.next_arrival = 10;
    engine.next_admission = 10;
    engine.next_memory = 10;
    engine.next_room = 5;
    engine.rooms = engine.memories = engine.blocks = 1;
    engine.visitors = 2;
    room.name = "sale";
    room.number = 1;
    room.revision = 1;
    room.settings = protocol::DefaultSettings();
    room.settings.rate = protocol::Rate{5, 1000};
    room.totals.assign(sizeof(Totals) / sizeof(uint64_t), 0);
    waiting = {.visitor = "w", .lane = 1, .requeues = 0, .arrival = 3, .at_ms = 5};
    inside = {.visitor = "i",
              .lane = 1,
              .requeues = 0,
              .arrival = 2,
              .at_ms = 5,
              .active = false,
              .admission = 4,
              .deadline_ms = 2000,
              .timed = true};
    memory = {.visitor = "m",
              .reason = protocol::Reason::kLeft,
              .late = false,
              .lane = 1,
              .arrival = 1,
              .admission = 2,
              .at_ms = 5,
              .forget_at_ms = 3000,
              .sequence = 1};
    block = {.visitor = "b", .until_ms = 4000, .sequence = 2};
  }

  std::vector<std::string> Entries() const {
    std::vector<std::string> entries = {Bytes(engine), Bytes(room),   Bytes(waiting),
                                        Bytes(inside), Bytes(memory), Bytes(block)};
    entries.insert(entries.end(), more.begin(), more.end());
    return entries;
  }

  template <typename Entry>
  static std::string Bytes(const Entry& entry) {
    std::string bytes(1, static_cast<char>(Entry::kType));
    protocol::Encode(entry, &bytes);
    return bytes;
  }

  snapshot::Engine engine;
  snapshot::Room room;
  snapshot::Waiting waiting;
  snapshot::Inside inside;
  snapshot::Memory memory;
  snapshot::Block block;
  std::vector<std::string> more;
};

std::string WrongWith(const std::function<void(SmallState&)>& change) {
  SmallState state;
  change(state);
  Engine engine(EngineOptions{});
  return LoadEntries(state.Entries(), &engine);
}

struct RangeCase {
  const char* words;
  std::function<void(SmallState&)> change;
};

void CheckEach(const std::vector<RangeCase>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const std::string wrong = WrongWith(cases[i].change);
    CAPTURE(wrong);
    CHECK(wrong.find(cases[i].words) != std::string::npos);
  }
}

constexpr int64_t kFarMs = std::numeric_limits<int64_t>::max();
constexpr uint64_t kMuch = std::numeric_limits<uint64_t>::max();

TEST_CASE("snapshot ranges: the state that the others differ from is right") {
  CHECK_EQ(WrongWith([](SmallState&) {}), "");
}

TEST_CASE("snapshot ranges: the engine") {
  constexpr char kCounters[] = "counters are out of their ranges";
  CheckEach({
      {kCounters, [](SmallState& s) { s.engine.now_ms = -1; }},
      {kCounters, [](SmallState& s) { s.engine.now_ms = kFarMs; }},
      {kCounters, [](SmallState& s) { s.engine.next_arrival = 0; }},
      {kCounters, [](SmallState& s) { s.engine.next_arrival = kMuch; }},
      {kCounters, [](SmallState& s) { s.engine.next_admission = 0; }},
      {kCounters, [](SmallState& s) { s.engine.next_admission = kMuch; }},
      {kCounters, [](SmallState& s) { s.engine.next_memory = 0; }},
      {kCounters, [](SmallState& s) { s.engine.next_memory = kMuch; }},
      {kCounters, [](SmallState& s) { s.engine.next_room = 0; }},
      {"so many keys", [](SmallState& s) { s.engine.token_keys.emplace(); }},
      {"out of order",
       [](SmallState& s) {
         s.engine.token_keys = {{{0, 7}}};
       }},
      {"out of order",
       [](SmallState& s) {
         s.engine.token_keys = {{{99, 7}}};
       }},
      {"out of order",
       [](SmallState& s) {
         s.engine.token_keys = {{{2, 0}}};
       }},
      {"out of order",
       [](SmallState& s) {
         s.engine.token_keys = {{{2, 7}, {2, 8}}};
       }},
      {"out of order",
       [](SmallState& s) {
         s.engine.token_keys = {{{2, 7}, {3, 7}}};
       }},
      {"as many as it says", [](SmallState& s) { s.engine.rooms = 2; }},
      {"as many as it says", [](SmallState& s) { s.engine.visitors = 3; }},
      {"as many as it says", [](SmallState& s) { s.engine.memories = 2; }},
      {"as many as it says", [](SmallState& s) { s.engine.blocks = 0; }},
  });
}

TEST_CASE("snapshot ranges: a room") {
  CheckEach({
      {"a room's name is", [](SmallState& s) { s.room.name = "Sale"; }},
      {"claim_ttl is", [](SmallState& s) { s.room.settings.claim_ttl = protocol::Duration{0}; }},
      {"number is out of order", [](SmallState& s) { s.room.number = 0; }},
      {"number is out of order", [](SmallState& s) { s.room.number = 5; }},
      {"totals", [](SmallState& s) { s.room.totals.pop_back(); }},
      {"in the future", [](SmallState& s) { s.room.bucket_filled_at_ms = 1001; }},
      {"than its rate holds", [](SmallState& s) { s.room.bucket_level = kMuch; }},
      {"due at no time", [](SmallState& s) { s.room.bucket_due_ms = -1; }},
      {"due at no time", [](SmallState& s) { s.room.bucket_due_ms = kFarMs; }},
      {"a key is none",
       [](SmallState& s) {
         s.room.admit_keys = {{"", 1, 1, 1, 2000}};
       }},
      {"a key is none",
       [](SmallState& s) {
         s.room.admit_keys = {{"k", 1, 9999, 1, 2000}};
       }},
      {"a key is none",
       [](SmallState& s) {
         s.room.admit_keys = {{"k", 1, 1, 10, 2000}};
       }},
      {"a key is none",
       [](SmallState& s) {
         s.room.admit_keys = {{"k", 1, 1, 1, -1}};
       }},
      {"too many keys",
       [](SmallState& s) {
         s.room.admit_keys.assign(1001, {"k", 1, 1, 1, 2000});
       }},
      {"sold is not complete", [](SmallState& s) { s.room.sold_units = 1; }},
  });
}

TEST_CASE("snapshot ranges: who waits, and who is inside") {
  CheckEach({
      {"without an id", [](SmallState& s) { s.waiting.visitor = ""; }},
      {"of the future", [](SmallState& s) { s.waiting.arrival = 0; }},
      {"of the future", [](SmallState& s) { s.waiting.arrival = 10; }},
      {"of the future", [](SmallState& s) { s.waiting.at_ms = -1; }},
      {"of the future", [](SmallState& s) { s.inside.at_ms = 1001; }},
      {"stands in it twice", [](SmallState& s) { s.inside.visitor = "w"; }},
      {"admissions are out of order", [](SmallState& s) { s.inside.admission = 0; }},
      {"admissions are out of order", [](SmallState& s) { s.inside.admission = 10; }},
      {"no right deadline", [](SmallState& s) { s.inside.deadline_ms = kFarMs; }},
      {"no right deadline", [](SmallState& s) { s.inside.deadline_ms.reset(); }},
      {"no right deadline",
       [](SmallState& s) {
         s.inside.deadline_ms.reset();
         s.inside.timed = false;
       }},
      {"no right deadline", [](SmallState& s) { s.inside.timed = false; }},
      {"out of order",
       [](SmallState& s) {
         s.more = {SmallState::Bytes(snapshot::Waiting{.visitor = "late", .arrival = 4})};
       }},
      {"come after the memories",
       [](SmallState& s) {
         snapshot::Inside other = s.inside;
         other.visitor = "o";
         other.admission = 5;
         s.more = {SmallState::Bytes(other)};
       }},
  });
}

TEST_CASE("snapshot ranges: who is remembered, and who is kept out") {
  constexpr char kRemembered[] = "remembered is out of the ranges";
  constexpr char kKeptOut[] = "kept out is out of the ranges";
  CheckEach({
      {kRemembered, [](SmallState& s) { s.memory.visitor = ""; }},
      {kRemembered, [](SmallState& s) { s.memory.reason = protocol::Reason::kPaused; }},
      {kRemembered, [](SmallState& s) { s.memory.at_ms = 1001; }},
      {kRemembered, [](SmallState& s) { s.memory.admission = 10; }},
      {kRemembered, [](SmallState& s) { s.memory.arrival = 10; }},
      {kRemembered, [](SmallState& s) { s.memory.forget_at_ms = kFarMs; }},
      {kRemembered, [](SmallState& s) { s.memory.sequence = 10; }},
      {"ended and goes on", [](SmallState& s) { s.memory.admission = 4; }},
      {"an admission ended twice",
       [](SmallState& s) {
         snapshot::Memory other = s.memory;
         other.visitor = "o";
         s.more = {SmallState::Bytes(other)};
       }},
      {kKeptOut, [](SmallState& s) { s.block.visitor = ""; }},
      {kKeptOut, [](SmallState& s) { s.block.until_ms = -1; }},
      {kKeptOut, [](SmallState& s) { s.block.sequence = 10; }},
      {"kept out twice", [](SmallState& s) { s.more = {SmallState::Bytes(s.block)}; }},
  });
}

TEST_CASE("snapshot ranges: what is left to do") {
  CheckEach({
      {"nobody to let in",
       [](SmallState& s) { s.more = {SmallState::Bytes(snapshot::PumpPending{2})}; }},
      {"nobody to let in",
       [](SmallState& s) { s.more.assign(2, SmallState::Bytes(snapshot::PumpPending{1})); }},
      {"was not dropped",
       [](SmallState& s) { s.more = {SmallState::Bytes(snapshot::Dropped{1})}; }},
      {"was not dropped",
       [](SmallState& s) { s.more = {SmallState::Bytes(snapshot::Dropped{2})}; }},
      {"as many as it says", [](SmallState& s) { s.room.dropped = true; }},
      {"unknown type", [](SmallState& s) { s.more = {"\x09"}; }},
      {"malformed", [](SmallState& s) { s.more = {"\x03"}; }},
  });
}

}  // namespace
}  // namespace anteroom
