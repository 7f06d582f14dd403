#include "server/engine/heard.h"

#include <algorithm>

#include "server/base/check.h"

namespace anteroom {

void Heard::Hear(uint32_t visitor, int64_t now_ms, int64_t ttl_ms) {
  int64_t deadline_ms = now_ms + ttl_ms;
  // 0 says that there is none; a millisecond once in 49 days goes to the visitor.
  if (static_cast<uint32_t>(deadline_ms) == 0) ++deadline_ms;
  uint32_t& deadline = deadlines_[visitor];
  const bool later = deadline != 0 && Widen(deadline, now_ms) <= deadline_ms;
  deadline = static_cast<uint32_t>(deadline_ms);
  if (later) return;  // the block is filed under a time not after the one before

  const uint32_t block = BlockOf(visitor);
  while (blocks_.capacity() < block) blocks_.Allocate();
  if (!blocks_[block].filed || blocks_[block].due_ms > deadline_ms) File(block, deadline_ms);
}

void Heard::File(uint32_t block, int64_t due_ms) {
  if (blocks_[block].filed) wheel_.Remove(owner_, block);
  blocks_[block].filed = true;
  blocks_[block].due_ms = due_ms;
  wheel_.Add(owner_, block);
}

template <typename Visit>
void Heard::ForEach(uint32_t block, Visit visit) const {
  const uint32_t first = (block - 1) * kBlockVisitors;
  const uint32_t end = std::min(first + kBlockVisitors, deadlines_.capacity() + 1);
  for (uint32_t visitor = std::max(first, 1u); visitor < end; ++visitor) {
    if (deadlines_[visitor] != 0) visit(visitor);
  }
}

void Heard::PopDue(int64_t now_ms, size_t blocks_max, std::vector<Over>* over) {
  due_blocks_.clear();
  wheel_.PopDue(owner_, now_ms, blocks_max, &due_blocks_);
  for (const uint32_t block : due_blocks_) {
    blocks_[block].filed = false;
    int64_t earliest_ms = kNever;
    ForEach(block, [&](uint32_t visitor) {
      const int64_t deadline_ms = Widen(deadlines_[visitor], now_ms);
      if (deadline_ms <= now_ms) {
        over->push_back({deadline_ms, visitor});
        deadlines_[visitor] = 0;
      } else {
        earliest_ms = std::min(earliest_ms, deadline_ms);
      }
    });
    if (earliest_ms != kNever) File(block, earliest_ms);
  }
}

void Heard::check_invariants(int64_t now_ms) {
  size_t filed = 0;
  for (uint32_t block = 1; block <= blocks_.capacity(); ++block) {
    filed += blocks_[block].filed;
    ForEach(block, [&](uint32_t visitor) {
      CHECK(blocks_[block].filed);
      CHECK_LE(blocks_[block].due_ms, Widen(deadlines_[visitor], now_ms));
    });
  }
  CHECK_EQ(wheel_.size(), filed);
  wheel_.check_invariants(owner_);
}

}  // namespace anteroom
