// Watches over a crowd: many visitors share one, and watches in which few are left are put
// together, so that a client's limit of watches is never in the way.
//
// Invariant: a visitor's `watch` and `watch_slot` tell where this holds it; no watch is empty;
// `watched_` visitors are held in all.
// Threads: the loop's.
#ifndef ANTEROOM_TOOLS_REHEARSE_WATCHES_H_
#define ANTEROOM_TOOLS_REHEARSE_WATCHES_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/async_client.h"
#include "tools/rehearse/limits.h"
#include "tools/rehearse/visitors.h"

namespace anteroom::tools {

class Watches {
 public:
  // `on_event` may add and remove visitors.
  Watches(client::AsyncClient* client, std::string room, client::OnVisitorEvent on_event);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  // None of `visitors` is watched yet.
  void Add(std::span<Visitor* const> visitors);
  // Harmless for one who is not watched.
  void Remove(Visitor* visitor);

  size_t watched() const { return watched_; }
  size_t open() const { return watches_.size(); }
  void check_invariants() const;

 private:
  struct One {
    client::WatchHandle handle;
    std::vector<Visitor*> visitors;
  };

  void Open(std::span<Visitor* const> visitors);
  void Merge();

  client::AsyncClient* const client_;
  const std::string room_;
  const client::OnVisitorEvent on_event_;
  std::unordered_map<size_t, One> watches_;
  size_t watched_ = 0;
  size_t next_key_ = 0;
  size_t merge_at_ = kWatchesBeforeMerge;
};

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_WATCHES_H_
