#include "server/engine/growing_array.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <vector>

#include "server/base/check.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

// Sixteen bytes, so that an index times a size is not an index.
struct Pair {
  uint64_t first;
  uint64_t second;
};

TEST_CASE("growing array: what was set stays while it grows") {
  GrowingArray<Pair> array;
  for (uint32_t i = 0; i < 300'000; ++i) {
    array.Grow(i + 1);
    array[i] = {.first = i, .second = ~uint64_t{i}};
  }
  for (uint32_t i = 0; i < 300'000; ++i) {
    CHECK_EQ(array[i].first, i);
    CHECK_EQ(array[i].second, ~uint64_t{i});
  }
}

TEST_CASE("growing array: a size that is there already moves nothing") {
  GrowingArray<Pair> array;
  array.Grow(1000);
  // As a number: g++ warns of a pointer from before a realloc, even one that does not happen.
  const auto address = [&] { return reinterpret_cast<uintptr_t>(&array[0]); };
  const uintptr_t before = address();
  for (const uint32_t size : {0u, 1u, 999u, 1000u}) {
    array.Grow(size);
    CHECK_EQ(address(), before);
  }
}

TEST_CASE("growing array: it is in one piece") {
  GrowingArray<Pair> array;
  array.Grow(5000);
  for (uint32_t i = 0; i < 5000; ++i) CHECK_EQ(&array[i], &array[0] + i);
}

// A sanitizer takes such a request for a mistake of the program and ends it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("growing array: without memory it throws and is what it was") {
  struct Huge {
    uint64_t value;
    char other[(1 << 20) - sizeof(uint64_t)];  // 2^32 of them are more than there are addresses
  };
  GrowingArray<Huge> array;
  array.Grow(1);
  array[0].value = 42;
  CHECK_THROWS_AS(array.Grow(UINT32_MAX), std::bad_alloc);
  CHECK_EQ(array[0].value, 42u);
  array.Grow(2);
  CHECK_EQ(array[0].value, 42u);
}
#endif

TEST_CASE("growing array: as a plain vector does, over a million random operations") {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t limit) { return random() % limit; };
  auto array = std::make_unique<GrowingArray<uint64_t>>();
  // Nothing where a value is yet to be set.
  std::vector<std::optional<uint64_t>> model;
  const auto compare_all = [&] {
    for (uint32_t i = 0; i < model.size(); ++i) {
      if (model[i].has_value()) CHECK_EQ((*array)[i], *model[i]);
    }
  };
  for (int step = 0; step < 1'000'000; ++step) {
    const uint64_t choice = below(1000);
    if (choice == 0 && below(20) == 0) {
      // A new one, so that all sizes are gone through many times.
      compare_all();
      array = std::make_unique<GrowingArray<uint64_t>>();
      model.clear();
    } else if (choice < 50 || model.empty()) {
      // Mostly by a little, now and then past several doublings at once, or to less than it has.
      const uint64_t size = below(10) == 0  ? below(100'000)
                            : below(4) == 0 ? below(model.size() + 1)
                                            : model.size() + 1 + below(200);
      array->Grow(static_cast<uint32_t>(size));
      model.resize(std::max<size_t>(model.size(), size));
    } else {
      const auto index = static_cast<uint32_t>(below(model.size()));
      if (model[index].has_value()) CHECK_EQ((*array)[index], *model[index]);
      model[index] = random();
      (*array)[index] = *model[index];
    }
  }
  compare_all();
}

}  // namespace
}  // namespace anteroom
