#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "server/base/check.h"
#include "server/engine/slab.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

struct SlabEntry {
  uint32_t first;
  uint64_t payload[3];
  uint32_t live;  // beyond the first four bytes: 0 tells a freed entry
};

TEST_CASE("slab: handles begin at 1, and the last freed comes first") {
  Slab<SlabEntry> slab;
  CHECK_EQ(slab.capacity(), 0u);
  CHECK_EQ(slab.bytes(), 0u);
  CHECK_EQ(slab.Allocate(), 1u);
  CHECK_EQ(slab.Allocate(), 2u);
  CHECK_EQ(slab.Allocate(), 3u);
  slab.Free(1);
  slab.Free(3);
  CHECK_EQ(slab.size(), 1u);
  CHECK_EQ(slab.Allocate(), 3u);
  CHECK_EQ(slab.Allocate(), 1u);
  CHECK_EQ(slab.Allocate(), 4u);
  CHECK_EQ(slab.capacity(), 4u);
  slab.check_invariants();
}

TEST_CASE("slab: an entry comes zeroed, used before or not") {
  Slab<SlabEntry, 4> slab;
  for (int round = 0; round < 3; ++round) {
    std::vector<uint32_t> handles;
    for (int i = 0; i < 50; ++i) {
      handles.push_back(slab.Allocate());
      SlabEntry& entry = slab[handles.back()];
      CHECK_EQ(entry.first, 0u);
      for (const uint64_t word : entry.payload) CHECK_EQ(word, 0u);
      CHECK_EQ(entry.live, 0u);
      entry = {.first = 0xFFFFFFFF, .payload = {1, 2, 3}, .live = 1};
    }
    for (const uint32_t handle : handles) slab.Free(handle);
  }
}

TEST_CASE("slab: entries stay where they are while it grows") {
  Slab<SlabEntry, 64> slab;
  const uint32_t handle = slab.Allocate();
  const SlabEntry* entry = &slab[handle];
  for (int i = 0; i < 10'000; ++i) slab.Allocate();
  CHECK_EQ(entry, &slab[handle]);
}

TEST_CASE("slab: a million random operations against a map") {
  std::mt19937_64 random(TestSeed());
  Slab<SlabEntry, 256> slab;
  std::map<uint32_t, uint64_t> model;
  std::vector<uint32_t> handles;
  for (int i = 0; i < 1'000'000; ++i) {
    // The share of allocations swings, so that the slab fills and empties.
    const bool fill = random() % 100 < ((i / 50'000) % 2 == 0 ? 60u : 42u);
    if (fill || handles.empty()) {
      const uint32_t handle = slab.Allocate();
      CHECK_EQ(slab[handle].payload[0], 0u);
      const uint64_t value = random();
      slab[handle] = {.first = static_cast<uint32_t>(value), .payload = {value, 0, 0}, .live = 1};
      CHECK(model.emplace(handle, value).second);
      handles.push_back(handle);
    } else {
      const size_t at = random() % handles.size();
      const uint32_t handle = handles[at];
      CHECK_EQ(slab[handle].payload[0], model.at(handle));
      slab.Free(handle);
      model.erase(handle);
      handles[at] = handles.back();
      handles.pop_back();
    }
    if (i % 50'000 == 0) slab.check_invariants();
  }
  CHECK_EQ(slab.size(), model.size());
  slab.check_invariants();
  size_t live = 0;
  for (uint32_t handle = 1; handle <= slab.capacity(); ++handle) {
    if (slab[handle].live == 0) continue;
    CHECK_EQ(slab[handle].payload[0], model.at(handle));
    ++live;
  }
  CHECK_EQ(live, model.size());
}

}  // namespace
}  // namespace anteroom
