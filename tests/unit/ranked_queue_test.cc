#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "server/base/check.h"
#include "server/base/prefetch.h"
#include "server/engine/ranked_queue.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

struct Queued {
  QueueKey key;
  QueuePlace place;
};

struct QueuedOnes {
  std::vector<Queued> all;

  explicit QueuedOnes(size_t count) : all(count + 1) {}
  QueueKey KeyOf(uint32_t handle) const { return all[handle].key; }
  void SetPlace(uint32_t handle, QueuePlace place) { all[handle].place = place; }
  void Prefetch(uint32_t handle) const { PrefetchLine(&all[handle]); }
};

QueuePlace Insert(RankedQueue& queue, QueuedOnes& entries, uint32_t handle, QueueKey key) {
  entries.all[handle].key = key;
  const QueuePlace place = queue.Insert(entries, handle, key);
  CHECK(place == entries.all[handle].place);
  return place;
}

// All elements in order, each with the place that its owner knows.
std::vector<uint32_t> Walk(const RankedQueue& queue, const QueuedOnes& entries) {
  std::vector<uint32_t> handles;
  for (QueuePlace place = queue.FirstPlace(); !(place == kNoPlace); place = queue.Next(place)) {
    handles.push_back(queue.HandleAt(place));
    CHECK(entries.all[handles.back()].place == place);
  }
  return handles;
}

TEST_CASE("ranked queue: an empty one has no first, no n-th and no nodes") {
  RankedQueuePool pool;
  QueuedOnes entries(0);
  RankedQueue queue(&pool);
  CHECK(queue.empty());
  CHECK_EQ(queue.First(), kNoHandle);
  CHECK_EQ(queue.PopFirst(entries), kNoHandle);
  CHECK_EQ(queue.At(0), kNoHandle);
  CHECK(queue.FirstPlace() == kNoPlace);
  queue.check_invariants(entries);
  CHECK_EQ(pool.nodes(), 0u);
}

TEST_CASE("ranked queue: first come, first served within a lane, lanes in order") {
  RankedQueuePool pool;
  QueuedOnes entries(6);
  RankedQueue queue(&pool);
  Insert(queue, entries, 1, {128, 1});
  Insert(queue, entries, 2, {128, 2});
  Insert(queue, entries, 3, {0, 3});
  Insert(queue, entries, 4, {255, 4});
  Insert(queue, entries, 5, {128, 5});
  Insert(queue, entries, 6, {0, 6});
  CHECK_EQ(Walk(queue, entries), std::vector<uint32_t>{3, 6, 1, 2, 5, 4});
  CHECK_EQ(queue.Rank(entries.all[5].place), 4u);
  QueuePlace place;
  CHECK_EQ(queue.At(2, &place), 1u);
  CHECK(place == entries.all[1].place);
  queue.check_invariants(entries);
  CHECK_EQ(queue.PopFirst(entries), 3u);
  queue.Remove(entries, entries.all[1].place);
  CHECK_EQ(Walk(queue, entries), std::vector<uint32_t>{6, 2, 5, 4});
  while (!queue.empty()) queue.PopFirst(entries);
  CHECK_EQ(pool.nodes(), 0u);
  pool.check_invariants();
}

TEST_CASE("ranked queue: insertion at the front, again and again") {
  constexpr uint32_t kCount = 20'000;
  RankedQueuePool pool;
  QueuedOnes entries(kCount);
  RankedQueue queue(&pool);
  for (uint32_t handle = kCount; handle >= 1; --handle) Insert(queue, entries, handle, {1, handle});
  queue.check_invariants(entries);
  CHECK_EQ(queue.size(), kCount);
  for (uint32_t handle = 1; handle <= kCount; ++handle) {
    CHECK_EQ(queue.Rank(entries.all[handle].place), handle - 1);
    CHECK_EQ(queue.At(handle - 1), handle);
  }
}

TEST_CASE("ranked queue: a small line that goes on for long keeps few nodes") {
  RankedQueuePool pool;
  QueuedOnes entries(10);
  RankedQueue queue(&pool);
  for (uint64_t arrival = 1; arrival <= 100'000; ++arrival) {
    const uint32_t handle = 1 + static_cast<uint32_t>(arrival % 10);
    if (queue.size() == 10) CHECK_EQ(queue.PopFirst(entries), handle);
    Insert(queue, entries, handle, {128, arrival});
    CHECK_LE(pool.nodes(), 4u);
  }
  queue.check_invariants(entries);
  CHECK_LT(pool.bytes(), 4000u);
}

TEST_CASE("ranked queue: a large line thins out, and its nodes with it") {
  constexpr uint32_t kCount = 200'000;
  std::mt19937_64 random(TestSeed());
  RankedQueuePool pool;
  QueuedOnes entries(kCount);
  RankedQueue queue(&pool);
  std::vector<uint32_t> expected;
  for (uint32_t handle = 1; handle <= kCount; ++handle) {
    Insert(queue, entries, handle, {128, handle});
    expected.push_back(handle);
  }
  CHECK_LT(pool.bytes(), kCount * 47 / 10);
  for (const uint32_t left : {100'000u, 30'000u, 1000u, 3u}) {
    std::vector<uint32_t> leaving = expected;
    std::shuffle(leaving.begin(), leaving.end(), random);
    leaving.resize(leaving.size() - left);
    for (const uint32_t handle : leaving) queue.Remove(entries, entries.all[handle].place);
    std::sort(leaving.begin(), leaving.end());
    std::vector<uint32_t> remaining;
    std::set_difference(expected.begin(), expected.end(), leaving.begin(), leaving.end(),
                        std::back_inserter(remaining));
    expected = remaining;
    CHECK(Walk(queue, entries) == expected);
    queue.check_invariants(entries);
    // Any two neighbours hold 192 or more, but for some before a high node.
    CHECK_LE(pool.nodes(), 3 + left / 50);
    for (size_t i = 0; i < expected.size(); ++i) {
      CHECK_EQ(queue.Rank(entries.all[expected[i]].place), i);
      CHECK_EQ(queue.At(i), expected[i]);
    }
  }
}

// A queue, and beside it a sorted vector.
struct QueueAndModel {
  RankedQueue queue;
  std::vector<std::pair<QueueKey, uint32_t>> model;

  explicit QueueAndModel(RankedQueuePool* pool) : queue(pool) {}

  void Check(const QueuedOnes& entries) const {
    queue.check_invariants(entries);
    const std::vector<uint32_t> handles = Walk(queue, entries);
    CHECK_EQ(handles.size(), model.size());
    for (size_t i = 0; i < handles.size(); ++i) CHECK_EQ(handles[i], model[i].second);
  }
};

TEST_CASE("ranked queue: a million random operations on three queues against sorted vectors") {
  std::mt19937_64 random(TestSeed());
  constexpr uint32_t kCount = 6000;
  RankedQueuePool pool;
  QueuedOnes entries(kCount);
  QueueAndModel pairs[3] = {QueueAndModel(&pool), QueueAndModel(&pool), QueueAndModel(&pool)};
  std::vector<uint32_t> absent;
  for (uint32_t handle = 1; handle <= kCount; ++handle) absent.push_back(handle);
  uint64_t arrivals = 0;
  uint64_t near_key = 0;

  for (int i = 0; i < 1'000'000; ++i) {
    // Seasons: growth and decline; arrivals in order, anywhere, all in one neighbourhood.
    const uint32_t inserts = (i / 60'000) % 2 == 0 ? 60 : 30;
    const int season = (i / 25'000) % 4;
    QueueAndModel& pair = pairs[random() % 8 < 5 ? 0 : random() % 3];
    const uint64_t choice = random() % 100;
    if (choice < inserts && !absent.empty()) {
      const uint32_t handle = absent.back();
      absent.pop_back();
      const uint64_t lane = random() % 4 == 0 ? random() % 3 : 1;
      // The low bits make keys unique.
      const uint64_t unique = ++arrivals;
      uint64_t minor = unique << 24 | unique;
      if (season == 1) minor = random() % arrivals << 24 | unique;
      if (season == 2) minor = --near_key << 24 | unique;
      if (season == 3)
        minor = arrivals / 2 << 24 | (random() % 2 == 0 ? unique : (1u << 24) - unique);
      if (season != 2) near_key = arrivals / 2;
      const QueueKey key{lane, minor};
      auto at = std::lower_bound(pair.model.begin(), pair.model.end(), std::pair(key, 0u));
      if (at != pair.model.end() && at->first == key) {
        absent.push_back(handle);
        continue;
      }
      pair.model.insert(at, {key, handle});
      Insert(pair.queue, entries, handle, key);
    } else if (pair.model.empty()) {
      CHECK(pair.queue.empty());
    } else if (choice < 70) {
      const uint32_t handle = pair.queue.PopFirst(entries);
      CHECK_EQ(handle, pair.model.front().second);
      pair.model.erase(pair.model.begin());
      absent.push_back(handle);
    } else {
      const size_t rank = random() % pair.model.size();
      const uint32_t handle = pair.model[rank].second;
      const QueuePlace known = entries.all[handle].place;
      CHECK_EQ(pair.queue.Rank(known), rank);
      QueuePlace place;
      CHECK_EQ(pair.queue.At(rank, &place), handle);
      CHECK(place == known);
      if (choice < 85) {
        pair.queue.Remove(entries, known);
        pair.model.erase(pair.model.begin() + static_cast<ptrdiff_t>(rank));
        absent.push_back(handle);
      }
    }
    CHECK_EQ(pair.queue.size(), pair.model.size());
    CHECK_EQ(pair.queue.First(), pair.model.empty() ? kNoHandle : pair.model.front().second);
    if (i % 5000 == 0) {
      for (const QueueAndModel& each : pairs) each.Check(entries);
      pool.check_invariants();
    }
  }
  for (QueueAndModel& pair : pairs) {
    pair.Check(entries);
    while (!pair.queue.empty()) pair.queue.PopFirst(entries);
  }
  CHECK_EQ(pool.nodes(), 0u);
}

}  // namespace
}  // namespace anteroom
