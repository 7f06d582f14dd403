// Answers of the desk as words and named values, the form in which scripts speak of them.
#ifndef ANTEROOM_TESTS_SCRIPTS_RUNNER_REPLY_H_
#define ANTEROOM_TESTS_SCRIPTS_RUNNER_REPLY_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/messages.h"

namespace anteroom::scripts {

struct Reply {
  std::string head = "ok";                    // `ok`, a visitor's state, or `refused`
  std::vector<std::string> names;             // those whom a list names, in its order
  std::map<std::string, std::string> fields;  // what is absent in the answer is absent here

  bool refused() const { return head == "refused"; }
  // Empty when absent.
  std::string Field(std::string_view name) const;
  std::string ToText() const;
};

Reply ToReply(const protocol::VisitorReply& reply);
Reply ToReply(const protocol::AdmitReply& reply);
Reply ToReply(const protocol::RoomReply& reply);
Reply ToReply(const protocol::RoomListReply& reply);
Reply ToReply(const protocol::PageReply& reply);
Reply ToReply(const protocol::StatsReply& reply);
Reply ToReply(const protocol::TokenKeyReply& reply);
Reply ToReply(const protocol::Empty& reply);
Reply ToReply(const protocol::Refusal& refusal);
Reply ToReply(const protocol::VisitorResult& result);

template <typename Message>
Reply ToReply(const std::variant<Message, protocol::Refusal>& answer) {
  return std::visit([](const auto& one) { return ToReply(one); }, answer);
}

// Whether some answer can have a field of this name. Of a dotted name (`alice.lane`) the last part
// counts.
bool IsField(std::string_view name);

}  // namespace anteroom::scripts

#endif  // ANTEROOM_TESTS_SCRIPTS_RUNNER_REPLY_H_
