#include "tests/sim/clients.h"

#include <optional>
#include <utility>
#include <variant>

#include "server/base/check.h"

namespace anteroom::sim {

using protocol::Duration;
using protocol::Limit;
using protocol::Outcome;

std::string Clients::AnyVisitor() {
  const uint64_t number = Below(60);
  // Some ids do not fit into an entry.
  return number % 9 == 0 ? std::string(40 + number, 'x') : "v" + std::to_string(number);
}

std::string_view Clients::AnyToken(const std::string& who) {
  const auto own = tokens_.find(who);
  if (own != tokens_.end() && Below(8) != 0) return own->second.view();
  return tokens_.empty() ? std::string_view("no token at all......")
                         : tokens_.begin()->second.view();
}

protocol::RoomSettings Clients::AnySettings() {
  protocol::RoomSettings settings;
  const auto maybe = [&] { return Below(3) == 0; };
  if (maybe()) {
    settings.mode = static_cast<protocol::Mode>(Below(6) == 0 ? 1 + Below(4) : 1);
  }
  if (maybe()) settings.capacity = Below(8) == 0 ? Limit{Limit::kNone} : Limit{Below(12)};
  if (maybe()) {
    settings.rate = Below(4) == 0 ? protocol::Rate{}
                                  : protocol::Rate{static_cast<uint32_t>(1 + Below(20)), 1000};
  }
  if (maybe()) settings.claim_ttl = Duration{static_cast<int64_t>(1 + Below(3000))};
  if (maybe())
    settings.no_show = Below(2) == 0 ? protocol::NoShow::kEnd : protocol::NoShow::kRequeue;
  if (maybe()) settings.requeue_max = static_cast<uint8_t>(Below(3));
  if (maybe()) settings.session_ttl = Duration{static_cast<int64_t>(1 + Below(8000))};
  if (maybe()) {
    settings.session_renewal =
        Below(2) == 0 ? protocol::Renewal::kSliding : protocol::Renewal::kFixed;
  }
  if (maybe()) settings.waiting_ttl = Duration{static_cast<int64_t>(1000 + Below(60'000))};
  if (maybe()) settings.max_waiting = Limit{5 + Below(60)};
  if (maybe()) settings.remember_ttl = Duration{static_cast<int64_t>(1 + Below(20'000))};
  return settings;
}

void Clients::Take(const std::string& room, const std::string& visitor,
                   const Answer<protocol::VisitorReply>& answer) {
  const auto* reply = std::get_if<protocol::VisitorReply>(&answer);
  if (reply == nullptr) return;
  const std::string who = room + "/" + visitor;
  if (reply->token) tokens_[who] = *reply->token;
  if (reply->admission) held_.push_back({history_.states.size() - 1, *reply->admission, who});
}

void Clients::TakeReleased() {
  // Marks rise, so those that have left come first.
  size_t left = 0;
  for (; left < held_.size() && held_[left].mark <= history_.released; ++left) {
    const Held& held = held_[left];
    const auto [known, added] = history_.admissions.emplace(held.admission, held.who);
    CHECK_EQ(known->second, held.who);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(left));
}

void Clients::AskOperator(Desk& desk, const std::string& room) {
  const std::string visitor = AnyVisitor();
  switch (Below(10)) {
    case 0: {
      std::optional<std::string> key;
      if (Below(2) == 0) key = "key-" + std::to_string(Below(2) == 0 ? ++keys_ : keys_);
      desk.Handle(
          protocol::AdmitOperation{{room, static_cast<uint32_t>(1 + Below(4)),
                                    key ? std::optional<std::string_view>(*key) : std::nullopt}});
      return;
    }
    case 1:
      return Take(room, visitor,
                  desk.Handle(protocol::AdmitVisitorOperation{{room, visitor, Below(2) == 0}}));
    case 2:
    case 3: {
      std::optional<int64_t> block_ms;
      if (Below(3) == 0) block_ms = static_cast<int64_t>(1 + Below(5000));
      return Take(room, visitor, desk.Handle(protocol::RevokeOperation{{room, visitor, block_ms}}));
    }
    case 4:
      if (Below(20) == 0) desk.Handle(protocol::RoomResetOperation{{room}});
      return;
    case 5:
      if (Below(20) == 0) desk.Handle(protocol::RoomDeleteOperation{{room, true}});
      return;
    default:
      desk.Handle(protocol::RoomSetOperation{{room, AnySettings(), std::nullopt}});
  }
}

void Clients::Ask(Desk& desk) {
  const std::string room = RoomName(Below(kRooms));
  if (std::holds_alternative<protocol::Refusal>(desk.LookAtRoom(room))) {
    protocol::RoomSettings settings = AnySettings();
    settings.mode.reset();
    settings.capacity = Limit{1 + Below(8)};
    desk.Handle(protocol::RoomCreateOperation{{room, settings}});
    return;
  }
  const std::string visitor = AnyVisitor();
  const std::string who = room + "/" + visitor;
  std::optional<uint8_t> lane;
  if (Below(4) == 0) lane = static_cast<uint8_t>(Below(3));
  switch (Below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Take(room, visitor, desk.Handle(protocol::JoinOperation{{room, visitor, lane}}));
    case 4:
    case 5:
      return Take(room, visitor, desk.Handle(protocol::EnterOperation{{room, visitor, lane}}));
    case 6:
    case 7:
      return Take(room, visitor, desk.Handle(protocol::StatusOperation{{room, visitor}}));
    case 8:
      return Take(room, visitor, desk.Handle(protocol::LeaveOperation{{room, visitor}}));
    case 9:
    case 10:
      return Take(room, visitor,
                  desk.Handle(protocol::ClaimOperation{{room, visitor, AnyToken(who)}}));
    case 11:
      return Take(room, visitor,
                  desk.Handle(protocol::TouchOperation{{room, visitor, AnyToken(who)}}));
    case 12:
    case 13: {
      std::optional<std::string_view> token;
      if (Below(4) != 0) token = AnyToken(who);
      const Outcome outcome = Below(2) == 0 ? Outcome::kCompleted : Outcome::kCancelled;
      return Take(room, visitor,
                  desk.Handle(protocol::FinishOperation{{room, visitor, token, outcome}}));
    }
    case 14:
      return Take(room, visitor,
                  desk.Handle(protocol::VerifyOperation{{room, visitor, AnyToken(who)}}));
    default:
      AskOperator(desk, room);
  }
}

}  // namespace anteroom::sim
