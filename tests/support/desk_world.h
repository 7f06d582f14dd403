// A desk with all it needs, in memory: the records are kept, tokens show their key and admission
// number, and time stands still until it is moved, stopping at every due moment on the way.
#ifndef ANTEROOM_TESTS_SUPPORT_DESK_WORLD_H_
#define ANTEROOM_TESTS_SUPPORT_DESK_WORLD_H_

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "server/engine/desk.h"

namespace anteroom {

class RecordList : public RecordSink {
 public:
  void Append(std::string_view record) override { records.emplace_back(record); }
  std::vector<std::string> records;
};

class PlainTokens : public TokenMaker {
 public:
  protocol::Token Make(uint32_t key_id, uint64_t admission, std::string_view,
                       std::string_view) const override {
    return Of(admission, key_id);
  }
  static protocol::Token Of(uint64_t admission, uint32_t key_id = kFirstTokenKey) {
    CHECK_LT(key_id, 1'000'000U);
    char text[2 * protocol::kTokenChars];
    std::snprintf(text, sizeof text, "k%06u-%014llu", key_id,
                  static_cast<unsigned long long>(admission));
    protocol::Token token;
    std::copy_n(text, protocol::kTokenChars, token.chars.begin());
    return token;
  }
};

struct DeskWorld {
  explicit DeskWorld(uint64_t index_seed = 1, uint32_t queue_nodes_max = RankedQueuePool::kNodesMax)
      : engine({.index_seed = index_seed, .queue_nodes_max = queue_nodes_max}) {
    desk.BeginTurn(0);
  }

  // Calls `before_turn` with each time at which the desk is woken, before it is.
  void Advance(int64_t duration_ms, const std::function<void(int64_t)>& before_turn = {}) {
    const int64_t target_ms = desk.now_ms() + duration_ms;
    while (true) {
      const int64_t turn_ms = std::max(desk.now_ms(), std::min(desk.NextDue(), target_ms));
      if (before_turn) before_turn(turn_ms);
      do {
        desk.BeginTurn(turn_ms);
      } while (desk.NextDue() <= turn_ms);
      if (turn_ms == target_ms) return;
    }
  }

  Engine engine;
  RecordList log;
  PlainTokens tokens;
  Desk desk{&engine, &log, &tokens, nullptr};
};

// The state that a log gives.
inline Digest DigestAfter(const std::vector<std::string>& records, uint64_t index_seed) {
  Engine engine({.index_seed = index_seed});
  Effects effects;
  for (const std::string& record : records) {
    int64_t at_ms;
    Command command;
    CHECK(DecodeRecord(record, &at_ms, &command));
    effects.Clear();
    engine.Apply(at_ms, command, &effects);
  }
  engine.check_invariants();
  return engine.digest();
}

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_DESK_WORLD_H_
