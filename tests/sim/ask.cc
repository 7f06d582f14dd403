#include "tests/sim/ask.h"

#include <charconv>
#include <string_view>
#include <variant>

#include "server/base/check.h"
#include "tests/support/desk_world.h"

namespace anteroom::sim {

using protocol::Refusal;

namespace {

Told From(const Refusal& refusal) {
  Told told;
  told.refusal = refusal.error;
  told.reason = refusal.reason;
  return told;
}

// The token of this admission and whatever key.
uint32_t KeyOf(const protocol::Token& token, uint64_t admission) {
  uint32_t key_id = 0;
  const std::string_view digits = token.view().substr(1, 6);
  std::from_chars(digits.data(), digits.data() + digits.size(), key_id);
  CHECK(token == PlainTokens::Of(admission, key_id));
  return key_id;
}

Told From(const protocol::VisitorReply& reply) {
  Told told;
  told.state = reply.state;
  told.reason = reply.reason;
  told.mode = reply.mode;
  told.ahead = reply.ahead;
  told.waiting = reply.waiting;
  told.arrival = reply.arrival;
  told.admission = reply.admission;
  told.at_ms = reply.at_ms;
  told.expires_in_ms = reply.expires_in_ms;
  told.late = reply.late.value_or(false);
  CHECK_EQ(reply.position.value_or(0), reply.ahead ? *reply.ahead + 1 : 0);
  const bool inside =
      reply.state == protocol::State::kAdmitted || reply.state == protocol::State::kActive;
  CHECK_EQ(reply.token.has_value(), inside);
  if (inside) told.token_key = KeyOf(*reply.token, *reply.admission);
  return told;
}

Told From(const protocol::RoomReply& reply) {
  Told told;
  told.revision = reply.revision;
  return told;
}

Told From(const protocol::Empty&) {
  return {};
}

template <typename Reply>
Told From(const Answer<Reply>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return From(*refusal);
  return From(std::get<Reply>(answer));
}

Told From(const Names& names, const Answer<protocol::AdmitReply>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return From(*refusal);
  const auto& reply = std::get<protocol::AdmitReply>(answer);
  Told told;
  told.count = reply.count;
  told.admitted.reserve(reply.admitted.size());
  for (const protocol::AdmittedVisitor& one : reply.admitted) {
    told.admitted.push_back(
        {names.VisitorOf(one.visitor), one.admission, KeyOf(one.token, one.admission)});
  }
  return told;
}

}  // namespace

Told From(const Answer<protocol::TokenKeyReply>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return From(*refusal);
  Told told;
  told.token_key = std::get<protocol::TokenKeyReply>(answer).key_id;
  told.admission = std::get<protocol::TokenKeyReply>(answer).first_admission;
  return told;
}

Told Perform(Desk& desk, const Names& names, const Ask& ask) {
  const std::string_view room = names.Room(ask.room);
  const std::string_view visitor = names.Visitor(ask.visitor);
  protocol::Token token{};
  if (ask.admission) token = PlainTokens::Of(*ask.admission, ask.token_key);
  switch (ask.op) {
    case Op::kJoin:
    case Op::kEnter:
      return From(
          desk.Handle(protocol::JoinRequest{room, visitor, ask.lane}, ask.op == Op::kEnter));
    case Op::kStatus:
      return From(desk.Handle(protocol::StatusOperation{{room, visitor}}));
    case Op::kLook:
      return From(desk.Look(room, visitor));
    case Op::kLeave:
      return From(desk.Handle(protocol::LeaveOperation{{room, visitor}}));
    case Op::kVerify:
      return From(desk.Handle(protocol::VerifyOperation{{room, visitor, token.view()}}));
    case Op::kClaim:
      return From(desk.Handle(protocol::ClaimOperation{{room, visitor, token.view()}}));
    case Op::kTouch:
      return From(desk.Handle(protocol::TouchOperation{{room, visitor, token.view()}}));
    case Op::kFinish: {
      std::optional<std::string_view> shown;
      if (ask.admission) shown = token.view();
      return From(
          desk.Handle(protocol::FinishOperation{{room, visitor, shown, ask.outcome, ask.units}}));
    }
    case Op::kAdmit: {
      const std::string key = "key-" + std::to_string(ask.key);
      std::optional<std::string_view> said;
      if (ask.key != 0) said = key;
      return From(names, desk.Handle(protocol::AdmitOperation{{room, ask.count, said}}));
    }
    case Op::kAdmitVisitor:
      return From(desk.Handle(protocol::AdmitVisitorOperation{{room, visitor, ask.force}}));
    case Op::kRevoke:
      return From(desk.Handle(protocol::RevokeOperation{{room, visitor, ask.block_ms}}));
    case Op::kRoomCreate:
      return From(desk.Handle(protocol::RoomCreateOperation{{room, *ask.settings}}));
    case Op::kRoomSet:
      return From(desk.Handle(protocol::RoomSetOperation{{room, *ask.settings, ask.if_revision}}));
    case Op::kRoomReset:
      return From(desk.Handle(protocol::RoomResetOperation{{room}}));
    case Op::kRoomDelete:
      return From(desk.Handle(protocol::RoomDeleteOperation{{room, ask.force}}));
    case Op::kRotateTokenKey:
      break;
  }
  CHECK(false);
  return {};
}

std::string ToText(const Ask& ask) {
  constexpr const char* kNames[] = {
      "join",        "enter",    "status",     "look",        "leave",           "verify",
      "claim",       "touch",    "finish",     "admit",       "admit visitor",   "revoke",
      "room create", "room set", "room reset", "room delete", "rotate token key"};
  std::string text = kNames[static_cast<size_t>(ask.op)];
  text += " room " + std::to_string(ask.room);
  if (IsAboutVisitor(ask.op)) text += " visitor " + std::to_string(ask.visitor);
  if (ask.admission) {
    text +=
        " token of " + std::to_string(*ask.admission) + " by key " + std::to_string(ask.token_key);
  }
  if (ask.op == Op::kAdmit) {
    text += " count " + std::to_string(ask.count) + " key " + std::to_string(ask.key);
  }
  return text;
}

std::string ToText(const Told& told) {
  std::string text;
  const auto name = [&](const char* label, std::string_view value) {
    text += std::string(text.empty() ? "" : " ") + label + std::string(value);
  };
  const auto number = [&](const char* label, const std::optional<uint64_t>& value) {
    if (value) name(label, std::to_string(*value));
  };
  if (told.refusal) name("", protocol::NameOf(*told.refusal));
  if (told.state) name("", protocol::NameOf(*told.state));
  if (told.reason) name("reason ", protocol::NameOf(*told.reason));
  if (told.mode) name("mode ", protocol::NameOf(*told.mode));
  number("ahead ", told.ahead);
  number("waiting ", told.waiting);
  number("arrival ", told.arrival);
  number("admission ", told.admission);
  number("token key ", told.token_key);
  number("at ", told.at_ms);
  number("expires in ", told.expires_in_ms);
  number("revision ", told.revision);
  if (told.late) name("", "late");
  if (told.count != 0) number("count ", told.count);
  for (const auto& [visitor, admission, token_key] : told.admitted) {
    name("admitted ", std::to_string(visitor) + "=" + std::to_string(admission) + "/" +
                          std::to_string(token_key));
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace anteroom::sim
