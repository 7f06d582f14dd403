#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "server/base/check.h"

namespace anteroom {
namespace {

// The message with which `statement` fails, or "" when it does not.
std::string FailureOf(const std::function<void()>& statement) {
  try {
    statement();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("check: what holds passes, and its operands are evaluated once") {
  int evaluations = 0;
  auto count = [&] { return ++evaluations; };
  CHECK(count() == 1);
  CHECK_EQ(count(), 2);
  CHECK_GE(count(), 3);
  REQUIRE(evaluations == 3);
}

TEST_CASE("check: a failure names the place, the expression and both values") {
  const std::string failure = FailureOf([] { CHECK_EQ(2 + 2, 5); });
  REQUIRE(Contains(failure, "check_test.cc:"));
  REQUIRE(Contains(failure, "CHECK_EQ(2 + 2, 5) failed: 4 == 5 does not hold"));
  REQUIRE(Contains(FailureOf([] { CHECK(1 > 2); }), "CHECK(1 > 2) failed"));
}

TEST_CASE("check: integers of different signedness are compared by value") {
  REQUIRE(FailureOf([] { CHECK_LT(-1, uint64_t{0}); }).empty());
  REQUIRE(Contains(FailureOf([] { CHECK_EQ(uint64_t{UINT64_MAX}, -1); }),
                   "18446744073709551615 == -1"));
}

TEST_CASE("check: every relation fails when it should") {
  REQUIRE_FALSE(FailureOf([] { CHECK_NE(1, 1); }).empty());
  REQUIRE_FALSE(FailureOf([] { CHECK_LT(1, 1); }).empty());
  REQUIRE_FALSE(FailureOf([] { CHECK_LE(2, 1); }).empty());
  REQUIRE_FALSE(FailureOf([] { CHECK_GT(1, 1); }).empty());
  REQUIRE_FALSE(FailureOf([] { CHECK_GE(0, 1); }).empty());
}

TEST_CASE("check: text is shown quoted, with control bytes escaped") {
  REQUIRE(Contains(FailureOf([] { CHECK_EQ(std::string("a\x1b"), std::string_view("b")); }),
                   R"("a\x1B" == "b" does not hold)"));
}

struct FakeStatus {
  bool ok() const { return message.empty(); }
  std::string ToString() const { return message; }
  std::string message;
};

TEST_CASE("check: CHECK_OK shows the status") {
  REQUIRE(FailureOf([] { CHECK_OK(FakeStatus{}); }).empty());
  REQUIRE(Contains(FailureOf([] { CHECK_OK(FakeStatus{"disk on fire"}); }), "disk on fire"));
}

TEST_CASE("check: pointers may be null") {
  const char* null = nullptr;
  REQUIRE(Contains(FailureOf([&] { CHECK_NE(null, nullptr); }), "!= nullptr does not hold"));
}

TEST_CASE("check: DCHECK costs nothing in release and works in sanitizer builds") {
  int evaluations = 0;
  DCHECK(++evaluations > 0);
#ifdef ANTEROOM_DCHECKS
  REQUIRE(evaluations == 1);
#else
  REQUIRE(evaluations == 0);
#endif
}

}  // namespace
}  // namespace anteroom
