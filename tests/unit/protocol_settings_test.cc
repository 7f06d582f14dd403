#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/codec.h"
#include "protocol/duration.h"
#include "protocol/settings.h"
#include "tests/support/seed.h"
#include "tests/support/wire_messages.h"

namespace anteroom {
namespace {

using protocol::Duration;
using protocol::Limit;
using protocol::Mode;
using protocol::ParseSetting;
using protocol::Rate;
using protocol::RoomSettings;

// What is said when `name` is set to `text`; sets nothing then, or exactly that setting.
std::string Wrong(std::string_view name, std::string_view text) {
  RoomSettings settings;
  const std::string wrong = ParseSetting(name, text, &settings);
  CHECK(protocol::FormatSettings(settings).size() == (wrong.empty() ? 1 : 0));
  return wrong;
}

// How a setting typed as `text` is echoed.
std::string Echo(std::string_view name, std::string_view text) {
  RoomSettings settings;
  const std::string wrong = ParseSetting(name, text, &settings);
  if (!wrong.empty()) return "refused: " + wrong;
  const auto formatted = protocol::FormatSettings(settings);
  REQUIRE(formatted.size() == 1);
  REQUIRE(formatted[0].first == name);
  return formatted[0].second;
}

TEST_CASE("settings: what is typed is what is echoed") {
  const std::pair<std::string_view, std::string_view> kTyped[] = {
      {"mode", "queue"},
      {"mode", "passthrough"},
      {"mode", "paused"},
      {"mode", "closed"},
      {"rate", "50/s"},
      {"rate", "3000/m"},
      {"rate", "7/h"},
      {"rate", "0/s"},
      {"rate", "1000000/s"},
      {"rate", "none"},
      {"admit_interval", "20ms"},
      {"admit_interval", "1s"},
      {"admit_interval", "1h"},
      {"capacity", "0"},
      {"capacity", "100"},
      {"capacity", "none"},
      {"claim_ttl", "5m"},
      {"claim_ttl", "365d"},
      {"no_show", "end"},
      {"no_show", "requeue"},
      {"requeue_max", "0"},
      {"requeue_max", "255"},
      {"session_ttl", "10m"},
      {"session_ttl", "24d"},
      {"session_renewal", "fixed"},
      {"session_renewal", "sliding"},
      {"waiting_ttl", "none"},
      {"waiting_ttl", "90s"},
      {"max_waiting", "none"},
      {"max_waiting", "5000"},
      {"remember_ttl", "1s"},
      {"remember_ttl", "2h"},
      {"capacity", "18446744073709551614"},
      {"stock", "0"},
      {"stock", "200"},
      {"stock", "+4"},
      {"stock", "-2"},
      {"stock", "none"},
      {"stock", "1000000000000"},
      {"stock_oversubscribe", "1"},
      {"stock_oversubscribe", "1.5"},
      {"stock_oversubscribe", "1.005"},
      {"stock_oversubscribe", "100"},
  };
  for (const auto& one : kTyped) {
    const std::string_view name = one.first;
    const std::string_view text = one.second;
    CAPTURE(name);
    CHECK(Echo(name, text) == text);
  }
  // The same length in its shortest form.
  CHECK(Echo("claim_ttl", "300s") == "5m");
  CHECK(Echo("claim_ttl", "1500ms") == "1500ms");
  CHECK(Echo("capacity", "007") == "7");
  CHECK(Echo("stock_oversubscribe", "1.50") == "1.5");
}

TEST_CASE("settings: the defaults are those of the design, and allowed") {
  const RoomSettings defaults = protocol::DefaultSettings();
  CHECK(protocol::CheckSettings(defaults).empty());
  const std::vector<std::pair<std::string, std::string>> expected = {{"mode", "queue"},
                                                                     {"admit_interval", "20ms"},
                                                                     {"claim_ttl", "5m"},
                                                                     {"no_show", "end"},
                                                                     {"requeue_max", "1"},
                                                                     {"session_ttl", "10m"},
                                                                     {"session_renewal", "sliding"},
                                                                     {"waiting_ttl", "none"},
                                                                     {"max_waiting", "none"},
                                                                     {"remember_ttl", "10m"}};
  CHECK(protocol::FormatSettings(defaults) == expected);
}

TEST_CASE("settings: a name that does not exist is told the nearest, or all") {
  CHECK(Wrong("claim_tll", "5m") == "there is no setting \"claim_tll\", did you mean claim_ttl?");
  CHECK(Wrong("capactiy", "5") == "there is no setting \"capactiy\", did you mean capacity?");
  CHECK(Wrong("Rate", "5/s") == "there is no setting \"Rate\", did you mean rate?");
  CHECK(Wrong("zzzzzz", "5") ==
        "there is no setting \"zzzzzz\", the settings are: mode rate admit_interval capacity "
        "claim_ttl no_show requeue_max session_ttl session_renewal waiting_ttl max_waiting "
        "remember_ttl stock stock_oversubscribe");
  CHECK(Wrong("\x1b[2J", "5").starts_with("there is no setting \"\\x1b[2J\", the settings are: "));
}

TEST_CASE("settings: a value of the wrong form is told the right one") {
  CHECK(Wrong("mode", "open") ==
        "mode is \"open\", it takes one of queue passthrough paused closed");
  CHECK(Wrong("no_show", "") == "no_show is \"\", it takes one of end requeue");
  CHECK(Wrong("session_renewal", "slide") ==
        "session_renewal is \"slide\", it takes one of sliding fixed");
  CHECK(Wrong("requeue_max", "256") ==
        "requeue_max is \"256\", it takes a whole number from 0 to 255, like 1");
  CHECK(Wrong("capacity", "-1") == "capacity is \"-1\", it takes a whole number like 100, or none");
  CHECK(Wrong("rate", "50") ==
        "rate is \"50\", it takes admissions in time like 50/s, 3000/m or 10/h, or none");
  CHECK(Wrong("claim_ttl", "5") ==
        "claim_ttl is \"5\", it takes a duration with a unit like 500ms, 30s, 5m or 1h: 1ms to "
        "365d");
  CHECK(Wrong("waiting_ttl", "soon") ==
        "waiting_ttl is \"soon\", it takes a duration with a unit like 500ms, 30s, 5m or 1h: 1ms "
        "to 24d, or none");
  for (const std::string_view text : {"", "/s", "-1/s", "50/", "50/d", "50 /s", "5.0/s", "0x5/s",
                                      "4294967296/s", "50/s ", "+5/s"}) {
    CAPTURE(text);
    CHECK_FALSE(Wrong("rate", text).empty());
  }
  for (const std::string_view text :
       {"", " 5", "5 ", "+5", "1e3", "18446744073709551615", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(Wrong("capacity", text).empty());
  }
}

TEST_CASE("settings: a stock and a factor have no other forms") {
  for (const std::string_view text :
       {"", "+", "-", "++1", "+none", "1.5", " 1", "0x1", "18446744073709551615"}) {
    CAPTURE(text);
    CHECK(Wrong("stock", text).find("it takes units left like 200") != std::string::npos);
  }
  for (const std::string_view text : {"", ".5", "1.", "1.2345", "1,5", "+1", "1e1", "none"}) {
    CAPTURE(text);
    CHECK(Wrong("stock_oversubscribe", text).find("it takes a factor") != std::string::npos);
  }
}

TEST_CASE("settings: a value outside its range is told the range") {
  CHECK(Wrong("rate", "1000001/s") ==
        "rate is 1000001/s, it takes at most 1000000 admissions in its unit of time");
  CHECK(Wrong("claim_ttl", "0s") == "claim_ttl is 0s, it takes 1ms to 365d");
  CHECK(Wrong("claim_ttl", "none") == "claim_ttl is none, it takes 1ms to 365d");
  CHECK(Wrong("admit_interval", "61m") == "admit_interval is 61m, it takes 1ms to 1h");
  CHECK(Wrong("session_ttl", "25d") == "session_ttl is 25d, it takes 1ms to 24d");
  CHECK(Wrong("waiting_ttl", "0s") == "waiting_ttl is 0s, it takes 1ms to 24d, or none");
  CHECK(Wrong("stock", "1000000000001").starts_with("stock is 1000000000001, it takes at most "));
  CHECK(Wrong("stock", "+0").starts_with("stock is +0, it takes "));
  CHECK(Wrong("stock_oversubscribe", "0.999") == "stock_oversubscribe is 0.999, it takes 1 to 100");
  CHECK(Wrong("stock_oversubscribe", "100.001") ==
        "stock_oversubscribe is 100.001, it takes 1 to 100");
  CHECK(Wrong("remember_ttl", "999ms") == "remember_ttl is 999ms, it takes 1s to 365d");
}

TEST_CASE("settings: values that came over the wire are checked too") {
  RoomSettings settings;
  settings.claim_ttl = Duration{-2};
  CHECK(protocol::CheckSettings(settings) == "claim_ttl is -2ms, it takes 1ms to 365d");
  settings.rate = Rate{5, 7};
  CHECK(protocol::CheckSettings(settings) ==
        "rate is per 7 ms, it takes a second, a minute or an hour");
  settings = RoomSettings();
  CHECK(protocol::CheckSettings(settings).empty());
}

TEST_CASE("settings: what is said lies over what was") {
  RoomSettings settings = protocol::DefaultSettings();
  RoomSettings said;
  said.mode = Mode::kPaused;
  said.capacity = Limit{7};
  protocol::Overlay(said, &settings);
  RoomSettings expected = protocol::DefaultSettings();
  expected.mode = Mode::kPaused;
  expected.capacity = Limit{7};
  CHECK(settings == expected);
}

TEST_CASE("settings: any that are allowed survive being formatted and parsed") {
  RandomMessages random(TestSeed());
  size_t allowed = 0;
  for (int i = 0; i < 20000; ++i) {
    RoomSettings settings = random.Make<RoomSettings>();
    if (settings.rate.has_value() && !settings.rate->none()) settings.rate->per_ms = 60'000;
    if (!protocol::CheckSettings(settings).empty()) continue;
    ++allowed;
    RoomSettings read;
    for (const auto& one : protocol::FormatSettings(settings)) {
      const auto& name = one.first;
      const auto& text = one.second;
      CAPTURE(name);
      CAPTURE(text);
      REQUIRE(ParseSetting(name, text, &read) == "");
    }
    REQUIRE(read == settings);
  }
  CHECK(allowed > 100);
}

TEST_CASE("durations: a whole number and a unit, nothing else") {
  using protocol::ParseDurationMs;
  CHECK(ParseDurationMs("500ms") == 500);
  CHECK(ParseDurationMs("30s") == 30'000);
  CHECK(ParseDurationMs("5m") == 300'000);
  CHECK(ParseDurationMs("1h") == 3'600'000);
  CHECK(ParseDurationMs("2d") == 172'800'000);
  CHECK(ParseDurationMs("0s") == 0);
  CHECK(ParseDurationMs("365d") == protocol::kDurationMsMax);
  CHECK(ParseDurationMs("31536000000ms") == protocol::kDurationMsMax);
  for (const std::string_view text : {"",
                                      "5",
                                      "s",
                                      "ms",
                                      "-1s",
                                      "-0s",
                                      "+1s",
                                      "1.5s",
                                      "1 s",
                                      " 1s",
                                      "1s ",
                                      "1S",
                                      "1w",
                                      "1hm",
                                      "1h30m",
                                      "366d",
                                      "31536000001ms",
                                      "9223372036854775808ms",
                                      "18446744073709551616ms",
                                      "106751991168d",
                                      "none"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseDurationMs(text).has_value());
  }
}

TEST_CASE("durations: the shortest form, which parses to the same") {
  using protocol::FormatDurationMs;
  CHECK(FormatDurationMs(0) == "0s");
  CHECK(FormatDurationMs(1) == "1ms");
  CHECK(FormatDurationMs(1000) == "1s");
  CHECK(FormatDurationMs(90'000) == "90s");
  CHECK(FormatDurationMs(300'000) == "5m");
  CHECK(FormatDurationMs(86'400'000) == "1d");
  RandomMessages random(TestSeed() + 2);
  for (int i = 0; i < 20000; ++i) {
    constexpr uint64_t kScales[] = {1, 1000, 60'000, 3'600'000, 86'400'000};
    const uint64_t scale = kScales[random.Below(5)];
    const auto duration_ms =
        static_cast<int64_t>(random.Below(protocol::kDurationMsMax / scale + 1) * scale);
    REQUIRE(protocol::ParseDurationMs(FormatDurationMs(duration_ms)) == duration_ms);
  }
}

TEST_CASE("names: rooms and visitors") {
  for (const std::string& name :
       {std::string("a"), std::string("sale-2026_x.1"), std::string(64, 'z')}) {
    CHECK(protocol::CheckRoomName(name).empty());
  }
  for (const std::string& name : {std::string(), std::string("Sale"), std::string("a b"),
                                  std::string("a/b"), std::string("a*"), std::string("caf\xc3\xa9"),
                                  std::string("a\0b", 3), std::string(65, 'z')}) {
    CAPTURE(name);
    CHECK_FALSE(protocol::CheckRoomName(name).empty());
  }
  CHECK(protocol::CheckRoomName("a\nb") ==
        "a room's name is 1 to 64 of a-z 0-9 . _ -, not \"a\\x0ab\"");
  CHECK(protocol::CheckVisitorId(std::string(1, '\0')).empty());
  CHECK(protocol::CheckVisitorId(std::string(255, 'v')).empty());
  CHECK(protocol::CheckVisitorId("") == "a visitor's id is 1 to 255 bytes, not 0");
  CHECK(protocol::CheckVisitorId(std::string(256, 'v')) ==
        "a visitor's id is 1 to 255 bytes, not 256");
}

}  // namespace
}  // namespace anteroom
