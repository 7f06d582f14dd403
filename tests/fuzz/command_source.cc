#include "tests/fuzz/command_source.h"

#include <algorithm>
#include <optional>

#include "server/engine/command.h"

namespace anteroom::fuzz {

using protocol::Duration;
using protocol::Limit;

template <typename OneCommand>
std::string CommandSource::Of(const OneCommand& one) const {
  std::string record;
  EncodeRecord(at_ms_, one, &record);
  return record;
}

std::string CommandSource::Next() {
  if (crowd_ > 0) return NextFromCrowd();
  const uint8_t what = source_.Byte();
  // Three of four commands come at the time of the one before.
  if (what % 4 == 3) Pass();
  switch (what / 4 % 20) {
    case 0:
    case 1: {
      const std::string name = "room-" + std::to_string(source_.Below(4));
      protocol::RoomSettings settings = protocol::DefaultSettings();
      protocol::Overlay(SomeSettings(), &settings);
      return Of(command::RoomCreate{name, settings});
    }
    case 2:
    case 3: {
      const uint32_t room = SomeRoom();
      return Of(command::RoomSet{room, SomeSettings()});
    }
    case 4:
      return Of(command::RoomDelete{SomeRoom()});
    case 5:
      return Of(command::RoomReset{SomeRoom()});
    case 6:
      crowd_room_ = SomeRoom();
      crowd_ = std::min<uint64_t>(source_.Byte() * uint64_t{3}, crowd_left_);
      crowd_left_ -= crowd_;
      return Of(command::Tick{});
    case 7: {
      const uint32_t room = SomeRoom();
      const std::string visitor = SomeVisitor();
      return Of(command::Enter{room, visitor, SomeLane()});
    }
    case 8:
    case 9: {
      const uint32_t room = SomeRoom();
      return Of(command::Claim{room, SomeVisitor()});
    }
    case 10: {
      const uint32_t room = SomeRoom();
      return Of(command::Leave{room, SomeVisitor()});
    }
    case 11:
    case 12: {
      const uint32_t room = SomeRoom();
      const std::string visitor = SomeVisitor();
      const uint64_t admission = source_.Byte();
      const auto outcome =
          source_.Flag() ? protocol::Outcome::kCompleted : protocol::Outcome::kCancelled;
      return Of(command::Finish{room, visitor, admission, outcome});
    }
    case 13: {
      const uint32_t room = SomeRoom();
      return Of(command::Expire{room, SomeVisitor()});
    }
    case 14: {
      const uint32_t room = SomeRoom();
      return Of(command::Settle{room, SomeVisitor()});
    }
    case 15: {
      const uint32_t room = SomeRoom();
      const auto count = static_cast<uint32_t>(source_.Byte());
      const std::string key = "key-" + std::to_string(source_.Below(4));
      if (source_.Flag()) return Of(command::Admit{room, count, key});
      return Of(command::Admit{room, count, std::nullopt});
    }
    case 16: {
      const uint32_t room = SomeRoom();
      const std::string visitor = SomeVisitor();
      return Of(command::AdmitVisitor{room, visitor, source_.Flag()});
    }
    case 17: {
      const uint32_t room = SomeRoom();
      const std::string visitor = SomeVisitor();
      std::optional<int64_t> block_ms;
      if (source_.Flag()) block_ms = 1 + source_.Byte() * int64_t{40};
      return Of(command::Revoke{room, visitor, block_ms});
    }
    case 18:
      if (source_.Flag()) {
        return Of(command::UseTokenKey{.key_id = 1 + static_cast<uint32_t>(source_.Below(4))});
      }
      Pass();
      return Of(command::Tick{});
    default: {
      const uint32_t room = SomeRoom();
      const std::string visitor = SomeVisitor();
      return Of(command::Join{room, visitor, SomeLane()});
    }
  }
}

std::string CommandSource::NextFromCrowd() {
  --crowd_;
  return Of(command::Join{crowd_room_, "crowd-" + std::to_string(crowd_), 128});
}

// Some milliseconds, some seconds, or up to 500 years.
void CommandSource::Pass() {
  const int64_t byte = source_.Byte();
  int64_t passed_ms = byte;
  if (byte >= 0xf0) {
    passed_ms = int64_t{1} << (source_.Below(45));
  } else if (byte >= 0x80) {
    passed_ms = (byte - 0x7f) * 50;
  }
  at_ms_ = std::min(at_ms_ + passed_ms, kRecordMsMax);
}

// One in four has an id that does not fit into the entry itself.
std::string CommandSource::SomeVisitor() {
  const uint64_t number = source_.Below(24);
  const std::string short_id = "v" + std::to_string(number);
  return number % 4 == 0 ? short_id + std::string(20 + number * 9, 'x') : short_id;
}

uint8_t CommandSource::SomeLane() {
  constexpr uint8_t kLanes[] = {128, 0, 1, 255};
  return kLanes[source_.Below(4)];
}

protocol::RoomSettings CommandSource::SomeSettings() {
  constexpr uint32_t kCounts[] = {0, 1, 3, 50, 1000, 1'000'000};
  constexpr uint32_t kUnitsMs[] = {1000, 60'000, 3'600'000};
  // A bit for each setting; what is said takes a byte.
  uint32_t which = source_.Short();
  const auto says = [&] {
    const bool said = (which & 1) != 0;
    which >>= 1;
    return said;
  };
  const auto some_ms = [&](int64_t least_ms, int64_t step_ms) {
    return Duration{least_ms + source_.Byte() * step_ms};
  };
  protocol::RoomSettings settings;
  if (says()) settings.mode = static_cast<protocol::Mode>(1 + source_.Below(4));
  if (says()) {
    const uint64_t rate = source_.Below(19);
    settings.rate =
        rate == 18 ? protocol::Rate{} : protocol::Rate{kCounts[rate % 6], kUnitsMs[rate / 6]};
  }
  if (says()) settings.admit_interval = some_ms(1, 997);
  if (says()) {
    const uint64_t slots = source_.Byte();
    settings.capacity = Limit{slots == 0xff ? Limit::kNone : slots};
  }
  if (says()) settings.claim_ttl = some_ms(1, 23);
  if (says()) settings.no_show = static_cast<protocol::NoShow>(1 + source_.Below(2));
  if (says()) settings.requeue_max = static_cast<uint8_t>(source_.Below(4));
  if (says()) settings.session_ttl = some_ms(1, 41);
  if (says()) settings.session_renewal = static_cast<protocol::Renewal>(1 + source_.Below(2));
  if (says()) settings.waiting_ttl = source_.Flag() ? some_ms(1, 100) : Duration{};
  if (says()) settings.max_waiting = Limit{source_.Byte()};
  if (says()) settings.remember_ttl = some_ms(1000, 37);
  return settings;
}

}  // namespace anteroom::fuzz
