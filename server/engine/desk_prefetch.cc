// Looking ahead: what a turn's requests will read is asked for before the first of them is
// answered. A request alone waits for memory three times over, one after the other; together they
// wait once.

#include <variant>

#include "server/engine/desk.h"

namespace anteroom {

void Desk::Prefetch(std::span<const protocol::Request> requests) {
  // Three passes, each asking for what the next one reads: the line of the index, the entry that
  // it probably leads to, and the entry's place in the line.
  prefetched_.clear();
  next_prefetched_ = 0;
  const auto look_up = [&](const auto& message) {
    const Room* room = engine_.FindRoom(message.room);
    if (room == nullptr) return;
    const uint64_t hash = engine_.roster().HashOf(room->number, message.visitor);
    engine_.roster().PrefetchBucket(hash);
    prefetched_.push_back({message.visitor.data(), hash, kNoHandle});
  };
  for (const protocol::Request& request : requests) {
    std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.message.visitor; }) {
            look_up(one.message);
          } else if constexpr (requires { one.message.items; }) {
            for (const auto& item : one.message.items) look_up(item);
          }
        },
        request);
  }
  for (Prefetched& one : prefetched_) {
    one.visitor = engine_.roster().PrefetchCandidate(one.hash);
  }
  for (const Prefetched& one : prefetched_) {
    if (one.visitor != kNoHandle) engine_.PrefetchPlaceOf(engine_.visitor(one.visitor));
  }
}

uint32_t Desk::FindPrefetched(uint32_t room, std::string_view id) {
  while (next_prefetched_ < prefetched_.size()) {
    const Prefetched& one = prefetched_[next_prefetched_++];
    if (one.id != id.data()) continue;  // of a request that did not come to asking
    if (one.visitor == kNoHandle) break;
    const Visitor& entry = engine_.visitor(one.visitor);
    if (entry.room == room && entry.id.Equals(id)) return one.visitor;
    break;
  }
  return engine_.FindVisitor(room, id);
}

}  // namespace anteroom
