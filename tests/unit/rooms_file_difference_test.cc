// What has to change so that rooms are as a file says; and that a file made of rooms says the same.
#include "tools/rooms_file/difference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/seed.h"
#include "tools/rooms_file/write.h"

namespace anteroom::tools {
namespace {

using protocol::RoomReply;
using protocol::RoomSettings;

RoomSettings Said(std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
  RoomSettings said;
  for (const auto& [name, text] : settings) CHECK(ParseSetting(name, text, &said).empty());
  return said;
}

// As the daemon makes it of what is said at its creation.
RoomReply Created(std::string name, const RoomSettings& said) {
  RoomReply room;
  room.room = std::move(name);
  room.revision = 1;
  room.settings = protocol::DefaultSettings();
  Overlay(said, &room.settings);
  return room;
}

std::string Described(const Difference& difference) {
  return DescribeDifference(difference);
}

TEST_CASE("rooms difference: create, change, unchanged, not in the file") {
  const std::vector<FileRoom> wanted = {
      {"concert", Said({{"rate", "80/s"}, {"claim_ttl", "10m"}})},
      {"new", Said({{"rate", "5/s"}, {"capacity", "none"}})},
      {"same", Said({{"capacity", "10"}})},
  };
  const std::vector<RoomReply> present = {
      Created("concert", Said({{"rate", "50/s"}, {"session_ttl", "1h"}})),
      Created("other", Said({{"rate", "1/s"}})),
      Created("same", Said({{"capacity", "10"}})),
  };
  const Difference difference = CompareRooms(wanted, present, Prune::kNothing);
  CHECK(Described(difference) ==
        "create new      rate=5/s capacity=none\n"
        "change concert  rate 50/s -> 80/s, claim_ttl 5m -> 10m, session_ttl 1h -> 10m\n"
        "1 to create; 1 to change; 1 unchanged; 1 not in the file, left alone");
  REQUIRE(difference.change.size() == 1);
  CHECK(difference.change[0].set ==
        Said({{"rate", "80/s"}, {"claim_ttl", "10m"}, {"session_ttl", "10m"}}));
  CHECK(difference.change[0].revision == 1);
  CHECK(
      DifferenceToJson(difference).dump() ==
      R"({"create":[{"room":"new","settings":{"rate":"5/s","capacity":"none"}}],)"
      R"("change":[{"room":"concert","revision":1,"settings":{)"
      R"("rate":{"before":"50/s","after":"80/s"},"claim_ttl":{"before":"5m","after":"10m"},)"
      R"("session_ttl":{"before":"1h","after":"10m"}}}],)"
      R"("delete":[],"not_empty":{},"kept_mode":{},"kept_stock":{},"unchanged":1,"not_in_file":1})");
}

TEST_CASE("rooms difference: a rate or capacity that is not said is none") {
  const std::vector<RoomReply> present = {
      Created("sale", Said({{"rate", "5/s"}, {"capacity", "10"}}))};
  const std::vector<FileRoom> wanted = {{"sale", Said({{"rate", "5/s"}})}};
  const Difference difference = CompareRooms(wanted, present, Prune::kNothing);
  REQUIRE(difference.change.size() == 1);
  CHECK(difference.change[0].set == Said({{"capacity", "none"}}));

  const std::vector<RoomReply> unsaid = {Created("sale", Said({{"rate", "5/s"}}))};
  const std::vector<FileRoom> none = {{"sale", Said({{"rate", "5/s"}, {"capacity", "none"}})}};
  CHECK(CompareRooms(none, unsaid, Prune::kNothing).empty());
}

TEST_CASE("rooms difference: a mode that is not said stays") {
  const std::vector<RoomReply> present = {
      Created("sale", Said({{"rate", "5/s"}, {"mode", "paused"}}))};
  const std::vector<FileRoom> unsaid = {{"sale", Said({{"rate", "5/s"}})}};
  const Difference difference = CompareRooms(unsaid, present, Prune::kNothing);
  CHECK(difference.empty());
  CHECK(Described(difference) ==
        "keep sale  mode paused, the file does not say one\n"
        "nothing to change; 1 unchanged");
  CHECK(DifferenceToJson(difference)["kept_mode"].dump() == R"({"sale":"paused"})");
  const std::vector<FileRoom> said = {{"sale", Said({{"rate", "5/s"}, {"mode", "queue"}})}};
  const Difference resumed = CompareRooms(said, present, Prune::kNothing);
  REQUIRE(resumed.change.size() == 1);
  CHECK(resumed.change[0].set == Said({{"mode", "queue"}}));
}

TEST_CASE("rooms difference: what is left of a stock stays, whatever the file says") {
  const std::vector<RoomReply> selling = {Created("sale", Said({{"stock", "150"}}))};
  const std::vector<FileRoom> wanted = {{"sale", Said({{"stock", "200"}})}};
  const Difference difference = CompareRooms(wanted, selling, Prune::kNothing);
  CHECK(difference.empty());
  CHECK(Described(difference) ==
        "keep sale  stock 150, the file says with how many it began; room set changes it\n"
        "nothing to change; 1 unchanged");
  const std::vector<FileRoom> unsaid = {{"sale", Said({{"rate", "5/s"}})}};
  const Difference rate = CompareRooms(unsaid, selling, Prune::kNothing);
  REQUIRE(rate.change.size() == 1);
  CHECK(rate.change[0].set == Said({{"rate", "5/s"}}));
  CHECK(rate.kept_stock.empty());
  const std::vector<RoomReply> without = {Created("sale", Said({{"rate", "5/s"}}))};
  const std::vector<FileRoom> both = {
      {"sale", Said({{"rate", "5/s"}, {"stock", "200"}, {"stock_oversubscribe", "1.5"}})}};
  const Difference begun = CompareRooms(both, without, Prune::kNothing);
  REQUIRE(begun.change.size() == 1);
  CHECK(begun.change[0].set == Said({{"stock", "200"}, {"stock_oversubscribe", "1.5"}}));
}

TEST_CASE("rooms difference: prune deletes who is empty, never one with people") {
  std::vector<RoomReply> present = {Created("empty", Said({{"rate", "5/s"}})),
                                    Created("inside", Said({{"rate", "5/s"}})),
                                    Created("waiting", Said({{"rate", "5/s"}}))};
  present[1].counts.occupied = 2;
  present[2].counts.waiting = 1;
  const Difference difference = CompareRooms({}, present, Prune::kEmptyRooms);
  CHECK(Described(difference) ==
        "delete empty  nobody is in it\n"
        "keep inside   2 people are in it\n"
        "keep waiting  1 person is in it\n"
        "1 to delete; 0 unchanged; 2 not in the file, left alone");
  CHECK(difference.remove == std::vector<std::string>{"empty"});
  CHECK(CompareRooms({}, present, Prune::kNothing).empty());
}

TEST_CASE("rooms file: written by name, defaults left out, numbers bare, dots in quotes") {
  const std::vector<RoomReply> rooms = {
      Created("concert.vip", Said({{"rate", "none"}, {"claim_ttl", "90s"}})),
      Created("sale", Said({{"rate", "50/s"},
                            {"capacity", "500"},
                            {"claim_ttl", "5m"},
                            {"mode", "paused"},
                            {"max_waiting", "18446744073709551614"}})),
  };
  CHECK(WriteRoomsFile(rooms) ==
        "[rooms.\"concert.vip\"]\n"
        "rate = \"none\"\n"
        "claim_ttl = \"90s\"\n"
        "\n"
        "[rooms.sale]\n"
        "mode = \"paused\"\n"
        "rate = \"50/s\"\n"
        "capacity = 500\n"
        "max_waiting = \"18446744073709551614\"\n");
  CHECK(RoomsFileToJson(rooms).dump() ==
        R"({"rooms":{"concert.vip":{"rate":"none","claim_ttl":"90s"},)"
        R"("sale":{"mode":"paused","rate":"50/s","capacity":500,)"
        R"("max_waiting":"18446744073709551614"}}})");
  CHECK(WriteRoomsFile({}) == "[rooms]\n");
}

TEST_CASE("rooms file: strings are escaped") {
  CHECK(TomlString("50/s") == "\"50/s\"");
  CHECK(TomlString("a\"b\\c\n\x7f\xc3\xa9") == "\"a\\\"b\\\\c\\u000a\\u007f\xc3\xa9\"");
  // As a key, it is the name again that was written.
  const RoomsFile read = ReadRoomsFile("[rooms." + TomlString("a\"\\\n") + "]\nrate = \"none\"\n");
  REQUIRE(read.rooms.size() == 1);
  CHECK(read.rooms[0].name == "a\"\\\n");
}

// ---- at random ----

class RandomRooms {
 public:
  explicit RandomRooms(uint64_t seed) : random_(seed) {}

  size_t Below(size_t number) {
    return std::uniform_int_distribution<size_t>(0, number - 1)(random_);
  }

  RoomSettings Settings() {
    static const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> kValues = {
        {"mode", {"queue", "paused", "closed", "passthrough"}},
        {"rate", {"none", "0/s", "50/s", "3000/m"}},
        {"admit_interval", {"20ms", "1s"}},
        {"capacity", {"none", "0", "500", "18446744073709551614"}},
        {"claim_ttl", {"5m", "90s"}},
        {"no_show", {"end", "requeue"}},
        {"requeue_max", {"0", "1", "255"}},
        {"session_ttl", {"10m", "1h"}},
        {"session_renewal", {"sliding", "fixed"}},
        {"waiting_ttl", {"none", "30s"}},
        {"max_waiting", {"none", "7"}},
        {"remember_ttl", {"10m", "365d"}}};
    RoomSettings said;
    for (const auto& [name, values] : kValues) {
      if (Below(2) == 0) CHECK(ParseSetting(name, values[Below(values.size())], &said).empty());
    }
    if (!said.rate && !said.capacity) said.rate = protocol::Rate{};
    return said;
  }

 private:
  std::mt19937_64 random_;
};

constexpr std::string_view kNames[] = {"a", "a.b", "a-b", "0", "1.5", "true", "x_y", "rate", "-"};

TEST_CASE("rooms file: applying an export changes nothing, applying twice neither") {
  RandomRooms random(TestSeed());
  for (int round = 0; round < 300; ++round) {
    std::vector<RoomReply> present;
    std::vector<FileRoom> wanted;
    for (const std::string_view name : kNames) {
      if (random.Below(2) == 0) present.push_back(Created(std::string(name), random.Settings()));
      if (random.Below(2) == 0) wanted.push_back({std::string(name), random.Settings()});
    }
    const RoomsFile exported = ReadRoomsFile(WriteRoomsFile(present));
    CHECK(exported.problems.empty());
    const Difference none = CompareRooms(exported.rooms, present, Prune::kEmptyRooms);
    CHECK(none.empty());
    CHECK(none.unchanged == present.size());

    // What the daemon does with a difference.
    const Difference difference = CompareRooms(wanted, present, Prune::kEmptyRooms);
    CHECK(difference.create.size() + difference.change.size() + difference.unchanged ==
          wanted.size());
    for (const RoomChange& change : difference.change) {
      for (RoomReply& room : present) {
        if (room.room == change.room) Overlay(change.set, &room.settings);
      }
    }
    std::erase_if(present, [&](const RoomReply& room) {
      return std::find(difference.remove.begin(), difference.remove.end(), room.room) !=
             difference.remove.end();
    });
    for (const FileRoom& room : difference.create) present.push_back(Created(room.name, room.said));
    CHECK(CompareRooms(wanted, present, Prune::kEmptyRooms).empty());
    CHECK(present.size() == wanted.size());
    for (const FileRoom& room : wanted) {
      const auto made = std::find_if(present.begin(), present.end(),
                                     [&](const RoomReply& one) { return one.room == room.name; });
      REQUIRE(made != present.end());
      // All that was said is so.
      RoomSettings overlaid = made->settings;
      Overlay(room.said, &overlaid);
      if (!made->settings.rate) overlaid.rate.reset();
      if (!made->settings.capacity) overlaid.capacity.reset();
      CHECK(overlaid == made->settings);
    }
  }
}

}  // namespace
}  // namespace anteroom::tools
