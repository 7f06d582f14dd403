// An engine's state as entries and back, with what must hold of them whatever has happened.
#ifndef ANTEROOM_TESTS_SUPPORT_ENGINE_ENTRIES_H_
#define ANTEROOM_TESTS_SUPPORT_ENGINE_ENTRIES_H_

#include <memory>
#include <string>
#include <vector>

#include "server/base/check.h"
#include "server/engine/engine.h"
#include "server/engine/snapshot.h"

namespace anteroom {

inline std::vector<std::string> EntriesOf(const Engine& engine) {
  std::vector<std::string> entries;
  SaveEngine(engine, [&](std::string_view entry) {
    entries.emplace_back(entry);
    return true;
  });
  return entries;
}

// What is wrong with them; empty when they are a state.
inline std::string LoadEntries(const std::vector<std::string>& entries, Engine* engine) {
  EngineLoader loader(engine);
  for (const std::string& entry : entries) {
    loader.Prefetch(entry);
    std::string wrong = loader.Add(entry);
    if (!wrong.empty()) return wrong;
  }
  return loader.Finish();
}

// The same state: what is saved of the two is equal, byte for byte.
inline void CheckSame(Engine& left, Engine& right) {
  CHECK(left.digest() == right.digest());
  CHECK_EQ(left.NextDue(), right.NextDue());
  CHECK(EntriesOf(left) == EntriesOf(right));
}

// A second engine, made from what is saved of the first.
inline std::unique_ptr<Engine> CopyOf(Engine& engine) {
  auto copy = std::make_unique<Engine>(EngineOptions{.index_seed = 2});
  CHECK_EQ(LoadEntries(EntriesOf(engine), copy.get()), "");
  copy->check_invariants();
  CheckSame(engine, *copy);
  return copy;
}

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_ENGINE_ENTRIES_H_
