#include "tests/scripts/runner_world.h"

#include <xxhash.h>

#include <algorithm>

#include "server/engine/command.h"
#include "tests/scripts/runner_script.h"
#include "tests/support/seed.h"

namespace anteroom::scripts {
namespace {

// Any two engines of a run hash differently: nothing may come to depend on it.
uint64_t NextIndexSeed() {
  static uint64_t seed = TestSeed();
  return seed += 0x9e3779b97f4a7c15;
}

// Far above what any script needs: an engine that is due for ever must not hang the tests.
constexpr int kTurnsMax = 1'000'000;

}  // namespace

protocol::Token World::FakeTokens::Make(uint32_t key_id, uint64_t admission, std::string_view room,
                                        std::string_view visitor) const {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const std::string text = std::to_string(key_id) + "/" + std::to_string(admission) + "/" +
                           std::string(room) + "/" + std::string(visitor);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  protocol::Token token;
  for (size_t i = 0; i < token.chars.size(); ++i) {
    token.chars[i] = kAlphabet[((i < 11 ? hash.low64 : hash.high64) >> (i % 11 * 5)) % 64];
  }
  return token;
}

World::World() : engine_(std::make_unique<Engine>(EngineOptions{.index_seed = NextIndexSeed()})) {
  desk_ = std::make_unique<Desk>(engine_.get(), &sink_, &tokens_, this);
  desk_->BeginTurn(0);
}

void World::Advance(int64_t duration_ms) {
  const int64_t target_ms = now_ms_ + duration_ms;
  stalled_ = false;
  for (int turns = 0;; ++turns) {
    if (turns > kTurnsMax) throw ScriptFailure("the engine is due again and again");
    now_ms_ = std::clamp(desk_->NextDue(), now_ms_, target_ms);
    desk_->BeginTurn(now_ms_);
    if (now_ms_ == target_ms && desk_->NextDue() > target_ms) return;
  }
}

void World::Stall(int64_t duration_ms) {
  now_ms_ += duration_ms;
  stalled_ = true;
  desk_->BeginTurn(now_ms_);
}

void World::WorkOff() {
  if (!stalled_) Advance(0);
}

std::unique_ptr<Engine> World::Replay() const {
  auto engine = std::make_unique<Engine>(EngineOptions{.index_seed = NextIndexSeed()});
  Effects effects;
  for (const std::string& record : sink_.records) {
    int64_t at_ms;
    Command command;
    if (!DecodeRecord(record, &at_ms, &command)) throw ScriptFailure("a record is unreadable");
    effects.Clear();
    engine->Apply(at_ms, command, &effects);
  }
  return engine;
}

void World::Restart() {
  engine_->check_invariants();
  std::unique_ptr<Engine> replayed = Replay();
  if (replayed->digest() != engine_->digest()) {
    throw ScriptFailure("the log gives another state (digests differ)");
  }
  engine_ = std::move(replayed);
  desk_ = std::make_unique<Desk>(engine_.get(), &sink_, &tokens_, this);
  now_ms_ = engine_->now_ms();
  watched_.clear();
  desk_->StartSoftDeadlines(now_ms_);
  Advance(0);
}

void World::CheckAtEnd() {
  engine_->check_invariants();
  const std::unique_ptr<Engine> replayed = Replay();
  replayed->check_invariants();
  if (replayed->digest() != engine_->digest()) {
    throw ScriptFailure("the log gives another state (digests differ)");
  }
}

void World::OnEffects(const Effects& effects) {
  for (const VisitorEffect& effect : effects.visitors) {
    const Room* room = engine_->RoomAt(effect.room);
    if (room == nullptr) continue;
    if (effect.state == protocol::State::kAdmitted) rules_.OnAdmission(*room, engine_->now_ms());
    std::string visitor(effect.state == protocol::State::kEnded
                            ? engine_->memory(effect.memory).id.view()
                            : engine_->visitor(effect.visitor).id.view());
    told_.push_back({room->name, std::move(visitor), std::string(NameOf(effect.state))});
  }
  for (const RoomEffect& effect : effects.rooms) {
    const Room* room = engine_->RoomAt(effect.room);
    if (room != nullptr) told_.push_back({room->name, "", "room"});
  }
}

bool World::IsWatched(uint32_t room, uint32_t visitor) const {
  const Room* watched = engine_->RoomAt(room);
  return watched != nullptr &&
         watched_.contains({watched->name, std::string(engine_->visitor(visitor).id.view())});
}

}  // namespace anteroom::scripts
