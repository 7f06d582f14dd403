// Holds protocol/PROTOCOL.md and the code together: every table and every worked example of the
// page.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/frame.h"
#include "protocol/operations.h"
#include "tests/support/annotated_hex.h"
#include "tests/support/markdown_page.h"
#include "tests/support/wire_examples.h"
#include "tests/support/wire_messages.h"

namespace anteroom {
namespace {

const MarkdownPage& Page() {
  static const MarkdownPage page = ReadMarkdownPage("protocol/PROTOCOL.md");
  return page;
}

std::vector<TableRow> TableOf(std::string_view heading) {
  const auto found = Page().tables.find(heading);
  return found == Page().tables.end() ? std::vector<TableRow>() : found->second;
}

// ---- examples ----

std::string BytesOf(const std::string& block) {
  std::string bytes;
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream pairs(line.substr(0, line.find('#')));
    for (std::string pair; pairs >> pair;) {
      bytes += static_cast<char>(std::stoi(pair, nullptr, 16));
    }
  }
  return bytes;
}

TEST_CASE("PROTOCOL.md: every example is what the encoder makes, and decodes to the same bytes") {
  std::set<std::string> expected;
  for (const WireExample& example : WireExamples()) {
    const std::string name = "hex " + example.name;
    REQUIRE(expected.insert(name).second);
    INFO("the block that belongs into protocol/PROTOCOL.md:\n```", name, "\n", example.block,
         "```");
    REQUIRE(Page().blocks.count(name) == 1);
    const std::string& block = Page().blocks.find(name)->second;
    const std::string golden = BytesOf(block);
    CHECK(golden == example.frame);
    CHECK(block == example.block);

    protocol::FrameHeader header;
    std::string_view payload;
    size_t consumed = 0;
    REQUIRE(protocol::TakeFrame(golden, &header, &payload, &consumed) ==
            protocol::FrameStatus::kComplete);
    CHECK(consumed == golden.size());
    CHECK(DecodeAndEncode(header, payload) == golden);
  }
  for (const auto& one : Page().blocks) {
    const auto& name = one.first;
    INFO("a block without an example in tests/support/wire_examples.cc: ", name);
    CHECK((!name.starts_with("hex ") || expected.count(name) == 1));
  }
}

TEST_CASE("PROTOCOL.md: every operation has an example of its request and its reply") {
  const auto check = [](std::string_view operation) {
    for (const std::string_view kind : {" request", " reply"}) {
      const std::string name = "hex " + std::string(operation) + std::string(kind);
      INFO("missing: ", name);
      CHECK(Page().blocks.count(name) == 1);
    }
  };
#define ANTEROOM_X(number, Name, name, ...) check(name);
  ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  for (const std::string_view name :
       {"hex watch push", "hex watch end", "hex watch_room push", "hex watch_room push events",
        "hex watch_room end", "hex join refusal", "hex hello request key_id",
        "hex hello reply challenge"}) {
    CHECK(Page().blocks.count(name) == 1);
  }
}

// ---- tables of values ----

std::string Shown(const std::vector<TableRow>& rows) {
  std::string text;
  for (const TableRow& row : rows) {
    for (const std::string& cell : row) text += "| " + cell + " ";
    text += "|\n";
  }
  return text;
}

// The first `columns` cells of each row that is not reserved.
std::string InUse(std::string_view heading, size_t columns) {
  std::vector<TableRow> rows;
  for (TableRow row : TableOf(heading)) {
    if (row.back().starts_with("reserved")) continue;
    row.resize(columns);
    rows.push_back(row);
  }
  return Shown(rows);
}

template <typename Kind>
std::string Values() {
  std::vector<TableRow> rows;
  for (int number = 0; number < 256; ++number) {
    const std::string_view name = NameOf(static_cast<Kind>(number));
    if (!name.empty()) rows.push_back({std::to_string(number), std::string(name)});
  }
  return Shown(rows);
}

TEST_CASE("PROTOCOL.md: the tables of values are those of the code") {
  CHECK(InUse("State", 2) == Values<protocol::State>());
  CHECK(InUse("Reason", 2) == Values<protocol::Reason>());
  CHECK(InUse("Mode", 2) == Values<protocol::Mode>());
  CHECK(InUse("NoShow", 2) == Values<protocol::NoShow>());
  CHECK(InUse("Renewal", 2) == Values<protocol::Renewal>());
  CHECK(InUse("Outcome", 2) == Values<protocol::Outcome>());
  CHECK(InUse("ErrorCode", 2) == Values<protocol::ErrorCode>());
  std::vector<TableRow> kinds;
  for (int kind = 0; kind <= static_cast<int>(protocol::FrameKind::kEnd); ++kind) {
    kinds.push_back(
        {std::to_string(kind), std::string(KindName(static_cast<protocol::FrameKind>(kind)))});
  }
  CHECK(InUse("FrameKind", 2) == Shown(kinds));
}

TEST_CASE("PROTOCOL.md: whether a retry can help is what the code says") {
  for (const TableRow& row : TableOf("ErrorCode")) {
    CAPTURE(row[1]);
    const std::optional<protocol::ErrorCode> error = protocol::ParseErrorCode(row[1]);
    REQUIRE(error.has_value());
    CHECK((row[2] == "yes") == protocol::Refuse(*error, "").retry);
  }
}

TEST_CASE("PROTOCOL.md: the limits are those of the code") {
  std::map<std::string, std::string> limits;
  for (const TableRow& row : TableOf("Limits")) limits[row[0]] = row[1];
  const auto bytes = [](size_t count) { return std::to_string(count) + " bytes"; };
  CHECK(limits["payload of a frame"] == bytes(protocol::kPayloadBytesMax));
  CHECK(limits["name of a room"] == bytes(protocol::kRoomNameBytesMax));
  CHECK(limits["id of a visitor"] == bytes(protocol::kVisitorIdBytesMax));
  CHECK(limits["key of an admit"] == bytes(protocol::kAdmitKeyBytesMax));
  CHECK(limits["items of a batch"] == std::to_string(protocol::kBatchItemsMax));
  CHECK(limits["people of an admit"] == std::to_string(protocol::kAdmitCountMax));
  CHECK(limits["entries of a page"] == std::to_string(protocol::kPageItemsMax));
  CHECK(limits["visitors of a watch"] == std::to_string(protocol::kWatchVisitorsMax));
  CHECK(limits["name of credentials"] == bytes(protocol::kCredentialNameBytesMax));
  CHECK(limits["challenge and nonce"] == bytes(protocol::kNonceBytes));
  CHECK(limits["proof"] == bytes(protocol::kProofBytes));
  CHECK(limits["events of a push"] == std::to_string(protocol::kRoomEventsMax));
}

// ---- the table of operations ----

TEST_CASE("PROTOCOL.md: the table of operations is that of the code") {
  std::vector<TableRow> expected;
#define ANTEROOM_X(number, Name, name, Request, Reply, least_role, summary)                        \
  expected.push_back({std::to_string(number), name, std::string(MessageName<protocol::Request>()), \
                      std::string(MessageName<protocol::Reply>()),                                 \
                      std::string(NameOf(protocol::Role::least_role))});
  ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
  CHECK(InUse("Operations", 5) == Shown(expected));

  for (const TableRow& row : TableOf("Operations")) {
    CAPTURE(row[1]);
    REQUIRE(row.size() == 7);
    CHECK_FALSE(row[5].empty());
    std::istringstream refusals(row[6]);
    for (std::string error; refusals >> error;) {
      CAPTURE(error);
      CHECK(protocol::ParseErrorCode(error).has_value());
    }
  }
}

TEST_CASE("PROTOCOL.md: what each role may do is what the code says") {
  const std::vector<TableRow> rows = TableOf("Roles");
  REQUIRE(rows.size() == protocol::RoleNames().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i][0] == protocol::RoleNames()[i]);
    std::set<std::string> expected;
#define ANTEROOM_X(number, Name, name, Request, Reply, least_role, summary) \
  if (NameOf(protocol::Role::least_role) == rows[i][0]) expected.insert(name);
    ANTEROOM_OPERATIONS(ANTEROOM_X)
#undef ANTEROOM_X
    std::string operations = rows[i][1];
    if (rows[i][0] == "operator") {
      const size_t more = operations.find(", and finish without a token");
      REQUIRE(more != std::string::npos);
      operations.resize(more);
    }
    std::istringstream words(operations);
    std::set<std::string> said;
    for (std::string word; words >> word;) said.insert(word);
    CHECK(said == expected);
  }
  CHECK(LeastRole(protocol::FinishOperation{{"room", "ann", "token", {}}}) == protocol::Role::kApp);
  CHECK(LeastRole(protocol::FinishOperation{{"room", "ann", {}, {}}}) == protocol::Role::kOperator);
  CHECK(LeastRole(protocol::JoinManyOperation{}) == protocol::Role::kApp);
  CHECK(LeastRole(protocol::ClockAdvanceOperation{}) == protocol::Role::kOperator);
  CHECK(LeastRole(protocol::RotateTokenKeyOperation{}) == protocol::Role::kOperator);
}

// ---- the fields of messages ----

std::string_view KindTypeName(protocol::State) {
  return "State";
}
std::string_view KindTypeName(protocol::Reason) {
  return "Reason";
}
std::string_view KindTypeName(protocol::Mode) {
  return "Mode";
}
std::string_view KindTypeName(protocol::NoShow) {
  return "NoShow";
}
std::string_view KindTypeName(protocol::Renewal) {
  return "Renewal";
}
std::string_view KindTypeName(protocol::Outcome) {
  return "Outcome";
}
std::string_view KindTypeName(protocol::ErrorCode) {
  return "ErrorCode";
}

template <typename T>
std::string TypeName() {
  if constexpr (protocol::codec_internal::kIsOptional<T>) {
    return TypeName<typename T::value_type>();
  } else if constexpr (protocol::codec_internal::kIsVector<T>) {
    return "list of " + TypeName<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_same_v<T, protocol::LongText>) {
    return "text";
  } else if constexpr (std::is_same_v<T, protocol::Token>) {
    return "token";
  } else if constexpr (kIsText<T>) {
    return "string";
  } else if constexpr (IsMessage<T>) {
    return std::string(MessageName<T>());
  } else if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
  } else {
    return std::string(KindTypeName(T{}));
  }
}

struct FieldRows {
  std::vector<TableRow> rows;
  int next_bit = 0;
  template <typename Field>
  void operator()(std::string_view name, const Field&) {
    const bool optional = protocol::codec_internal::kIsOptional<Field>;
    rows.push_back({std::string(name), TypeName<Field>(),
                    optional ? std::to_string(next_bit++) : std::string()});
  }
};

template <typename Message>
std::string FieldTable() {
  FieldRows fields;
  const Message message;
  Message::Fields(message, fields);
  return Shown(fields.rows);
}

TEST_CASE("PROTOCOL.md: the fields of every message are those of the code") {
  std::vector<std::pair<std::string, std::string>> expected;
#define ANTEROOM_X(Message) expected.emplace_back(#Message, FieldTable<protocol::Message>());
  ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X
  for (const auto& one : expected) {
    const auto& [message, fields] = one;
    CAPTURE(one.first);
    CHECK(InUse(message, 3) == fields);
  }
}

// What an optional field of a later version would need.
template <typename Message>
bool HasPresenceBitmap() {
  protocol::codec_internal::PresenceCollector presence;
  const Message message;
  Message::Fields(message, presence);
  return protocol::codec_internal::PresenceBytes<Message>(presence.count) > 0;
}

TEST_CASE("protocol: every message has a presence bitmap, but for those that never grow") {
  std::set<std::string> without;
#define ANTEROOM_X(Message) \
  if (!HasPresenceBitmap<protocol::Message>()) without.insert(#Message);
  ANTEROOM_WIRE_MESSAGES(ANTEROOM_X)
#undef ANTEROOM_X
  CHECK(without == std::set<std::string>(
                       {"Empty", "Rate", "Limit", "Duration", "Stock", "Factor", "RefusedCount"}));
}

}  // namespace
}  // namespace anteroom
