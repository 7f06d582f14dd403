// A connection's two buffers against dumb models.
#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <utility>

#include "server/base/limits.h"
#include "server/net/input_buffer.h"
#include "server/net/outbox.h"
#include "tests/support/seed.h"

namespace anteroom::net {
namespace {

TEST_CASE("an outbox sends nothing before its mark is durable, and all of it after") {
  std::mt19937_64 random(TestSeed());
  Outbox outbox;
  uint64_t durable = 0;
  uint64_t last = 0;
  std::deque<std::pair<uint64_t, std::string>> held;
  std::string expected;
  std::string sent;
  for (int step = 0; step < 200'000; ++step) {
    const std::string frame(1 + random() % 40, static_cast<char>('a' + random() % 26));
    switch (random() % 8) {
      case 0:
        outbox.Immediate()->append(frame);
        expected += frame;
        break;
      case 1:
        if (durable < last) durable += 1 + random() % (last - durable);
        outbox.Release(durable);
        while (!held.empty() && held.front().first <= durable) {
          expected += held.front().second;
          held.pop_front();
        }
        break;
      case 2:
        sent += *outbox.ready();
        outbox.ready()->clear();
        break;
      default:
        last += random() % 3 == 0 ? random() % 3 : 0;
        outbox.Marked(last)->append(frame);
        if (last <= durable) {
          expected += frame;
        } else {
          held.emplace_back(last, frame);
        }
    }
    REQUIRE(sent + *outbox.ready() == expected);
    REQUIRE(outbox.holds() == !held.empty());
    outbox.check_invariants();
    if (expected.size() > 4000) {
      expected.erase(0, sent.size());
      sent.clear();
    }
  }
}

TEST_CASE("an outbox counts what is held and what is ready") {
  Outbox outbox;
  outbox.Marked(5)->append("12345");
  outbox.Immediate()->append("1");
  REQUIRE(outbox.queued_bytes() == 6);
  outbox.Release(4);
  REQUIRE(*outbox.ready() == "1");
  outbox.Release(5);
  REQUIRE(*outbox.ready() == "112345");
  REQUIRE(outbox.queued_bytes() == 6);
  outbox.ready()->clear();
  REQUIRE(outbox.queued_bytes() == 0);
}

TEST_CASE("an outbox that has nothing to say costs nothing once it gives back") {
  Outbox outbox;
  const size_t empty_bytes = outbox.capacity_bytes();
  outbox.Marked(5)->append(1000, 'a');
  outbox.Immediate()->append(1000, 'b');
  outbox.GiveBack();
  REQUIRE(outbox.queued_bytes() == 2000);
  outbox.Release(5);
  outbox.ready()->clear();
  REQUIRE(outbox.capacity_bytes() > empty_bytes);
  outbox.GiveBack();
  REQUIRE(outbox.capacity_bytes() == empty_bytes);
  outbox.Marked(6)->append("c");
  outbox.check_invariants();
  outbox.Release(6);
  REQUIRE(*outbox.ready() == "c");
}

TEST_CASE("an input buffer gives back what was read, in order") {
  std::mt19937_64 random(TestSeed());
  InputBuffer input;
  std::string expected;
  for (int step = 0; step < 100'000; ++step) {
    if (random() % 2 == 0) {
      const std::span<char> room = input.Room();
      if (room.empty()) {
        REQUIRE(input.size() == limits::kInputBytesMax);
        input.Clear();
        expected.clear();
        continue;
      }
      const size_t bytes = random() % std::min<size_t>(room.size() + 1, 6000);
      std::string text(bytes, '\0');
      for (char& c : text) c = static_cast<char>(random());
      std::memcpy(room.data(), text.data(), bytes);
      input.Filled(bytes);
      expected += text;
    } else {
      const size_t bytes = random() % 8 == 0 ? expected.size() : random() % (expected.size() + 1);
      input.Consume(bytes);
      expected.erase(0, bytes);
    }
    REQUIRE(input.view() == expected);
    input.check_invariants();
  }
}

TEST_CASE("an emptied input buffer is let go of: the smallest at once, a larger one when asked") {
  InputBuffer input;
  const auto fill = [&] {
    const size_t bytes = input.Room().size();
    input.Filled(bytes);
    return bytes;
  };
  REQUIRE(fill() == limits::kInputBytesMin);
  input.GiveBack();
  REQUIRE(input.size() == limits::kInputBytesMin);
  input.Clear();
  REQUIRE(input.capacity_bytes() == 0);
  // Room that was made and not used.
  input.Room();
  input.GiveBack();
  REQUIRE(input.capacity_bytes() == 0);
  fill();
  fill();
  input.Clear();
  REQUIRE(input.capacity_bytes() > limits::kInputBytesMin);
  input.GiveBack();
  REQUIRE(input.capacity_bytes() == 0);
  input.check_invariants();
}

TEST_CASE("an input buffer holds the largest frame and no more") {
  InputBuffer input;
  REQUIRE(input.capacity_bytes() == 0);
  size_t filled = 0;
  for (std::span<char> room = input.Room(); !room.empty(); room = input.Room()) {
    std::memset(room.data(), 'x', room.size());
    input.Filled(room.size());
    filled += room.size();
  }
  REQUIRE(filled == limits::kInputBytesMax);
  input.Clear();
  REQUIRE(input.capacity_bytes() == 0);
  REQUIRE(input.Room().size() == limits::kInputBytesMin);
}

}  // namespace
}  // namespace anteroom::net
