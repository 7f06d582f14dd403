// The entries of a snapshot, lengths first: what an engine takes up it can work with, and what it
// saves of that is a state that gives itself again.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "server/base/check.h"
#include "server/engine/engine.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/command_source.h"
#include "tests/fuzz/targets.h"
#include "tests/support/engine_entries.h"

void anteroom::fuzz::TrySnapshot(std::string_view input) {
  ByteSource source(input);
  std::vector<std::string> entries;
  // The last one is empty; commands may follow.
  while (!source.empty()) {
    const std::string_view entry = source.LongText();
    if (entry.empty()) break;
    entries.emplace_back(entry);
  }
  Engine engine(EngineOptions{.index_seed = 1});
  if (!LoadEntries(entries, &engine).empty()) return;
  engine.check_invariants();
  const std::unique_ptr<Engine> copy = CopyOf(engine);

  Effects effects;
  CommandSource commands(&source);
  while (!commands.empty()) {
    const std::string record = commands.Next();
    int64_t at_ms = 0;
    Command command;
    CHECK(DecodeRecord(record, &at_ms, &command));
    effects.Clear();
    engine.Apply(std::max(at_ms, engine.now_ms()), command, &effects);
  }
  engine.check_invariants();
  CopyOf(engine);
}
