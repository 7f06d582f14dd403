#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "protocol/kinds.h"
#include "protocol/text.h"
#include "tests/support/seed.h"
#include "tests/support/wire_messages.h"

namespace anteroom {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): bytes with zeros
using protocol::EscapeId;
using protocol::NearestName;
using protocol::UnescapeId;

std::optional<std::string> Unescaped(std::string_view text) {
  std::string bytes = "left over";
  if (!UnescapeId(text, &bytes)) return std::nullopt;
  return bytes;
}

TEST_CASE("ids: what is printable UTF-8 is shown as it is") {
  for (const std::string_view id :
       {"", "user:7", " ", "~", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\xab", "\xc2\xa0",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(EscapeId(id) == id);
  }
}

TEST_CASE("ids: everything else is escaped") {
  CHECK(EscapeId("a\\b") == "a\\\\b");
  CHECK(EscapeId("a\0b"s) == "a\\x00b");
  CHECK(EscapeId("\n\r\t\x1b\x7f") == "\\x0a\\x0d\\x09\\x1b\\x7f");
  CHECK(EscapeId("\xff") == "\\xff");
  CHECK(EscapeId("\x80") == "\\x80");                    // a continuation alone
  CHECK(EscapeId("\xc3") == "\\xc3");                    // cut off
  CHECK(EscapeId("\xc3z") == "\\xc3z");                  // not continued
  CHECK(EscapeId("\xe2\x82") == "\\xe2\\x82");           // cut off
  CHECK(EscapeId("\xc0\xaf") == "\\xc0\\xaf");           // overlong
  CHECK(EscapeId("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");  // overlong
  CHECK(EscapeId("\xf0\x80\x80\xaf") == "\\xf0\\x80\\x80\\xaf");
  CHECK(EscapeId("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(EscapeId("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  CHECK(EscapeId("\xc2\x9b") == "\\xc2\\x9b");                    // a C1 control
}

TEST_CASE("ids: unescaping reads what escaping writes and refuses other escapes") {
  CHECK(Unescaped("a\\\\b") == "a\\b");
  CHECK(Unescaped("\\x00\\xFf") == "\0\xff"s);
  CHECK(Unescaped("\\\\x00") == "\\x00");
  for (const std::string_view text :
       {"\\", "a\\", "\\n", "\\x", "\\x1", "\\xg0", "\\x0g", "\\X00", "\\x-1", "\\x 1"}) {
    CAPTURE(text);
    CHECK_FALSE(Unescaped(text).has_value());
  }
}

std::string WithBackslashesDoubled(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '\\' ? 2 : 1, c);
  return doubled;
}

TEST_CASE("ids: any bytes survive, and their shown form is printable") {
  RandomMessages random(TestSeed());
  for (int i = 0; i < 50000; ++i) {
    std::string bytes = random.Bytes(random.Below(24));
    // Random bytes are seldom UTF-8: mix in some.
    if (random.Below(2) == 0)
      bytes.insert(random.Below(bytes.size() + 1), "\xe2\x82\xac\\\xc3\xa9");
    const std::string shown = EscapeId(bytes);
    REQUIRE(Unescaped(shown) == bytes);
    for (const char c : shown) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    // Nothing but backslashes is left to escape, so what is shown is UTF-8.
    REQUIRE(EscapeId(shown) == WithBackslashesDoubled(shown));
  }
}

TEST_CASE("names: the nearest one, if it can have been meant") {
  constexpr std::string_view kNames[] = {"join", "enter", "leave", "status", "finish", "room"};
  CHECK(NearestName("joni", kNames) == "join");
  CHECK(NearestName("jon", kNames) == "join");
  CHECK(NearestName("jnio", kNames).empty());  // two edits in four letters
  CHECK(NearestName("joinn", kNames) == "join");
  CHECK(NearestName("stauts", kNames) == "status");
  CHECK(NearestName("finnish", kNames) == "finish");
  CHECK(NearestName("leaves", kNames) == "leave");
  CHECK(NearestName("join", kNames) == "join");
  CHECK(NearestName("", kNames).empty());
  CHECK(NearestName("watch", kNames).empty());
  CHECK(NearestName("join", std::span<const std::string_view>()).empty());
  // The nearer one wins over the earlier one, the earlier one among equals.
  constexpr std::string_view kNear[] = {"claims", "claim", "clam"};
  CHECK(NearestName("clai", kNear) == "claim");
}

template <typename Kind, typename Parse>
void CheckKind(std::span<const std::string_view> names, Parse parse) {
  std::set<std::string_view> seen;
  for (const std::string_view name : names) {
    const std::optional<Kind> parsed = parse(name);
    REQUIRE(parsed.has_value());
    CHECK(NameOf(*parsed) == name);
    CHECK(static_cast<int>(*parsed) != 0);
    CHECK(seen.insert(name).second);
  }
  size_t named = 0;
  for (int number = 0; number < 256; ++number) {
    if (!NameOf(static_cast<Kind>(number)).empty()) ++named;
  }
  CHECK(named == names.size());
  for (const std::string_view name : {"", "Waiting", "nothing of the kind"}) {
    CHECK_FALSE(parse(name).has_value());
  }
}

TEST_CASE("kinds: names and numbers go both ways") {
  CheckKind<protocol::State>(protocol::StateNames(), protocol::ParseState);
  CheckKind<protocol::Reason>(protocol::ReasonNames(), protocol::ParseReason);
  CheckKind<protocol::Mode>(protocol::ModeNames(), protocol::ParseMode);
  CheckKind<protocol::NoShow>(protocol::NoShowNames(), protocol::ParseNoShow);
  CheckKind<protocol::Renewal>(protocol::RenewalNames(), protocol::ParseRenewal);
  CheckKind<protocol::Outcome>(protocol::OutcomeNames(), protocol::ParseOutcome);
  CheckKind<protocol::ErrorCode>(protocol::ErrorCodeNames(), protocol::ParseErrorCode);
}

}  // namespace
}  // namespace anteroom
