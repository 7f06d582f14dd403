#include "tests/sim/clients.h"

#include <memory>
#include <optional>

#include "server/base/check.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

using protocol::Duration;
using protocol::ErrorCode;
using protocol::Limit;
using protocol::Outcome;
using protocol::State;

Clients::Clients(std::mt19937_64* random, Network* network, const Names* names)
    : random_(*random),
      network_(*network),
      names_(*names),
      again_(network->connections()),
      known_(Names::kRooms * names->visitors()),
      has_room_(Names::kRooms) {}

// ---- asking ----

protocol::RoomSettings Clients::AnySettings() {
  protocol::RoomSettings settings;
  const auto maybe = [&] { return OneIn(3); };
  if (maybe()) settings.mode = static_cast<protocol::Mode>(OneIn(6) ? 1 + Below(4) : 1);
  if (maybe()) {
    settings.capacity = OneIn(8) ? Limit{Limit::kNone} : Limit{Below(names_.visitors() / 4)};
  }
  if (maybe()) {
    settings.rate =
        OneIn(4) ? protocol::Rate{}
                 : protocol::Rate{static_cast<uint32_t>(Below(20)), OneIn(4) ? 60'000u : 1000u};
  }
  if (maybe()) settings.admit_interval = Duration{OneIn(2) ? 20 : 1000};
  if (maybe()) settings.claim_ttl = Duration{static_cast<int64_t>(1 + Below(3000))};
  if (maybe()) settings.no_show = OneIn(2) ? protocol::NoShow::kEnd : protocol::NoShow::kRequeue;
  if (maybe()) settings.requeue_max = static_cast<uint8_t>(Below(3));
  if (maybe()) settings.session_ttl = Duration{static_cast<int64_t>(1 + Below(8000))};
  if (maybe()) {
    settings.session_renewal = OneIn(2) ? protocol::Renewal::kSliding : protocol::Renewal::kFixed;
  }
  if (maybe()) {
    settings.waiting_ttl =
        OneIn(4) ? Duration{} : Duration{static_cast<int64_t>(1 + Below(60'000))};
  }
  if (maybe()) {
    settings.max_waiting = OneIn(4) ? Limit{} : Limit{Below(2 * names_.visitors())};
  }
  if (OneIn(6)) {
    settings.stock = protocol::Stock{OneIn(3) ? protocol::Stock::kNone : Below(60)};
    if (OneIn(2)) {
      // Where there is none, or less, that is refused.
      settings.stock =
          protocol::Stock{1 + Below(20), OneIn(3) ? protocol::Stock::kTake : protocol::Stock::kAdd};
    }
  }
  if (OneIn(8)) {
    settings.stock_oversubscribe = protocol::Factor{static_cast<uint32_t>(1000 + Below(1500))};
  }
  // Less than a second is refused.
  if (maybe()) settings.remember_ttl = Duration{static_cast<int64_t>(900 + Below(20'000))};
  return settings;
}

Ask Clients::AskOfOperator(Ask ask) {
  switch (Below(13)) {
    case 12:
      ask.op = OneIn(3) ? Op::kRotateTokenKey : Op::kLook;
      return ask;
    case 0:
    case 1:
      ask.op = Op::kAdmit;
      ask.count = static_cast<uint32_t>(1 + Below(4));
      if (OneIn(2)) ask.key = OneIn(2) ? keys_++ : Below(keys_);
      return ask;
    case 2:
    case 3:
      ask.op = Op::kAdmitVisitor;
      ask.force = OneIn(2);
      return ask;
    case 4:
    case 5:
      ask.op = Op::kRevoke;
      if (OneIn(3)) ask.block_ms = static_cast<int64_t>(1 + Below(5000));
      return ask;
    case 6:
      ask.op = OneIn(25) ? Op::kRoomReset : Op::kLook;
      return ask;
    case 7:
      ask.op = OneIn(25) ? Op::kRoomDelete : Op::kLook;
      ask.force = OneIn(2);
      return ask;
    default:
      ask.op = Op::kRoomSet;
      ask.settings = std::make_shared<protocol::RoomSettings>(AnySettings());
      if (OneIn(8)) ask.if_revision = 1 + Below(20);
      return ask;
  }
}

Ask Clients::AnyAsk() {
  Ask ask;
  ask.room = static_cast<uint32_t>(Below(Names::kRooms));
  ask.visitor = static_cast<uint32_t>(Below(names_.visitors()));
  if (!has_room_[ask.room]) {
    protocol::RoomSettings settings = AnySettings();
    settings.mode.reset();
    settings.capacity = Limit{1 + Below(8)};
    ask.op = Op::kRoomCreate;
    ask.settings = std::make_shared<protocol::RoomSettings>(settings);
    return ask;
  }
  if (OneIn(4)) ask.lane = kLanes[Below(kLanes.size() - 1)];
  const Known& known = KnownOf(ask.room, ask.visitor);
  const auto show_token = [&] {
    const bool own = known.admission != 0 && !OneIn(8);
    ask.admission = own ? known.admission : Below(200);
    ask.token_key = own && !OneIn(16) ? known.token_key : static_cast<uint32_t>(Below(4));
  };
  switch (Below(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      ask.op = Op::kJoin;
      return ask;
    case 5:
    case 6:
      ask.op = Op::kEnter;
      return ask;
    case 7:
    case 8:
      ask.op = Op::kStatus;
      return ask;
    case 9:
      ask.op = Op::kLeave;
      return ask;
    case 10:
      ask.op = Op::kVerify;
      break;
    case 11:
    case 12:
    case 13:
      ask.op = Op::kClaim;
      break;
    case 14:
      ask.op = Op::kTouch;
      break;
    case 15:
    case 16:
    case 17:
      ask.op = Op::kFinish;
      ask.outcome = OneIn(2) ? Outcome::kCompleted : Outcome::kCancelled;
      if (ask.outcome == Outcome::kCompleted && OneIn(4)) {
        ask.units = static_cast<uint32_t>(1 + Below(3));
      }
      if (OneIn(4)) return ask;
      break;
    default:
      return AskOfOperator(ask);
  }
  show_token();
  return ask;
}

void Clients::Act() {
  const auto connection = static_cast<uint32_t>(Below(network_.connections()));
  if (!network_.CanSend(connection)) return;
  std::deque<Ask>& again = again_[connection];
  if (again.empty()) {
    network_.Send(connection, AnyAsk());
    return;
  }
  network_.Send(connection, std::move(again.front()));
  again.pop_front();
}

// ---- hearing ----

void Clients::TakeAdmission(uint64_t admission, uint32_t room, uint32_t visitor,
                            std::optional<uint32_t> token_key) {
  Admitted& known =
      admissions_.try_emplace(admission, Admitted{room, visitor, token_key}).first->second;
  CHECK_EQ(known.room, room);
  CHECK_EQ(known.visitor, visitor);
  if (!known.token_key) known.token_key = token_key;
  if (token_key) CHECK_EQ(*known.token_key, *token_key);
}

void Clients::Take(const Ask& ask, const Network::Answer& answer) {
  const Told& told = answer.told;
  if (told.refusal == ErrorCode::kNotFound && answer.room_number == 0) has_room_[ask.room] = false;
  if (answer.room_number != 0) has_room_[ask.room] = true;
  for (const auto& [visitor, admission, token_key] : told.admitted) {
    TakeAdmission(admission, ask.room, visitor, token_key);
  }
  if (!told.state || !told.arrival) return;
  if (told.admission) TakeAdmission(*told.admission, ask.room, ask.visitor, told.token_key);

  Known& known = KnownOf(ask.room, ask.visitor);
  if (answer.order < known.order) return;  // overtaken
  const Known now{answer.order,           answer.room_number,         *told.state,
                  *told.arrival,          told.admission.value_or(0), told.token_key.value_or(0),
                  told.ahead.value_or(0), answer.entered_before};
  // What a memory tells may be older than what was told of the visitor present.
  if (now.state == State::kEnded) {
    known.order = now.order;
    return;
  }
  if (known.room_number == now.room_number) {
    CHECK_GE(now.arrival, known.arrival);
    if (now.admission != 0) CHECK_GE(now.admission, known.admission);
    if (now.state == State::kWaiting && now.arrival == known.arrival) {
      CHECK(known.state == State::kWaiting);
      CHECK_LE(now.ahead, known.ahead + (now.entered_before - known.entered_before));
    }
  }
  const bool token = now.admission != 0;
  const uint64_t admission = token ? now.admission : known.admission;
  const uint32_t token_key = token ? now.token_key : known.token_key;
  known = now;
  known.admission = admission;
  known.token_key = token_key;
}

void Clients::Break(uint32_t connection) {
  std::deque<Ask>& again = again_[connection];
  std::vector<Ask> lost = network_.Break(connection);
  if (OneIn(3)) {
    again.clear();  // vanished
    return;
  }
  for (Ask& ask : lost) again.push_back(std::move(ask));
}

void Clients::BreakAll() {
  for (uint32_t connection = 0; connection < again_.size(); ++connection) Break(connection);
}

void Clients::ForgetTold() {
  known_.assign(known_.size(), Known{});
  admissions_.clear();
}

}  // namespace anteroom::sim
