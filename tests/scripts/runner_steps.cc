#include "tests/scripts/runner_steps.h"

#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "protocol/duration.h"

namespace anteroom::scripts {
namespace {

// The words of a step, taken from the front; `key=value` and flags from anywhere.
class Arguments {
 public:
  explicit Arguments(Words words) : words_(std::move(words)) {}

  std::string Next(std::string_view what) {
    if (words_.empty()) throw ScriptFailure("the step wants a " + std::string(what));
    std::string word = words_.front();
    words_.erase(words_.begin());
    return word;
  }
  std::string NextBytes(std::string_view what) { return ParseBytes(Next(what)); }
  template <typename Number>
  Number NextNumber(std::string_view what) {
    return ToNumber<Number>(Next(what));
  }

  std::optional<std::string> Take(std::string_view key) {
    for (auto word = words_.begin(); word != words_.end(); ++word) {
      if (!word->starts_with(std::string(key) + "=")) continue;
      std::string value = word->substr(key.size() + 1);
      words_.erase(word);
      return value;
    }
    return std::nullopt;
  }
  template <typename Number>
  std::optional<Number> TakeNumber(std::string_view key) {
    const auto text = Take(key);
    return text ? std::optional(ToNumber<Number>(*text)) : std::nullopt;
  }
  bool TakeFlag(std::string_view flag) {
    for (auto word = words_.begin(); word != words_.end(); ++word) {
      if (*word != flag) continue;
      words_.erase(word);
      return true;
    }
    return false;
  }

  bool empty() const { return words_.empty(); }
  Words TakeRest() { return std::exchange(words_, {}); }

 private:
  template <typename Number>
  static Number ToNumber(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) throw ScriptFailure(text + " is no number here");
    return number;
  }

  Words words_;
};

using Replies = std::vector<Reply>;

// A mistyped setting is refused where settings are read, before the desk: scripts see the same.
std::optional<Reply> ParseSettings(Arguments& arguments, protocol::RoomSettings* settings) {
  for (const std::string& word : arguments.TakeRest()) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw ScriptFailure(word + " is no setting");
    const std::string wrong =
        protocol::ParseSetting(word.substr(0, equals), word.substr(equals + 1), settings);
    if (!wrong.empty()) return ToReply(protocol::Refuse(protocol::ErrorCode::kInvalid, wrong));
  }
  return std::nullopt;
}

Replies AskRoom(Arguments& arguments, Desk& desk) {
  const std::string verb = arguments.Next("verb");
  if (verb == "list") {
    const std::string after = arguments.Take("after").value_or("");
    const uint32_t count = arguments.TakeNumber<uint32_t>("count").value_or(100);
    return {ToReply(desk.Handle(protocol::RoomListOperation{{after, count}}))};
  }
  const std::string room = arguments.NextBytes("room");
  if (verb == "create") {
    protocol::RoomSettings settings;
    if (const auto refusal = ParseSettings(arguments, &settings)) return {*refusal};
    return {ToReply(desk.Handle(protocol::RoomCreateOperation{{room, settings}}))};
  }
  if (verb == "set") {
    const auto if_revision = arguments.TakeNumber<uint64_t>("if_revision");
    protocol::RoomSettings settings;
    if (const auto refusal = ParseSettings(arguments, &settings)) return {*refusal};
    return {ToReply(desk.Handle(protocol::RoomSetOperation{{room, settings, if_revision}}))};
  }
  if (verb == "show") return {ToReply(desk.Handle(protocol::RoomShowOperation{{room}}))};
  if (verb == "reset") return {ToReply(desk.Handle(protocol::RoomResetOperation{{room}}))};
  if (verb == "delete") {
    const bool force = arguments.TakeFlag("force");
    return {ToReply(desk.Handle(protocol::RoomDeleteOperation{{room, force}}))};
  }
  throw ScriptFailure("a room is not told to " + verb);
}

template <typename Operation>
Replies AskVisitor(Arguments& arguments, Desk& desk) {
  const std::string room = arguments.NextBytes("room");
  const std::string visitor = arguments.NextBytes("visitor");
  return {ToReply(desk.Handle(Operation{{room, visitor}}))};
}

template <typename Operation>
Replies AskJoin(Arguments& arguments, Desk& desk) {
  const auto lane = arguments.TakeNumber<uint8_t>("lane");
  const std::string room = arguments.NextBytes("room");
  const std::string visitor = arguments.NextBytes("visitor");
  return {ToReply(desk.Handle(Operation{{room, visitor, lane}}))};
}

template <typename Operation>
Replies AskToken(Arguments& arguments, Desk& desk) {
  const std::string room = arguments.NextBytes("room");
  const std::string visitor = arguments.NextBytes("visitor");
  const std::string token = arguments.NextBytes("token");
  return {ToReply(desk.Handle(Operation{{room, visitor, token}}))};
}

Replies AskFinish(Arguments& arguments, Desk& desk) {
  protocol::FinishOperation finish;
  if (arguments.TakeFlag("completed")) finish.message.outcome = protocol::Outcome::kCompleted;
  if (arguments.TakeFlag("cancelled")) finish.message.outcome = protocol::Outcome::kCancelled;
  finish.message.units = arguments.TakeNumber<uint32_t>("units");
  const std::string room = arguments.NextBytes("room");
  const std::string visitor = arguments.NextBytes("visitor");
  std::string token;
  if (!arguments.empty()) {
    token = arguments.NextBytes("token");
    finish.message.token = token;
  }
  finish.message.room = room;
  finish.message.visitor = visitor;
  return {ToReply(desk.Handle(finish))};
}

template <typename Operation>
Replies AskMany(Arguments& arguments, Desk& desk) {
  const std::string room = arguments.NextBytes("room");
  Words visitors;
  for (const std::string& word : arguments.TakeRest()) visitors.push_back(ParseBytes(word));
  Operation operation;
  for (const std::string& visitor : visitors) {
    auto& item = operation.message.items.emplace_back();
    item.room = room;
    item.visitor = visitor;
  }
  const auto results = std::get<protocol::VisitorResults>(desk.Handle(operation));
  Replies replies;
  for (const auto& result : results.items) replies.push_back(ToReply(result));
  return replies;
}

Replies AskAdmit(Arguments& arguments, World* world) {
  const std::string room = arguments.NextBytes("room");
  const auto visitor = arguments.Take("visitor");
  if (visitor) {
    const std::string id = ParseBytes(*visitor);
    const bool over = arguments.TakeFlag("over");
    world->SetOperatorAdmits(true, over);
    return {ToReply(world->desk().Handle(protocol::AdmitVisitorOperation{{room, id, over}}))};
  }
  const auto key_word = arguments.Take("key");
  const std::string key = key_word ? ParseBytes(*key_word) : "";
  protocol::AdmitOperation admit{{room, arguments.NextNumber<uint32_t>("number"), std::nullopt}};
  if (key_word) admit.message.key = key;
  world->SetOperatorAdmits(true, false);
  return {ToReply(world->desk().Handle(admit))};
}

Replies AskRevoke(Arguments& arguments, Desk& desk) {
  protocol::RevokeOperation revoke;
  if (const auto block = arguments.Take("block")) {
    revoke.message.block_ms = protocol::ParseDurationMs(*block);
    if (!revoke.message.block_ms) throw ScriptFailure(*block + " is no duration");
  }
  const std::string room = arguments.NextBytes("room");
  const std::string visitor = arguments.NextBytes("visitor");
  revoke.message.room = room;
  revoke.message.visitor = visitor;
  return {ToReply(desk.Handle(revoke))};
}

template <typename Operation>
Replies AskPage(Arguments& arguments, Desk& desk) {
  const std::string room = arguments.NextBytes("room");
  const auto from = arguments.NextNumber<uint64_t>("place to begin at");
  const auto count = arguments.NextNumber<uint32_t>("count");
  return {ToReply(desk.Handle(Operation{{room, from, count}}))};
}

// The key itself is the app's to make.
Replies AskRotate(Arguments& arguments, Desk& desk) {
  return {ToReply(desk.UseTokenKey(arguments.NextNumber<uint32_t>("key's id")))};
}

Replies AskStats(Arguments& arguments, Desk& desk) {
  protocol::StatsOperation stats;
  std::string room;
  if (!arguments.empty()) {
    room = arguments.NextBytes("room");
    stats.message.room = room;
  }
  return {ToReply(desk.Handle(stats))};
}

using Asker = std::function<Replies(Arguments&, World*)>;

template <typename Function>
Asker OfDesk(Function function) {
  return
      [function](Arguments& arguments, World* world) { return function(arguments, world->desk()); };
}

const std::map<std::string, Asker>& Askers() {
  static const std::map<std::string, Asker> kAskers = {
      {"room", OfDesk(AskRoom)},
      {"join", OfDesk(AskJoin<protocol::JoinOperation>)},
      {"enter", OfDesk(AskJoin<protocol::EnterOperation>)},
      {"status", OfDesk(AskVisitor<protocol::StatusOperation>)},
      {"leave", OfDesk(AskVisitor<protocol::LeaveOperation>)},
      {"verify", OfDesk(AskToken<protocol::VerifyOperation>)},
      {"claim", OfDesk(AskToken<protocol::ClaimOperation>)},
      {"touch", OfDesk(AskToken<protocol::TouchOperation>)},
      {"finish", OfDesk(AskFinish)},
      {"join_many", OfDesk(AskMany<protocol::JoinManyOperation>)},
      {"status_many", OfDesk(AskMany<protocol::StatusManyOperation>)},
      {"admit", AskAdmit},
      {"revoke", OfDesk(AskRevoke)},
      {"peek", OfDesk(AskPage<protocol::PeekOperation>)},
      {"inside", OfDesk(AskPage<protocol::InsideOperation>)},
      {"rotate_token_key", OfDesk(AskRotate)},
      {"stats", OfDesk(AskStats)},
  };
  return kAskers;
}

}  // namespace

std::vector<Reply> Ask(const Words& words, World* world) {
  const auto asker = Askers().find(words.front());
  if (asker == Askers().end()) throw ScriptFailure("there is no step " + words.front());
  Arguments arguments(Words(words.begin() + 1, words.end()));
  Replies replies = asker->second(arguments, world);
  world->SetOperatorAdmits(false, false);
  if (!arguments.empty()) {
    throw ScriptFailure("the step does not take " + arguments.TakeRest().front());
  }
  return replies;
}

}  // namespace anteroom::scripts
