#include "tools/rehearse/watches.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "protocol/limits.h"
#include "server/base/check.h"

namespace anteroom::tools {

Watches::Watches(client::AsyncClient* client, std::string room, client::OnVisitorEvent on_event)
    : client_(client), room_(std::move(room)), on_event_(std::move(on_event)) {}

Watches::~Watches() {
  for (const auto& [key, one] : watches_) client_->Unwatch(one.handle);
}

void Watches::Add(std::span<Visitor* const> visitors) {
  while (!visitors.empty()) {
    const size_t count = std::min(visitors.size(), protocol::kWatchVisitorsMax);
    Open(visitors.first(count));
    visitors = visitors.subspan(count);
  }
  if (watches_.size() >= merge_at_) Merge();
}

void Watches::Open(std::span<Visitor* const> visitors) {
  const size_t key = next_key_++;
  One one;
  std::vector<std::string_view> ids;
  ids.reserve(visitors.size());
  for (Visitor* const visitor : visitors) {
    CHECK_EQ(visitor->watch, Visitor::kNone);
    visitor->watch = key;
    visitor->watch_slot = one.visitors.size();
    one.visitors.push_back(visitor);
    ids.push_back(visitor->id);
  }
  watched_ += one.visitors.size();
  one.handle = client_->Watch(room_, ids, on_event_);
  watches_.emplace(key, std::move(one));
}

void Watches::Remove(Visitor* visitor) {
  if (visitor->watch == Visitor::kNone) return;
  const auto found = watches_.find(visitor->watch);
  CHECK(found != watches_.end());
  std::vector<Visitor*>& visitors = found->second.visitors;
  visitors[visitor->watch_slot] = visitors.back();
  visitors[visitor->watch_slot]->watch_slot = visitor->watch_slot;
  visitors.pop_back();
  --watched_;
  visitor->watch = Visitor::kNone;
  if (!visitors.empty()) return;
  client_->Unwatch(found->second.handle);
  watches_.erase(found);
}

// Those less than half full become full ones. Merging again only when their number has doubled
// keeps the work in proportion to the visitors added.
void Watches::Merge() {
  std::vector<Visitor*> moved;
  for (auto it = watches_.begin(); it != watches_.end();) {
    One& one = it->second;
    if (2 * one.visitors.size() >= protocol::kWatchVisitorsMax) {
      ++it;
      continue;
    }
    client_->Unwatch(one.handle);
    for (Visitor* const visitor : one.visitors) {
      visitor->watch = Visitor::kNone;
      moved.push_back(visitor);
    }
    watched_ -= one.visitors.size();
    it = watches_.erase(it);
  }
  for (std::span<Visitor* const> left(moved); !left.empty();) {
    const size_t count = std::min(left.size(), protocol::kWatchVisitorsMax);
    Open(left.first(count));
    left = left.subspan(count);
  }
  merge_at_ = std::max(kWatchesBeforeMerge, 2 * watches_.size());
}

void Watches::check_invariants() const {
  size_t watched = 0;
  for (const auto& [key, one] : watches_) {
    CHECK(!one.visitors.empty());
    watched += one.visitors.size();
    CHECK(one.visitors.size() <= protocol::kWatchVisitorsMax);
    for (size_t slot = 0; slot < one.visitors.size(); ++slot) {
      CHECK_EQ(one.visitors[slot]->watch, key);
      CHECK_EQ(one.visitors[slot]->watch_slot, slot);
    }
  }
  CHECK_EQ(watched, watched_);
}

}  // namespace anteroom::tools
