// A state saved and loaded goes on exactly as the first would have; what is no state is refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "server/engine/snapshot.h"
#include "tests/support/engine_entries.h"
#include "tests/support/random_commands.h"
#include "tests/support/sampled.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

void Apply(const std::string& record, Engine* engine) {
  int64_t at_ms = 0;
  Command command;
  REQUIRE(DecodeRecord(record, &at_ms, &command));
  Effects effects;
  engine->Apply(at_ms, command, &effects);
}

// Leaves the engine with more to do than one record does: people of a room to let in, or a deleted
// room to free.
void LeaveUnfinished(Engine* engine, const std::string& name, bool deleted) {
  Effects effects;
  protocol::RoomSettings settings = protocol::DefaultSettings();
  settings.capacity = protocol::Limit{protocol::Limit::kNone};
  settings.mode = protocol::Mode::kPaused;
  engine->Apply(engine->now_ms(), command::RoomCreate{name, settings}, &effects);
  const uint32_t room = engine->FindRoom(name)->number;
  for (int i = 0; i < 900; ++i) {
    const std::string visitor = "crowd-" + std::to_string(i);
    engine->Apply(engine->now_ms(), command::Join{room, visitor, 128}, &effects);
  }
  protocol::RoomSettings open;
  open.mode = protocol::Mode::kQueue;
  if (deleted) {
    engine->Apply(engine->now_ms(), command::RoomDelete{room}, &effects);
  } else {
    engine->Apply(engine->now_ms(), command::RoomSet{room, open}, &effects);
  }
  const std::vector<std::string> entries = EntriesOf(*engine);
  const uint8_t type = deleted ? snapshot::Dropped::kType : snapshot::PumpPending::kType;
  REQUIRE(std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return static_cast<uint8_t>(entry[0]) == type;
  }));
}

TEST_CASE("engine snapshot: what was loaded is what was saved, and goes on as it would have") {
  const uint64_t seed = TestSeed();
  RandomCommands commands(seed);
  std::mt19937_64 random(seed);
  auto engine = std::make_unique<Engine>(EngineOptions{.index_seed = seed});
  for (int round = 0; round < (kSampled ? 150 : 1000); ++round) {
    for (uint64_t left = random() % 300; left > 0; --left) Apply(commands.Next(), engine.get());
    if (round % 25 == 7) {
      LeaveUnfinished(engine.get(), "crowd-" + std::to_string(round), round % 50 == 7);
    }
    const std::vector<std::string> entries = EntriesOf(*engine);
    auto loaded = std::make_unique<Engine>(EngineOptions{.index_seed = random()});
    REQUIRE_EQ(LoadEntries(entries, loaded.get()), "");
    REQUIRE(loaded->digest() == engine->digest());
    REQUIRE(EntriesOf(*loaded) == entries);
    REQUIRE_EQ(loaded->NextDue(), engine->NextDue());
    if (round % 20 == 0) loaded->check_invariants();
    for (uint64_t left = random() % 300; left > 0; --left) {
      const std::string record = commands.Next();
      Apply(record, engine.get());
      Apply(record, loaded.get());
      if (left % 16 == 0) REQUIRE(loaded->digest() == engine->digest());
    }
    REQUIRE(EntriesOf(*loaded) == EntriesOf(*engine));
    if (random() % 2 == 0) engine = std::move(loaded);
  }
  engine->check_invariants();
}

TEST_CASE(
    "engine snapshot: an entry with damage is refused, or gives another digest, or the same") {
  const uint64_t seed = TestSeed();
  RandomCommands commands(seed);
  std::mt19937_64 random(seed);
  Engine engine(EngineOptions{.index_seed = 1});
  for (int i = 0; i < 1500; ++i) Apply(commands.Next(), &engine);
  const std::vector<std::string> entries = EntriesOf(engine);
  int refused = 0;
  constexpr int kRounds = kSampled ? 600 : 3000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> damaged = entries;
    const size_t at = random() % damaged.size();
    std::string& entry = damaged[at];
    switch (random() % 5) {
      case 0:
        entry.resize(random() % entry.size());
        break;
      case 1:
        damaged.erase(damaged.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 2:
        damaged.insert(damaged.begin() + static_cast<ptrdiff_t>(at), damaged[at]);
        break;
      case 3:
        std::swap(damaged[at], damaged[random() % damaged.size()]);
        break;
      default:
        entry[random() % entry.size()] ^= static_cast<char>(1 << random() % 8);
    }
    Engine loaded(EngineOptions{.index_seed = 2});
    if (!LoadEntries(damaged, &loaded).empty()) {
      ++refused;
      continue;
    }
    // What can be loaded can be worked with.
    loaded.check_invariants();
    Effects effects;
    for (int i = 0; i < 50; ++i) loaded.Apply(loaded.now_ms() + i, command::Tick{}, &effects);
    loaded.check_invariants();
  }
  CHECK(refused > kRounds / 2);
}

TEST_CASE("engine snapshot: an empty engine, and what does not begin as one") {
  Engine engine(EngineOptions{});
  const std::vector<std::string> entries = EntriesOf(engine);
  CHECK_EQ(entries.size(), 1);
  Engine loaded(EngineOptions{});
  CHECK_EQ(LoadEntries(entries, &loaded), "");
  CHECK(loaded.digest() == engine.digest());
  Engine other(EngineOptions{});
  CHECK_EQ(LoadEntries({}, &other), "it is empty");
  CHECK_EQ(LoadEntries({std::string(1, '\x07')}, &other), "it does not begin with the engine");
}

}  // namespace
}  // namespace anteroom
