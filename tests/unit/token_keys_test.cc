// Which admission has which key of tokens: in the engine, in its snapshots, at the desk.

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/base/limits.h"
#include "server/engine/snapshot.h"
#include "tests/support/desk_world.h"
#include "tests/support/engine_entries.h"

namespace anteroom {
namespace {

constexpr std::string_view kKeysRoom = "sale";

void Use(Engine& engine, uint32_t key_id) {
  Effects effects;
  engine.Apply(engine.now_ms(), command::UseTokenKey{key_id}, &effects);
  CHECK(effects.visitors.empty());
  CHECK(effects.rooms.empty());
  engine.check_invariants();
}

void LetIn(Engine& engine, const std::string& visitor) {
  Effects effects;
  if (engine.FindRoom(kKeysRoom) == nullptr) {
    engine.Apply(engine.now_ms(), command::RoomCreate{kKeysRoom, protocol::DefaultSettings()},
                 &effects);
  }
  engine.Apply(engine.now_ms(), command::AdmitVisitor{1, visitor, true}, &effects);
}

using Ranges = std::vector<TokenKeyRange>;

TEST_CASE(
    "token keys: admissions before the first use the directory's first, later ones what is named") {
  Engine engine(EngineOptions{});
  const Digest without = engine.digest();
  CHECK_EQ(engine.TokenKeyOf(1), kFirstTokenKey);
  LetIn(engine, "a");
  LetIn(engine, "b");
  CHECK(engine.token_keys().empty());
  Use(engine, 70);
  LetIn(engine, "c");
  Use(engine, 60);
  CHECK(engine.token_keys() == Ranges{{3, 70}, {4, 60}});
  CHECK_EQ(engine.TokenKeyOf(2), kFirstTokenKey);
  CHECK_EQ(engine.TokenKeyOf(3), 70);
  CHECK_EQ(engine.TokenKeyOf(4), 60);
  CHECK_EQ(engine.TokenKeyOf(1'000'000), 60);
  CHECK(engine.digest() != without);
}

TEST_CASE("token keys: a key that nobody was admitted with leaves no trace") {
  Engine engine(EngineOptions{});
  LetIn(engine, "a");
  const Digest before = engine.digest();
  Use(engine, 70);
  const Digest used = engine.digest();
  CHECK(used != before);
  Use(engine, 60);
  CHECK(engine.token_keys() == Ranges{{2, 60}});
  Use(engine, 70);
  CHECK(engine.digest() == used);
  Use(engine, 70);  // the one in use
  CHECK(engine.digest() == used);
  LetIn(engine, "b");
  Use(engine, 60);
  Use(engine, 70);  // back before anybody came
  CHECK(engine.token_keys() == Ranges{{2, 70}});
}

TEST_CASE("token keys: so many and no more") {
  DeskWorld world;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{protocol::Limit::kNone};
  REQUIRE_EQ(world.desk.Handle(protocol::RoomCreateOperation{{kKeysRoom, settings}}).index(), 0);
  for (uint32_t key_id = 1; key_id <= limits::kTokenKeysMax; ++key_id) {
    REQUIRE_FALSE(world.desk.CheckUseTokenKey());
    const auto answer = world.desk.UseTokenKey(key_id);
    REQUIRE_EQ(answer.index(), 0);
    const auto& reply = std::get<protocol::TokenKeyReply>(answer);
    REQUIRE_EQ(reply.key_id, key_id);
    REQUIRE_EQ(reply.first_admission, key_id);
    const std::string visitor = "v" + std::to_string(key_id);
    REQUIRE_EQ(world.desk.Handle(protocol::JoinRequest{kKeysRoom, visitor, {}}, false).index(), 0);
  }
  const size_t records = world.log.records.size();
  const Digest digest = world.engine.digest();
  const auto refused = world.desk.UseTokenKey(5000);
  REQUIRE_EQ(refused.index(), 1);
  CHECK(std::get<protocol::Refusal>(refused).error == protocol::ErrorCode::kConflict);
  CHECK_EQ(world.log.records.size(), records);
  Use(world.engine, 5000);
  CHECK(world.engine.digest() == digest);
  for (uint32_t key_id = 1; key_id <= limits::kTokenKeysMax; ++key_id) {
    const std::string visitor = "v" + std::to_string(key_id);
    const protocol::Token token = PlainTokens::Of(key_id, key_id);
    const protocol::TokenRequest request{kKeysRoom, visitor, token.view()};
    REQUIRE_EQ(world.desk.Handle(protocol::VerifyOperation{request}).index(), 0);
  }
  CHECK(DigestAfter(world.log.records, 2) == digest);
}

TEST_CASE("token keys: a token of the right admission under another key is none") {
  DeskWorld world;
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{1};
  REQUIRE_EQ(world.desk.Handle(protocol::RoomCreateOperation{{kKeysRoom, settings}}).index(), 0);
  REQUIRE_EQ(world.desk.Handle(protocol::JoinRequest{kKeysRoom, "ann", {}}, false).index(), 0);
  REQUIRE_EQ(world.desk.UseTokenKey(7).index(), 0);
  const auto verify = [&](const protocol::Token& token) {
    return world.desk.Handle(protocol::VerifyOperation{{kKeysRoom, "ann", token.view()}});
  };
  CHECK_EQ(verify(PlainTokens::Of(1)).index(), 0);
  const auto other = verify(PlainTokens::Of(1, 7));
  REQUIRE_EQ(other.index(), 1);
  CHECK(std::get<protocol::Refusal>(other).error == protocol::ErrorCode::kBadToken);
}

std::string EntryOf(const snapshot::Engine& all) {
  std::string entry(1, static_cast<char>(snapshot::Engine::kType));
  protocol::Encode(all, &entry);
  return entry;
}

std::string LoadAlone(const snapshot::Engine& all) {
  Engine engine(EngineOptions{});
  EngineLoader loader(&engine);
  std::string wrong = loader.Add(EntryOf(all));
  if (wrong.empty()) engine.check_invariants();
  return wrong;
}

TEST_CASE("token keys: a snapshot says them, and without any its bytes are what they were") {
  Engine engine(EngineOptions{});
  const std::string before = EntriesOf(engine).front();
  CHECK_EQ(before.size(), 1 + 1 + 4 * 8 + 4 + 4 * 8);
  CHECK_EQ(before[1], 0);  // presence
  LetIn(engine, "a");
  Use(engine, 0x01020304);
  const std::vector<std::string> entries = EntriesOf(engine);
  CHECK_EQ(entries.front()[1], 1);
  CHECK_EQ(entries.front().substr(before.size()),
           std::string("\x01\0\x02\0\0\0\0\0\0\0\x04\x03\x02\x01", 14));
  Engine loaded(EngineOptions{.index_seed = 5});
  EngineLoader loader(&loaded);
  for (const std::string& entry : entries) REQUIRE_EQ(loader.Add(entry), "");
  REQUIRE_EQ(loader.Finish(), "");
  loaded.check_invariants();
  CHECK(loaded.token_keys() == engine.token_keys());
  CHECK(loaded.digest() == engine.digest());
}

TEST_CASE("token keys: a snapshot with ranges that cannot be is refused") {
  snapshot::Engine all;
  all.next_arrival = all.next_memory = all.next_room = 1;
  all.next_admission = 10;
  using Keys = std::vector<snapshot::TokenKey>;
  const auto with = [&](Keys keys) {
    all.token_keys = std::move(keys);
    return LoadAlone(all);
  };
  CHECK_EQ(with({{1, 5}, {10, 6}}), "");
  CHECK_NE(with({}), "");
  CHECK_NE(with({{0, 5}}), "");
  CHECK_NE(with({{3, kFirstTokenKey}}), "");
  CHECK_NE(with({{3, 5}, {3, 6}}), "");
  CHECK_NE(with({{4, 5}, {3, 6}}), "");
  CHECK_NE(with({{3, 5}, {4, 5}}), "");
  CHECK_NE(with({{11, 5}}), "");
  Keys many;
  for (uint32_t i = 0; i <= limits::kTokenKeysMax; ++i) many.push_back({1 + i, 1 + i % 2});
  all.next_admission = 5000;
  CHECK_NE(with(many), "");
  many.pop_back();
  CHECK_EQ(with(many), "");
}

}  // namespace
}  // namespace anteroom
