// The names of rooms: to their numbers, and in order for listing.
#ifndef ANTEROOM_SERVER_ENGINE_ROOM_NAMES_H_
#define ANTEROOM_SERVER_ENGINE_ROOM_NAMES_H_

#include <xxhash.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "server/base/check.h"

namespace anteroom {

// Invariant: both hold the same names.
class RoomNames {
 public:
  // 0 when there is none.
  uint32_t Find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? 0 : found->second;
  }
  // The first name after `name` in the order of bytes; empty at the end.
  std::string_view After(std::string_view name) const {
    const auto next = ordered_.upper_bound(name);
    return next == ordered_.end() ? std::string_view() : *next;
  }
  void Add(std::string_view name, uint32_t number) {
    numbers_.emplace(std::string(name), number);
    ordered_.emplace(name);
  }
  void Remove(std::string_view name) {
    numbers_.erase(numbers_.find(name));
    ordered_.erase(ordered_.find(name));
  }
  size_t size() const { return ordered_.size(); }
  void check_invariants() const {
    CHECK_EQ(numbers_.size(), ordered_.size());
    for (const std::string& name : ordered_) CHECK(Find(name) != 0);
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return XXH3_64bits(name.data(), name.size()); }
  };

  absl::flat_hash_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::set<std::string, std::less<>> ordered_;
};

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_ROOM_NAMES_H_
