// What a daemon says as metrics: names and units that Prometheus expects, every count of every
// room, and what becomes of a scrape when the daemon says little or nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/testing/test_daemon.h"
#include "tools/metrics/collector.h"
#include "tools/metrics/exposition.h"
#include "tools/metrics/reading.h"

namespace anteroom::metrics {
namespace {

protocol::HealthReply SomeHealth() {
  protocol::HealthReply health;
  health.version = "0.1.0";
  health.role = "leader";
  health.status = "ok";
  health.durability = "commit";
  health.snapshots = "ok";
  health.at_ms = 90'500;
  health.uptime_ms = 1500;
  health.sequence = 12;
  health.durable_sequence = 11;
  health.log_bytes = 4096;
  health.reserved_bytes = 65'536;
  health.reserved_minutes = 3;
  health.disk_free_bytes = 1'000'000'000'000;
  health.sync_p50_us = 250;
  health.sync_p99_us = 7500;
  health.connections = 4;
  health.watches = 5;
  health.memory_bytes = 600;
  health.memory_max_bytes = 6000;
  health.syncs = {.count = 9, .sum_us = 2'500'000, .buckets = {{250, 4}, {1'000'000, 8}}};
  health.answers = {.count = 1, .sum_us = 1, .buckets = {}};
  return health;
}

// A different number for each count, from `first` on, in the order of the fields.
protocol::Counts SomeCounts(uint64_t first) {
  protocol::Counts counts;
  protocol::Counts::Fields(counts, [&](std::string_view, auto& field) {
    if constexpr (std::is_same_v<decltype(field), uint64_t&>) field = first++;
  });
  counts.refused_total = {{protocol::ErrorCode::kLineFull, 7}};
  return counts;
}

protocol::RoomReply SomeRoom(std::string_view name, uint64_t first) {
  protocol::RoomReply room;
  room.room = name;
  room.settings.mode = protocol::Mode::kQueue;
  room.settings.rate = protocol::Rate{90, 60'000};
  room.settings.capacity = protocol::Limit{500};
  room.counts = SomeCounts(first);
  return room;
}

Reading SomeReading() {
  Reading reading;
  reading.health = SomeHealth();
  RoomsReading& rooms = reading.rooms.emplace();
  rooms.all.rooms = 5;
  rooms.all.counts = SomeCounts(1000);
  rooms.all.joins_per_s_milli = 2500;
  rooms.labelled = {SomeRoom("concert", 100), SomeRoom("opera", 200)};
  return reading;
}

bool HasLine(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

bool HasLine(const Reading& reading, const std::string& line) {
  return HasLine(TextOf(FamiliesOf(reading)), line);
}

TEST_CASE("metrics: names, help and types are as Prometheus has them") {
  const std::regex right("anteroom_[a-z][a-z0-9_]*");
  std::set<std::string> names;
  for (const Family& family : FamiliesOf(SomeReading())) {
    CAPTURE(family.name);
    CHECK(std::regex_match(family.name, right));
    CHECK(names.insert(family.name).second);
    CHECK(family.help.ends_with('.'));
    CHECK(family.name.ends_with("_total") == (family.type == prometheus::MetricType::Counter));
    std::set<std::vector<prometheus::ClientMetric::Label>> labels;
    for (const prometheus::ClientMetric& metric : family.metric) {
      CHECK(labels.insert(metric.label).second);
    }
  }
}

TEST_CASE("metrics: the daemon in base units") {
  const Reading reading = SomeReading();
  for (const char* line :
       {"anteroom_up 1",
        "anteroom_scrape_complete 1",
        "anteroom_build_info{version=\"0.1.0\",role=\"leader\",durability=\"commit\"} 1",
        "anteroom_status{status=\"ok\"} 1",
        "anteroom_status{status=\"disk_full\"} 0",
        "anteroom_snapshots_ok 1",
        "anteroom_snapshots{state=\"failing\"} 0",
        "anteroom_engine_time_seconds 90.5",
        "anteroom_uptime_seconds 1.5",
        "anteroom_records_total 12",
        "anteroom_records_durable_total 11",
        "anteroom_log_reserved_seconds 180",
        "anteroom_disk_free_bytes 1000000000000",
        "anteroom_sync_p50_seconds 0.00025",
        "anteroom_memory_max_bytes 6000",
        "anteroom_sync_seconds_bucket{le=\"0.00025\"} 4",
        "anteroom_sync_seconds_bucket{le=\"1\"} 8",
        "anteroom_sync_seconds_bucket{le=\"+Inf\"} 9",
        "anteroom_sync_seconds_sum 2.5",
        "anteroom_sync_seconds_count 9",
        "anteroom_answer_seconds_count 1",
        "anteroom_joins_per_second 2.5",
        "anteroom_rooms 5",
        "anteroom_rooms_left_out 3"}) {
    CAPTURE(line);
    CHECK(HasLine(reading, line));
  }
}

TEST_CASE("metrics: each field of health shows") {
  const std::string before = TextOf(FamiliesOf(SomeReading()));
  size_t fields = 0;
  const protocol::HealthReply some = SomeHealth();
  protocol::HealthReply::Fields(some, [&](std::string_view, const auto&) { ++fields; });
  for (size_t changed = 0; changed < fields; ++changed) {
    Reading reading = SomeReading();
    size_t at = 0;
    std::string_view name;
    protocol::HealthReply::Fields(*reading.health, [&](std::string_view field_name, auto& field) {
      if (at++ != changed) return;
      name = field_name;
      using Field = std::remove_reference_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, std::string>) field += "-other";
      if constexpr (std::is_same_v<Field, std::optional<protocol::Latencies>>) ++field->count;
      if constexpr (std::is_same_v<Field, bool>) field = !field;
      if constexpr (std::is_same_v<Field, uint64_t>) ++field;
      if constexpr (std::is_same_v<Field, std::optional<uint64_t>>) field = *field + 1;
    });
    CAPTURE(name);
    CHECK(TextOf(FamiliesOf(reading)) != before);
  }
}

TEST_CASE("metrics: what is absent is absent, not 0") {
  Reading reading = SomeReading();
  reading.health->reserved_minutes.reset();
  reading.health->sync_p50_us.reset();
  reading.health->sync_p99_us.reset();
  reading.health->memory_bytes.reset();
  reading.rooms->labelled[0].settings.capacity = protocol::Limit{};
  reading.rooms->labelled[0].settings.rate = protocol::Rate{};
  const std::string text = TextOf(FamiliesOf(reading));
  for (const char* absent : {"reserved_seconds", "sync_p50", "sync_p99", "memory_bytes"}) {
    CAPTURE(absent);
    CHECK(text.find(absent) == std::string::npos);
  }
  CHECK(text.find("anteroom_room_capacity{room=\"concert\"}") == std::string::npos);
  CHECK(text.find("anteroom_room_rate_per_second{room=\"concert\"}") == std::string::npos);
  CHECK(HasLine(text, "anteroom_room_capacity{room=\"opera\"} 500"));
  CHECK(HasLine(text, "anteroom_room_rate_per_second{room=\"opera\"} 1.5"));
}

TEST_CASE("metrics: stock, of rooms that have one") {
  Reading reading = SomeReading();
  CHECK_FALSE(HasLine(reading, "anteroom_room_stock_units{room=\"concert\"} 0"));
  protocol::RoomReply& room = reading.rooms->labelled[0];
  room.settings.stock = protocol::Stock{40};
  room.counts.sold_units_total = 160;
  room.counts.oversold_units_total = 3;
  CHECK(HasLine(reading, "anteroom_room_stock_units{room=\"concert\"} 40"));
  CHECK(HasLine(reading, "anteroom_room_sold_units_total{room=\"concert\"} 160"));
  CHECK(HasLine(reading, "anteroom_room_oversold_units_total{room=\"concert\"} 3"));
  room.settings.stock = protocol::Stock{};
  CHECK_FALSE(HasLine(reading, "anteroom_room_stock_units{room=\"concert\"} 40"));
}

TEST_CASE("metrics: every count, of each room and of all together") {
  const std::string text = TextOf(FamiliesOf(SomeReading()));
  uint64_t at = 0;
  const protocol::Counts names;
  protocol::Counts::Fields(names, [&](std::string_view name, const auto& field) {
    if constexpr (std::is_same_v<decltype(field), const uint64_t&>) {
      CAPTURE(name);
      const std::string room = "anteroom_room_" + std::string(name);
      CHECK(HasLine(text, room + "{room=\"concert\"} " + std::to_string(100 + at)));
      CHECK(HasLine(text, room + "{room=\"opera\"} " + std::to_string(200 + at)));
      std::string all = std::string(name);
      if (all.ends_with("_total")) all = "ever_" + all.substr(0, all.size() - 6);
      CHECK(HasLine(text, "anteroom_" + all + " " + std::to_string(1000 + at)));
      ++at;
    }
  });
  CHECK(at >= 13);
  CHECK(HasLine(text, "anteroom_refused_total{reason=\"line_full\"} 7"));
  CHECK(HasLine(text, "anteroom_refused_total{reason=\"closed\"} 0"));
  CHECK(HasLine(text, "anteroom_room_refused_total{room=\"opera\",reason=\"line_full\"} 7"));
  CHECK(HasLine(text, "anteroom_room_mode{room=\"opera\",mode=\"queue\"} 1"));
}

TEST_CASE("metrics: states that are not known show all the same") {
  Reading reading = SomeReading();
  reading.health->status = "on_fire";
  reading.health->snapshots = "failing";
  CHECK(HasLine(reading, "anteroom_status{status=\"ok\"} 0"));
  CHECK(HasLine(reading, "anteroom_status{status=\"on_fire\"} 1"));
  CHECK(HasLine(reading, "anteroom_snapshots_ok 0"));
  CHECK(HasLine(reading, "anteroom_snapshots{state=\"failing\"} 1"));
}

TEST_CASE("metrics: labels may be anything") {
  Reading reading = SomeReading();
  reading.health->version = "a\"b\\c\nd\x1b[2J\xff";
  CHECK(HasLine(reading,
                "anteroom_build_info{version=\"a\\\"b\\\\c\\\\x0ad\\\\x1b[2J\\\\xff\","
                "role=\"leader\",durability=\"commit\"} 1"));
}

TEST_CASE("metrics: a daemon that is away, and one that tells of no rooms") {
  CHECK(TextOf(FamiliesOf({})) ==
        "# HELP anteroom_up 1 when the daemon has answered, 0 when it could not be asked.\n"
        "# TYPE anteroom_up gauge\nanteroom_up 0\n");
  Reading reading = SomeReading();
  reading.rooms.reset();
  const std::string text = TextOf(FamiliesOf(reading));
  CHECK(HasLine(text, "anteroom_up 1"));
  CHECK(HasLine(text, "anteroom_scrape_complete 0"));
  CHECK(HasLine(text, "anteroom_status{status=\"ok\"} 1"));
  CHECK(text.find("waiting") == std::string::npos);
}

TEST_CASE("metrics: addresses to listen on") {
  CHECK(CheckListenAddress("localhost:9464", false).value() == "127.0.0.1:9464");
  CHECK(CheckListenAddress("[::1]:0", false).value() == "[::1]:0");
  CHECK_FALSE(CheckListenAddress("0.0.0.0:9464", false).ok());
  CHECK_FALSE(CheckListenAddress("10.1.2.3:9464", false).ok());
  CHECK(CheckListenAddress("0.0.0.0:9464", true).value() == "0.0.0.0:9464");
  // What the server would understand as several ports, or one with TLS, is no address.
  for (const char* wrong : {"9464", "", "127.0.0.1:9464,0.0.0.0:80", "127.0.0.1:9464s", "host:1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(CheckListenAddress(wrong, true).ok());
  }
}

TEST_CASE("metrics: the dashboard's panels ask for something, each in a place of its own") {
  const char* source = std::getenv("ANTEROOM_SOURCE_DIR");
  std::ifstream file(std::string(source != nullptr ? source : ".") +
                     "/tools/deploy/grafana-dashboard.json");
  const auto dashboard = nlohmann::json::parse(file, nullptr, false);
  REQUIRE(dashboard.is_object());
  std::set<int> ids;
  std::set<std::pair<int, int>> places;
  for (const auto& panel : dashboard["panels"]) {
    CAPTURE(panel["title"].dump());
    CHECK(ids.insert(panel["id"].get<int>()).second);
    const auto& at = panel["gridPos"];
    for (int x = at["x"]; x < at["x"].get<int>() + at["w"].get<int>(); ++x) {
      for (int y = at["y"]; y < at["y"].get<int>() + at["h"].get<int>(); ++y) {
        CHECK(places.emplace(x, y).second);
      }
    }
    REQUIRE_FALSE(panel["targets"].empty());
    for (const auto& target : panel["targets"]) {
      CHECK(target["expr"].get<std::string>().find("anteroom_") != std::string::npos);
    }
  }
  CHECK(ids.size() >= 15);
}

// A daemon with so many rooms, r0001 and on.
void MakeRooms(const testing::TestDaemon& daemon, size_t rooms) {
  client::Client client({.addresses = {daemon.address()}});
  protocol::RoomSettings settings;
  settings.capacity = protocol::Limit{10};
  for (size_t i = 1; i <= rooms; ++i) {
    const std::string number = std::to_string(i);
    REQUIRE(client.RoomCreate("r" + std::string(4 - number.size(), '0') + number, settings).ok());
  }
}

TEST_CASE("metrics: rooms beyond the limit are left out and counted, over several pages") {
  testing::TestDaemon daemon;
  MakeRooms(daemon, 1010);
  client::Client client({.addresses = {daemon.address()}});
  for (const size_t rooms_max : {size_t{0}, size_t{1}, size_t{1003}, size_t{5000}}) {
    CAPTURE(rooms_max);
    const Answered answered = Ask(client, rooms_max);
    REQUIRE(answered.status.ok());
    const size_t shown = std::min<size_t>(rooms_max, 1010);
    REQUIRE(answered.reading.rooms->labelled.size() == shown);
    std::set<std::string> names;
    for (const auto& room : answered.reading.rooms->labelled) names.insert(room.room);
    CHECK(names.size() == shown);
    CHECK(HasLine(answered.reading, "anteroom_rooms 1010"));
    CHECK(HasLine(answered.reading, "anteroom_rooms_left_out " + std::to_string(1010 - shown)));
  }
}

TEST_CASE("metrics: a collector goes on when the daemon goes and comes back") {
  testing::TestDaemon daemon;
  MakeRooms(daemon, 1);
  client::ClientOptions options;
  options.addresses = {daemon.address()};
  options.reconnect_delay_min_ms = 1;
  options.reconnect_delay_max_ms = 5;
  std::vector<bool> told;
  const Collector collector(options, 10,
                            [&](const absl::Status& status) { told.push_back(status.ok()); });
  const auto shows = [&](const std::string& line) {
    return HasLine(TextOf(collector.Collect()), line);
  };
  CHECK(shows("anteroom_up 1"));
  CHECK(told.empty());

  // A hang-up and a return are not noticed at once.
  const auto comes_to_show = [&](const std::string& line) {
    for (int tries = 0; tries < 5000; ++tries) {
      if (shows(line)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  };
  daemon.GoAway();
  CHECK(comes_to_show("anteroom_up 0"));
  CHECK(shows("anteroom_up 0"));
  CHECK(shows("anteroom_up 0"));
  CHECK(told == std::vector<bool>{false});

  daemon.ComeBack();
  CHECK(comes_to_show("anteroom_up 1"));
  CHECK(told == std::vector<bool>{false, true});

  daemon.RefuseNext(protocol::Operation::kStats,
                    protocol::Refuse(protocol::ErrorCode::kUnavailable, "the disk hangs"));
  CHECK(shows("anteroom_scrape_complete 0"));
  CHECK(shows("anteroom_scrape_complete 1"));
  CHECK(told == std::vector<bool>{false, true, false, true});
}

}  // namespace
}  // namespace anteroom::metrics
