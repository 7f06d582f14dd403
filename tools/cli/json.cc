#include "tools/cli/json.h"

namespace anteroom::cli {

Json ToJson(const protocol::Refusal& refusal) {
  Json object = Json::object();
  object["error"] = std::string(NameOf(refusal.error));
  object["message"] = refusal.message;
  object["retry"] = refusal.retry;
  if (refusal.retry_after_ms) object["retry_after_ms"] = *refusal.retry_after_ms;
  if (refusal.reason) object["reason"] = std::string(NameOf(*refusal.reason));
  return object;
}

std::string OneLine(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace json_internal {

void AddSettings(const protocol::RoomSettings& settings, Json* object) {
  for (const auto& [name, text] : FormatSettings(settings)) (*object)[name] = text;
}

Json RefusedTotal(const std::vector<protocol::RefusedCount>& refused) {
  Json by_reason = Json::object();
  for (const protocol::RefusedCount& one : refused) {
    by_reason[std::string(NameOf(one.error))] = one.count;
  }
  return by_reason;
}

}  // namespace json_internal
}  // namespace anteroom::cli
