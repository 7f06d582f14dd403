// Messages as JSON, from the list of fields that each message has: names are the protocol's, what
// is absent is left out, a message within a message stands flat in it.
//
//   protocol::VisitorReply -> {"state":"waiting","position":42,"ahead":41,...}
//
// Latencies are objects of their own. Settings are echoed as they are typed, ids and keys as
// protocol::EscapeId shows them, refusals counted by reason are one object, and what is in
// thousandths (`_milli`) is a decimal number.
#ifndef ANTEROOM_TOOLS_CLI_JSON_H_
#define ANTEROOM_TOOLS_CLI_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/messages.h"
#include "protocol/refusal.h"
#include "protocol/settings.h"
#include "protocol/text.h"

namespace anteroom::cli {

using Json = nlohmann::ordered_json;

Json ToJson(const protocol::Refusal& refusal);

namespace json_internal {

template <typename T>
concept Message = requires(const T& message) {
  T::Fields(message, [](std::string_view, const auto&) {});
};

void AddSettings(const protocol::RoomSettings& settings, Json* object);
Json RefusedTotal(const std::vector<protocol::RefusedCount>& refused);

class FieldWriter {
 public:
  explicit FieldWriter(Json* object) : object_(object) {}

  template <typename T>
  void operator()(std::string_view name, const std::optional<T>& field) {
    if (field.has_value()) (*this)(name, *field);
  }

  void operator()(std::string_view name, std::string_view text) {
    const bool bytes = name == "visitor" || name == "key";
    Put(name, bytes ? protocol::EscapeId(text) : std::string(text));
  }
  void operator()(std::string_view name, const std::string& text) {
    (*this)(name, std::string_view(text));
  }
  void operator()(std::string_view name, const protocol::LongText& text) {
    (*this)(name, std::string_view(text.text));
  }
  void operator()(std::string_view name, const protocol::Token& token) {
    (*this)(name, token.view());
  }
  void operator()(std::string_view name, const std::vector<protocol::RefusedCount>& refused) {
    Put(name, RefusedTotal(refused));
  }
  // Two of them would be in each other's way.
  void operator()(std::string_view name, const protocol::Latencies& latencies) {
    Put(name, ToObject(latencies));
  }
  void operator()(std::string_view, const protocol::RoomSettings& settings) {
    AddSettings(settings, object_);
  }
  void operator()(std::string_view, const protocol::Refusal& refusal) {
    object_->update(ToJson(refusal));
  }

  template <typename T>
  void operator()(std::string_view name, const std::vector<T>& items) {
    Json array = Json::array();
    for (const T& item : items) array.push_back(ToObject(item));
    Put(name, std::move(array));
  }

  template <typename T>
  void operator()(std::string_view name, const T& field) {
    if constexpr (Message<T>) {
      T::Fields(field, *this);
    } else if constexpr (std::is_enum_v<T>) {
      Put(name, std::string(NameOf(field)));
    } else {
      static_assert(std::is_integral_v<T>);
      constexpr std::string_view kMilli = "_milli";
      if (name.ends_with(kMilli)) {
        Put(name.substr(0, name.size() - kMilli.size()), static_cast<double>(field) / 1000);
      } else {
        Put(name, field);
      }
    }
  }

  template <typename T>
  static Json ToObject(const T& message) {
    Json made = Json::object();
    T::Fields(message, FieldWriter(&made));
    return made;
  }

 private:
  template <typename Value>
  void Put(std::string_view name, Value&& value) {
    (*object_)[std::string(name)] = std::forward<Value>(value);
  }

  Json* object_;
};

}  // namespace json_internal

template <json_internal::Message T>
Json ToJson(const T& message) {
  return json_internal::FieldWriter::ToObject(message);
}

// One line. Text that is not UTF-8 and no id (nothing of ours) has its odd bytes replaced.
std::string OneLine(const Json& object);

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_JSON_H_
