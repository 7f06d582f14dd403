#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "server/base/check.h"
#include "server/base/prefetch.h"
#include "server/engine/id_index.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

struct Entry {
  uint32_t room;
  std::string id;
};

// Keys out of a vector: handle h is entry h - 1.
struct VectorKeys {
  const std::vector<Entry>* entries;

  IndexKey operator()(uint32_t handle) const {
    const Entry& entry = entries->at(handle - 1);
    return {entry.room, entry.id};
  }
  void Prefetch(uint32_t handle) const { PrefetchLine(&(*entries)[handle - 1]); }
};

using Index = IdIndex<VectorKeys>;

uint32_t Find(const Index& index, uint32_t room, std::string_view id) {
  return index.Find(index.HashOf(room, id), room, id);
}

TEST_CASE("id index: an empty one is small and finds nothing") {
  std::vector<Entry> entries;
  Index index(VectorKeys{&entries}, 1);
  CHECK_LT(index.bytes() + sizeof(index), 1024u);
  CHECK_EQ(Find(index, 1, "anna"), kNoHandle);
  CHECK(!index.Erase(index.HashOf(1, "anna"), 1));
  index.check_invariants();
}

TEST_CASE("id index: the same id in two rooms is two keys") {
  std::vector<Entry> entries = {{1, "anna"}, {2, "anna"}};
  Index index(VectorKeys{&entries}, 1);
  index.Insert(index.HashOf(1, "anna"), 1);
  CHECK_EQ(Find(index, 1, "anna"), 1u);
  CHECK_EQ(Find(index, 2, "anna"), kNoHandle);
  index.Insert(index.HashOf(2, "anna"), 2);
  CHECK_EQ(Find(index, 2, "anna"), 2u);
  CHECK_NE(index.HashOf(1, "anna"), index.HashOf(2, "anna"));
}

TEST_CASE("id index: replaces a handle by another of the same key") {
  std::vector<Entry> entries = {{1, "anna"}, {1, "anna"}, {1, "bert"}};
  Index index(VectorKeys{&entries}, 7);
  const uint64_t hash = index.HashOf(1, "anna");
  index.Insert(hash, 1);
  CHECK(index.Replace(hash, 1, 2));
  CHECK(!index.Replace(hash, 1, 2));
  CHECK_EQ(Find(index, 1, "anna"), 2u);
  CHECK_EQ(index.PeekCandidate(hash), 2u);
  CHECK(!index.Erase(hash, 1));
  CHECK(index.Erase(hash, 2));
  CHECK_EQ(index.PeekCandidate(hash), kNoHandle);
}

TEST_CASE("id index: entries that all hash alike still are found, and leave") {
  // One room, one id: the hash is the same for all, so no split tells them apart.
  std::vector<Entry> entries(1000, Entry{3, "same"});
  Index index(VectorKeys{&entries}, 7);
  const uint64_t hash = index.HashOf(3, "same");
  for (uint32_t handle = 1; handle <= 1000; ++handle) index.Insert(hash, handle);
  index.check_invariants();
  for (uint32_t handle = 1; handle <= 1000; handle += 3) CHECK(index.Erase(hash, handle));
  index.check_invariants();
  CHECK_NE(Find(index, 3, "same"), kNoHandle);
}

TEST_CASE("id index: a bucket with overflow lines is merged and split with all its entries") {
  std::vector<Entry> entries(100, Entry{3, "same"});
  for (uint32_t i = 0; i < 20'000; ++i) entries.push_back({1, std::to_string(i)});
  Index index(VectorKeys{&entries}, TestSeed());
  const auto hash_of = [&](uint32_t handle) {
    return index.HashOf(entries[handle - 1].room, entries[handle - 1].id);
  };
  for (uint32_t handle = 1; handle <= entries.size(); ++handle) {
    index.Insert(hash_of(handle), handle);
  }
  index.check_invariants();
  // As the others leave, the table shrinks to a few buckets, and the crowded one is merged often.
  for (uint32_t handle = 101; handle <= entries.size(); ++handle) {
    CHECK(index.Erase(hash_of(handle), handle));
  }
  index.check_invariants();
  for (uint32_t handle = 1; handle <= 100; ++handle) CHECK(index.Erase(hash_of(handle), handle));
  CHECK_EQ(index.size(), 0u);
}

TEST_CASE("id index: grows and shrinks through the sizes of its segments") {
  std::vector<Entry> entries;
  for (uint32_t i = 0; i < 300'000; ++i) entries.push_back({i % 3, std::to_string(i)});
  Index index(VectorKeys{&entries}, TestSeed());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    index.Insert(index.HashOf(entries[i].room, entries[i].id), i + 1);
  }
  index.check_invariants();
  CHECK_LT(index.bytes(), entries.size() * 95 / 10);
  for (uint32_t i = 0; i < entries.size(); ++i) {
    CHECK_EQ(Find(index, entries[i].room, entries[i].id), i + 1);
    CHECK_EQ(Find(index, entries[i].room + 3, entries[i].id), kNoHandle);
  }
  for (uint32_t i = 0; i < entries.size(); ++i) {
    CHECK(index.Erase(index.HashOf(entries[i].room, entries[i].id), i + 1));
    if (i % 50'000 == 0) index.check_invariants();
  }
  CHECK_EQ(index.size(), 0u);
  // Overflow lines stay for later use.
  CHECK_LT(index.bytes(), entries.size() * 2);
  index.check_invariants();
}

TEST_CASE("id index: a million random operations against a map") {
  std::mt19937_64 random(TestSeed());
  constexpr uint32_t kEntries = 6000;
  std::vector<Entry> entries;
  std::map<std::pair<uint32_t, std::string>, uint32_t> places;
  while (entries.size() < kEntries) {
    Entry entry{static_cast<uint32_t>(random() % 3), std::string(1 + random() % 20, '\0')};
    for (char& byte : entry.id) byte = static_cast<char>(random());
    if (!places.emplace(std::pair(entry.room, entry.id), 0).second) continue;
    entries.push_back(entry);
  }
  Index index(VectorKeys{&entries}, random());
  std::map<std::pair<uint32_t, std::string>, uint32_t> model;
  for (int i = 0; i < 1'000'000; ++i) {
    // The share of inserts swings, so that the index grows and shrinks many times.
    const uint32_t inserts = (i / 40'000) % 2 == 0 ? 60 : 15;
    const uint32_t handle = 1 + static_cast<uint32_t>(random() % kEntries);
    const Entry& entry = entries[handle - 1];
    const uint64_t hash = index.HashOf(entry.room, entry.id);
    const auto found = model.find({entry.room, entry.id});
    index.PrefetchBucket(hash);
    CHECK_EQ(index.Find(hash, entry.room, entry.id), found == model.end() ? 0 : found->second);
    if (random() % 100 < inserts) {
      if (found == model.end()) {
        index.Insert(hash, handle);
        model.emplace(std::pair(entry.room, entry.id), handle);
      }
    } else if (random() % 2 == 0) {
      CHECK_EQ(index.Erase(hash, handle), found != model.end());
      if (found != model.end()) model.erase(found);
    }
    CHECK_EQ(index.size(), model.size());
    if (i % 20'000 == 0) index.check_invariants();
  }
  index.check_invariants();
}

}  // namespace
}  // namespace anteroom
