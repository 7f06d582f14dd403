// Watches of one room, "sale", driven by a real desk and engine, with connections that are nothing
// but buffers.
#ifndef ANTEROOM_TESTS_SUPPORT_WATCH_HALL_H_
#define ANTEROOM_TESTS_SUPPORT_WATCH_HALL_H_

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "server/engine/desk.h"
#include "server/net/watches.h"

namespace anteroom::net {

class FakeTokens : public TokenMaker {
 public:
  protocol::Token Make(uint32_t, uint64_t admission, std::string_view,
                       std::string_view) const override {
    protocol::Token token;
    token.chars.fill(static_cast<char>('A' + admission % 26));
    return token;
  }
};

class FakeLog : public RecordSink, public MarkSource {
 public:
  void Append(std::string_view) override { ++last; }
  uint64_t last_sequence() const override { return last; }
  uint64_t last = 0;
};

// What a subscriber was told.
struct Told {
  uint32_t watch = 0;
  protocol::FrameKind kind = protocol::FrameKind::kPush;
  protocol::VisitorPush push;  // of a watch of visitors
  protocol::RoomPush room;     // of a watch of a room
  protocol::Refusal end;
};

class FakeConnection : public Subscriber {
 public:
  bool has_room() const override { return room; }
  std::string* Marked(uint64_t mark) override {
    REQUIRE(mark >= last_mark);
    last_mark = mark;
    return &out;
  }

  std::vector<Told> Take() {
    std::vector<Told> all;
    std::string_view left = out;
    while (!left.empty()) {
      protocol::FrameHeader header;
      std::string_view payload;
      size_t used = 0;
      REQUIRE(protocol::TakeFrame(left, &header, &payload, &used) ==
              protocol::FrameStatus::kComplete);
      Told& told = all.emplace_back();
      told.watch = header.request_id;
      told.kind = header.kind;
      if (header.kind == protocol::FrameKind::kEnd) {
        REQUIRE(protocol::Decode(payload, &told.end));
      } else if (header.operation == static_cast<uint8_t>(protocol::Operation::kWatch)) {
        REQUIRE(protocol::Decode(payload, &told.push));
      } else {
        REQUIRE(protocol::Decode(payload, &told.room));
      }
      left.remove_prefix(used);
    }
    out.clear();
    return all;
  }

  bool room = true;
  uint64_t last_mark = 0;
  std::string out;
};

// A daemon without sockets and files.
struct Hall {
  Hall() {
    watches.Attach(&desk);
    Turn(0, 0);
    protocol::RoomSettings settings;
    settings.rate = protocol::Rate{};
    settings.capacity = protocol::Limit{2};
    REQUIRE(Done(desk.Handle(protocol::RoomCreateOperation{{"sale", settings}})));
  }

  template <typename Reply>
  static bool Done(const Answer<Reply>& answer) {
    return std::holds_alternative<Reply>(answer);
  }
  void Turn(int64_t engine_ms, int64_t loop_ms) {
    desk.BeginTurn(engine_ms);
    watches.BeginTurn(loop_ms);
    watches.Push();
    watches.check_invariants();
  }
  void Join(std::string_view visitor) {
    REQUIRE(Done(desk.Handle(protocol::JoinOperation{{"sale", visitor, std::nullopt}})));
    watches.Push();
  }
  void Finish(std::string_view visitor) {
    REQUIRE(Done(desk.Handle(protocol::FinishOperation{
        {"sale", visitor, std::nullopt, protocol::Outcome::kCompleted}})));
    watches.Push();
  }
  void Set(const protocol::RoomSettings& settings) {
    REQUIRE(Done(desk.Handle(protocol::RoomSetOperation{{"sale", settings, std::nullopt}})));
  }
  void WatchRoom(FakeConnection* connection, uint32_t id) {
    REQUIRE_FALSE(watches.WatchRoom(connection, id, {"sale"}));
    watches.Push();
  }
  std::optional<protocol::Refusal> Watch(FakeConnection* connection, uint32_t id,
                                         std::vector<std::string_view> visitors) {
    auto refusal = watches.Watch(connection, id, {"sale", std::move(visitors)});
    watches.Push();
    return refusal;
  }

  FakeTokens tokens;
  FakeLog log;
  Engine engine{EngineOptions{}};
  Watches watches{&engine, &log, 7};
  Desk desk{&engine, &log, &tokens, &watches};
};

}  // namespace anteroom::net

#endif  // ANTEROOM_TESTS_SUPPORT_WATCH_HALL_H_
