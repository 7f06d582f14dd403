#include "tests/scripts/runner_reply.h"

#include <concepts>
#include <optional>
#include <set>
#include <type_traits>

#include "protocol/text.h"

namespace anteroom::scripts {
namespace {

using protocol::EscapeId;

// Fields are collected by one visitor of the messages' own descriptions, so that a field which a
// message gains later can be used in scripts at once.
class FieldCollector {
 public:
  FieldCollector(Reply* reply, std::string prefix) : reply_(*reply), prefix_(std::move(prefix)) {}

  template <typename T>
  void operator()(std::string_view name, const std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }
  void operator()(std::string_view name, bool value) { Add(name, value ? "yes" : "no"); }
  template <std::unsigned_integral Number>
  void operator()(std::string_view name, Number value) {
    Add(name, std::to_string(value));
  }
  template <typename Kind>
  requires std::is_enum_v<Kind>
  void operator()(std::string_view name, Kind value) { Add(name, std::string(NameOf(value))); }
  void operator()(std::string_view name, const std::string& value) { Add(name, EscapeId(value)); }
  void operator()(std::string_view name, const protocol::LongText& value) { Add(name, value.text); }
  void operator()(std::string_view name, const protocol::Token& value) {
    Add(name, std::string(value.view()));
  }
  void operator()(std::string_view, const protocol::RoomSettings& settings) {
    for (const auto& [name, value] : protocol::FormatSettings(settings)) Add(name, value);
  }
  void operator()(std::string_view, const protocol::Counts& counts) {
    protocol::Counts::Fields(counts, *this);
  }
  void operator()(std::string_view, const std::vector<protocol::RefusedCount>& refused) {
    for (const auto& one : refused) {
      Add("refused_total." + std::string(NameOf(one.error)), std::to_string(one.count));
    }
  }

 private:
  void Add(std::string_view name, std::string value) {
    reply_.fields[prefix_ + std::string(name)] = std::move(value);
  }

  Reply& reply_;
  const std::string prefix_;
};

template <typename Message>
void Collect(const Message& message, Reply* reply, std::string prefix = "") {
  FieldCollector collector(reply, std::move(prefix));
  Message::Fields(message, collector);
}

template <typename... Messages>
std::set<std::string, std::less<>> NamesOf() {
  std::set<std::string, std::less<>> names;
  const auto add = [&](std::string_view name, const auto&) { names.emplace(name); };
  const auto add_of = [&]<typename Message>(const Message& message) {
    Message::Fields(message, add);
  };
  (add_of(Messages{}), ...);
  return names;
}

}  // namespace

std::string Reply::Field(std::string_view name) const {
  const auto found = fields.find(std::string(name));
  return found == fields.end() ? std::string() : found->second;
}

std::string Reply::ToText() const {
  std::string text = head;
  if (refused()) text += " " + Field("error");
  for (const std::string& name : names) text += " " + name;
  for (const auto& [name, value] : fields) {
    if (name == "error" || name == "state") continue;
    text += " " + name + "=" + (name == "message" ? "\"" + value + "\"" : value);
  }
  return text;
}

Reply ToReply(const protocol::VisitorReply& visitor) {
  Reply reply;
  reply.head = NameOf(visitor.state);
  Collect(visitor, &reply);
  return reply;
}

Reply ToReply(const protocol::AdmitReply& admit) {
  Reply reply;
  reply.fields["count"] = std::to_string(admit.count);
  if (admit.first_admission) {
    reply.fields["first_admission"] = std::to_string(*admit.first_admission);
  }
  for (const protocol::AdmittedVisitor& one : admit.admitted) {
    const std::string name = EscapeId(one.visitor);
    reply.names.push_back(name);
    reply.fields[name + ".admission"] = std::to_string(one.admission);
    reply.fields[name + ".token"] = one.token.view();
  }
  return reply;
}

Reply ToReply(const protocol::RoomReply& room) {
  Reply reply;
  Collect(room, &reply);
  return reply;
}

Reply ToReply(const protocol::RoomListReply& list) {
  Reply reply;
  for (const protocol::RoomReply& room : list.rooms) {
    reply.names.push_back(room.room);
    Collect(room, &reply, room.room + ".");
  }
  reply.fields["more"] = list.more ? "yes" : "no";
  return reply;
}

Reply ToReply(const protocol::PageReply& page) {
  Reply reply;
  for (const protocol::VisitorEntry& item : page.items) {
    const std::string name = EscapeId(item.visitor);
    reply.names.push_back(name);
    reply.fields[name + ".lane"] = std::to_string(item.lane);
    Collect(item.reply, &reply, name + ".");
  }
  if (page.next) reply.fields["next"] = std::to_string(*page.next);
  return reply;
}

Reply ToReply(const protocol::StatsReply& stats) {
  Reply reply;
  Collect(stats, &reply);
  return reply;
}

Reply ToReply(const protocol::TokenKeyReply& key) {
  Reply reply;
  Collect(key, &reply);
  return reply;
}

Reply ToReply(const protocol::Empty&) {
  return Reply();
}

Reply ToReply(const protocol::Refusal& refusal) {
  Reply reply;
  reply.head = "refused";
  Collect(refusal, &reply);
  return reply;
}

Reply ToReply(const protocol::VisitorResult& result) {
  return result.reply ? ToReply(*result.reply) : ToReply(*result.refusal);
}

bool IsField(std::string_view name) {
  static const auto kNames =
      NamesOf<protocol::VisitorReply, protocol::AdmitReply, protocol::RoomReply,
              protocol::RoomSettings, protocol::Counts, protocol::RoomListReply,
              protocol::PageReply, protocol::StatsReply, protocol::TokenKeyReply,
              protocol::Refusal>();
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (name.starts_with("refused_total.")) return protocol::ParseErrorCode(last).has_value();
  return last == "lane" || kNames.contains(last);
}

}  // namespace anteroom::scripts
