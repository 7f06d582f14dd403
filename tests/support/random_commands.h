// Commands at random, for an engine alone: what may stand in a log, sense or not. Now and then a
// crowd, so that one record does not finish what it begins.
#ifndef ANTEROOM_TESTS_SUPPORT_RANDOM_COMMANDS_H_
#define ANTEROOM_TESTS_SUPPORT_RANDOM_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "server/engine/engine.h"

namespace anteroom {

class RandomCommands {
 public:
  explicit RandomCommands(uint64_t seed) : random_(seed) {}

  // The next command and its time, as bytes of a record.
  std::string Next() {
    at_ms_ += static_cast<int64_t>(Below(8) == 0 ? Below(700) : Below(3));
    if (crowd_ > 0) {
      --crowd_;
      return Of(command::Join{crowd_room_, Name("c" + std::to_string(crowd_)), 128});
    }
    const auto room = static_cast<uint32_t>(newest_ > 4 ? newest_ - Below(4) : 1 + Below(4));
    const std::string_view visitor = SomeVisitor();
    const auto lane = static_cast<uint8_t>(Below(4) == 0 ? Below(3) : 128);
    switch (Below(25)) {
      case 0:
        if (newest_ > 3 && Below(10) != 0) break;
        // Perhaps there is one of that name, and it makes none.
        if (newest_ < 4) ++newest_;
        return Of(command::RoomCreate{Name("room-" + std::to_string(newest_)), AllSettings()});
      case 1:
      case 2:
        return Of(command::RoomSet{room, SomeSettings()});
      case 3:
        if (Below(30) != 0 || newest_ < 4) break;
        ++newest_;
        return Of(command::RoomReset{room});
      case 4:
        if (Below(400) != 0) break;
        crowd_ = 300 + Below(900);
        crowd_room_ = room;
        break;
      case 5:
        return Of(command::Leave{room, visitor});
      case 6:
      case 7:
      case 8:
        return Of(command::Claim{room, visitor});
      case 9:
      case 10:
      case 11:
        return Of(command::Finish{
            room, visitor, 1 + Below(at_ms_ / 8 + 2),
            Below(2) == 0 ? protocol::Outcome::kCompleted : protocol::Outcome::kCancelled,
            std::nullopt,
            Below(4) == 0 ? std::optional<uint32_t>(static_cast<uint32_t>(Below(4)))
                          : std::nullopt});
      case 12:
        return Of(command::Expire{room, visitor});
      case 13:
        return Of(command::Settle{room, visitor});
      case 14: {
        std::optional<std::string_view> key;
        if (Below(2) == 0) key = Name("key-" + std::to_string(Below(1500)));
        return Of(command::Admit{room, static_cast<uint32_t>(1 + Below(5)), key});
      }
      case 15:
        return Of(command::AdmitVisitor{room, visitor, Below(2) == 0});
      case 16: {
        std::optional<int64_t> block_ms;
        if (Below(2) == 0) block_ms = static_cast<int64_t>(1 + Below(9000));
        return Of(command::Revoke{room, visitor, block_ms});
      }
      case 17:
        return Of(command::Enter{room, visitor, lane});
      case 18:
        // Perhaps the one in use.
        if (Below(12) != 0) break;
        return Of(command::UseTokenKey{static_cast<uint32_t>(1 + Below(9))});
      default:
        return Of(command::Join{room, visitor, lane});
    }
    return Of(command::Tick{});
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }
  std::string_view Name(std::string name) { return name_ = std::move(name); }
  std::string_view SomeVisitor() {
    const uint64_t number = Below(50);
    visitor_ = number % 9 == 0 ? std::string(40 + number, 'x') : "v" + std::to_string(number);
    return visitor_;
  }
  template <typename OneCommand>
  std::string Of(const OneCommand& one) {
    std::string record;
    EncodeRecord(at_ms_, one, &record);
    return record;
  }

  protocol::RoomSettings SomeSettings() {
    using protocol::Duration;
    using protocol::Limit;
    const auto maybe = [&] { return Below(3) == 0; };
    const auto some_ms = [&] { return Duration{static_cast<int64_t>(1 + Below(6000))}; };
    protocol::RoomSettings settings;
    if (maybe()) {
      settings.mode = Below(5) == 0 ? protocol::Mode::kPaused : protocol::Mode::kQueue;
      if (Below(9) == 0) settings.mode = protocol::Mode::kPassthrough;
    }
    if (maybe()) settings.capacity = Limit{Below(4) == 0 ? Below(1000) : Below(12)};
    if (maybe()) {
      settings.rate = Below(3) == 0 ? protocol::Rate{}
                                    : protocol::Rate{static_cast<uint32_t>(Below(300)), 1000};
    }
    if (maybe()) settings.admit_interval = Duration{static_cast<int64_t>(1 + Below(1000))};
    if (maybe()) settings.claim_ttl = some_ms();
    if (maybe()) {
      settings.no_show = Below(2) == 0 ? protocol::NoShow::kEnd : protocol::NoShow::kRequeue;
    }
    if (maybe()) settings.requeue_max = static_cast<uint8_t>(Below(3));
    if (maybe()) settings.session_ttl = some_ms();
    if (maybe()) {
      settings.session_renewal =
          Below(2) == 0 ? protocol::Renewal::kSliding : protocol::Renewal::kFixed;
    }
    if (Below(6) == 0) {
      const auto change = static_cast<uint8_t>(Below(3));
      settings.stock = protocol::Stock{1 + Below(300), change};
    }
    if (Below(9) == 0) {
      settings.stock_oversubscribe = protocol::Factor{static_cast<uint32_t>(1000 + Below(2000))};
    }
    if (maybe()) settings.remember_ttl = Duration{static_cast<int64_t>(1000 + Below(6000))};
    return settings;
  }
  protocol::RoomSettings AllSettings() {
    protocol::RoomSettings settings = protocol::DefaultSettings();
    settings.capacity = protocol::Limit{8};
    protocol::Overlay(SomeSettings(), &settings);
    return settings;
  }

  std::mt19937_64 random_;
  int64_t at_ms_ = 0;
  uint32_t newest_ = 0;  // at least as many rooms have been asked for
  uint64_t crowd_ = 0;   // joins still to come
  uint32_t crowd_room_ = 0;
  std::string name_;
  std::string visitor_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_RANDOM_COMMANDS_H_
