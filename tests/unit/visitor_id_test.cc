#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "server/base/check.h"
#include "server/engine/visitor_id.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

std::string RandomId(std::mt19937_64& random, size_t length) {
  std::string id(length, '\0');
  for (char& byte : id) byte = static_cast<char>(random());
  return id;
}

TEST_CASE("visitor id: every length from 0 to 255 comes back, any bytes") {
  std::mt19937_64 random(TestSeed());
  for (size_t length = 0; length <= kVisitorIdBytesMax; ++length) {
    const std::string id = RandomId(random, length);
    PackedId packed = {};
    packed.Set(id);
    CHECK_EQ(packed.view(), std::string_view(id));
    CHECK(packed.Equals(id));
    CHECK_EQ(packed.spilled(), length > 16);
    CHECK_EQ(packed.heap_bytes() == 0, length <= 16);
    if (length > 16) CHECK_GE(packed.heap_bytes(), length + 8);
    packed.check_invariants();
    packed.Clear();
    CHECK(packed.view().empty());
  }
}

TEST_CASE("visitor id: differs by a byte, by its length, by a zero at the end") {
  PackedId packed = {};
  packed.Set("anna");
  CHECK(!packed.Equals("annb"));
  CHECK(!packed.Equals("ann"));
  CHECK(!packed.Equals(std::string_view("anna\0", 5)));
  CHECK(!packed.Equals(""));
}

TEST_CASE("visitor id: may be set from its own view") {
  PackedId packed = {};
  packed.Set(std::string(100, 'x') + "tail");
  packed.Set(packed.view().substr(90));
  CHECK_EQ(packed.view(), std::string_view("xxxxxxxxxxtail"));
  packed.Set(packed.view().substr(10));
  CHECK_EQ(packed.view(), std::string_view("tail"));
  packed.check_invariants();
}

TEST_CASE("visitor id: a million random operations against strings") {
  std::mt19937_64 random(TestSeed());
  constexpr size_t kIds = 500;
  std::vector<PackedId> ids(kIds, PackedId{});
  std::vector<std::string> model(kIds);
  for (int i = 0; i < 1'000'000; ++i) {
    const size_t at = random() % kIds;
    switch (random() % 4) {
      case 0: {
        // Most lengths near where an id spills.
        const size_t length = random() % 8 == 0 ? random() % 256 : 10 + random() % 12;
        model[at] = RandomId(random, length);
        ids[at].Set(model[at]);
        break;
      }
      case 1:
        ids[at].Clear();
        model[at].clear();
        break;
      case 2: {
        // An entry that moves takes its id along as bytes.
        const size_t other = random() % kIds;
        std::swap(ids[at], ids[other]);
        std::swap(model[at], model[other]);
        break;
      }
      default: {
        const size_t other = random() % kIds;
        CHECK_EQ(ids[at].Equals(model[other]), model[at] == model[other]);
      }
    }
    CHECK_EQ(ids[at].view(), std::string_view(model[at]));
    ids[at].check_invariants();
  }
  for (PackedId& id : ids) id.Clear();
}

}  // namespace
}  // namespace anteroom
