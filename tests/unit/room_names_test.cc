#include "server/engine/room_names.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/check.h"
#include "tests/support/seed.h"

namespace anteroom {
namespace {

// Names as their bytes, so that the model's order is that of bytes, whatever a char is.
using NameBytes = std::vector<uint8_t>;
using PlainNames = std::map<NameBytes, uint32_t>;

NameBytes BytesOf(std::string_view name) {
  return NameBytes(name.begin(), name.end());
}
std::string NameOf(const NameBytes& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

uint32_t NumberIn(const PlainNames& model, const NameBytes& bytes) {
  const auto found = model.find(bytes);
  return found == model.end() ? 0 : found->second;
}

std::string NameAfter(const PlainNames& model, const NameBytes& bytes) {
  const auto next = model.upper_bound(bytes);
  return next == model.end() ? std::string() : NameOf(next->first);
}

TEST_CASE("room names: found by name, listed in the order of bytes") {
  RoomNames names;
  CHECK_EQ(names.Find("sale"), 0u);
  CHECK_EQ(names.After(""), "");
  uint32_t number = 0;
  for (const std::string_view name : {"sale", "\xC3\xA9t\xC3\xA9", "Sale", "sal", "sale-2"}) {
    names.Add(name, ++number);
  }
  CHECK_EQ(names.size(), 5u);
  CHECK_EQ(names.Find("sale"), 1u);
  CHECK_EQ(names.Find("sale-2"), 5u);
  CHECK_EQ(names.Find("sale-"), 0u);
  std::vector<std::string> listed;
  listed.reserve(names.size());
  for (std::string_view name = names.After(""); !name.empty(); name = names.After(name)) {
    REQUIRE_LT(listed.size(), names.size());
    listed.emplace_back(name);
  }
  CHECK(listed == std::vector<std::string>{"Sale", "sal", "sale", "sale-2", "\xC3\xA9t\xC3\xA9"});
  // After a name that is none, as when the room was deleted between two pages of a list.
  CHECK_EQ(names.After("sale-1"), "sale-2");
  names.check_invariants();
}

TEST_CASE("room names: a name that went may come back with another number") {
  RoomNames names;
  names.Add("sale", 1);
  names.Remove("sale");
  CHECK_EQ(names.Find("sale"), 0u);
  CHECK_EQ(names.After(""), "");
  names.Add("sale", 2);
  CHECK_EQ(names.Find("sale"), 2u);
  CHECK_EQ(names.size(), 1u);
  names.check_invariants();
}

TEST_CASE("room names: as a plain map does, over a million random operations") {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t limit) { return random() % limit; };
  RoomNames names;
  PlainNames model;
  uint32_t last_number = 0;
  // Out of few bytes, the least and the greatest among them, so that names are often the same, or
  // one begins with another; now and then a long one.
  const auto any_name = [&] {
    static constexpr uint8_t kBytes[] = {0, 1, 'a', 'b', 0x7F, 0x80, 0xFF};
    NameBytes bytes(1 + below(below(8) == 0 ? 40 : 4));
    for (uint8_t& byte : bytes) byte = kBytes[below(sizeof kBytes)];
    return bytes;
  };
  for (int step = 0; step < 1'000'000; ++step) {
    const NameBytes bytes = any_name();
    const std::string name = NameOf(bytes);
    const uint32_t number = NumberIn(model, bytes);
    CHECK_EQ(names.Find(name), number);
    // The share of additions swings, so that there are few names at times and many at others.
    const bool fill = below(100) < ((step / 50'000) % 2 == 0 ? 90u : 10u);
    switch (below(4)) {
      case 0:
        CHECK_EQ(names.After(name), NameAfter(model, bytes));
        break;
      case 1:
        if (fill && number == 0) {
          names.Add(name, ++last_number);
          model[bytes] = last_number;
        }
        break;
      default:
        if (!fill && number != 0) {
          names.Remove(name);
          model.erase(bytes);
        } else if (!fill && !model.empty()) {
          // The next one after it, by the name that the structure itself holds.
          const std::string_view next = names.After(name);
          if (next.empty()) break;
          CHECK_EQ(model.erase(BytesOf(next)), 1u);
          names.Remove(next);
        }
    }
    CHECK_EQ(names.size(), model.size());
    if (step % 20'000 != 0) continue;
    names.check_invariants();
    std::string_view listed = names.After("");
    for (const auto& [each, its_number] : model) {
      CHECK_EQ(listed, NameOf(each));
      CHECK_EQ(names.Find(listed), its_number);
      listed = names.After(listed);
    }
    CHECK(listed.empty());
  }
}

}  // namespace
}  // namespace anteroom
