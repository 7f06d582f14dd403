#include "tests/scripts/runner_expect.h"

#include <algorithm>
#include <optional>

#include "protocol/duration.h"
#include "protocol/text.h"

namespace anteroom::scripts {
namespace {

bool IsHead(const std::string& word) {
  return word == "ok" || word == "refused" || protocol::ParseState(word).has_value();
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
}

// `expires_in` stands for `expires_in_ms`. Empty for what is no field.
std::string FullName(std::string_view field) {
  if (IsField(field)) return std::string(field);
  std::string with_unit = std::string(field) + "_ms";
  return IsField(with_unit) ? with_unit : std::string();
}

// The length of the operator that ends the field's name: `=`, `:`, `!=`, `<=`, `>=`, `<`, `>`, `~`.
std::optional<std::pair<size_t, size_t>> FindOperator(std::string_view word) {
  const size_t at = word.find_first_of("=:!<>~");
  if (at == std::string_view::npos || FullName(word.substr(0, at)).empty()) return std::nullopt;
  const bool two =
      at + 1 < word.size() && word[at] != '=' && word[at] != ':' && word[at + 1] == '=';
  return std::pair(at, two ? size_t{2} : size_t{1});
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string CheckRecords(const std::string& wanted, size_t records) {
  if (wanted == "same") return records == 0 ? "" : "records same";
  if (!wanted.starts_with("+") || !IsNumber(wanted.substr(1))) {
    throw ScriptFailure("after `records` comes `same` or `+N`, not " + wanted);
  }
  return std::to_string(records) == wanted.substr(1) ? "" : "records " + wanted;
}

// Of an answer with very many fields, those that the script speaks of: for people to read.
Reply Shortened(const Reply& reply, const Words& expected) {
  constexpr size_t kFieldsShown = 24;
  if (reply.fields.size() <= kFieldsShown) return reply;
  Reply shortened = reply;
  std::erase_if(shortened.fields, [&](const auto& field) {
    return std::none_of(expected.begin(), expected.end(), [&](const std::string& word) {
      return FullName(word.substr(0, word.find_first_of("=:!<>~"))) == field.first;
    });
  });
  return shortened;
}

}  // namespace

std::string Expectations::Lookup(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw ScriptFailure("nothing has been named " + name);
  return found->second;
}

std::string Expectations::Resolve(const std::string& word) const {
  if (word.starts_with("$")) return Lookup(word.substr(1));
  if (word.starts_with("token(") && word.ends_with(")")) {
    return Lookup(word.substr(6, word.size() - 7));
  }
  return word;
}

std::string Expectations::Bind(const std::string& field, const std::string& name,
                               const Reply& reply) {
  const std::string value = reply.Field(field);
  if (value.empty()) return field + " present";
  const auto [entry, is_new] = values_.emplace(name, value);
  if (entry->second != value) return field + ":" + name + ", which is " + entry->second;
  if (!is_new || !field.ends_with("token")) return "";
  const auto [token_name, is_first] = token_names_.emplace(value, name);
  return is_first ? "" : "another token than " + token_name->second;
}

std::string Expectations::CheckField(std::string_view said, std::string_view operation,
                                     const std::string& value, const Reply& reply) {
  const std::string field = FullName(said);
  if (operation == ":") return Bind(field, value, reply);
  std::string wanted = Resolve(value);
  if (field != said || field.ends_with("_ms")) {
    if (const auto ms = protocol::ParseDurationMs(wanted)) wanted = std::to_string(*ms);
  }
  const std::string got = reply.Field(field);
  const std::string expected = std::string(said) + std::string(operation) + value;
  if (got.empty()) return expected;
  if (operation == "=") return got == wanted ? "" : expected;
  if (operation == "~") return got.find(wanted) != got.npos ? "" : expected;
  if (operation == "!=") return got != wanted ? "" : expected;
  if (!IsNumber(wanted)) throw ScriptFailure(wanted + " is no number");
  if (!IsNumber(got)) return expected;
  const uint64_t left = std::stoull(got);
  const uint64_t right = std::stoull(wanted);
  const bool right_way = operation == "<"    ? left < right
                         : operation == ">"  ? left > right
                         : operation == "<=" ? left <= right
                                             : left >= right;
  return right_way ? "" : expected;
}

void Expectations::Check(const Words& expected, const Reply& reply, size_t records) {
  Words wrong;
  Words names;
  bool names_said = false;
  bool refusal_said = false;
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string& word = expected[i];
    const std::string next = i + 1 < expected.size() ? expected[i + 1] : "";
    if (i == 0 && IsHead(word)) {
      refusal_said = word == "refused";
      const bool right = word == reply.head || (word == "ok" && !reply.refused());
      if (!right) wrong.push_back(word);
    } else if (word == "records") {
      if (std::string one = CheckRecords(next, records); !one.empty()) wrong.push_back(one);
      ++i;
    } else if (next == "absent" || next == "present") {
      const std::string field = FullName(word);
      if (field.empty()) throw ScriptFailure("no reply has a field " + word);
      if (reply.fields.contains(field) != (next == "present")) wrong.push_back(Join({word, next}));
      ++i;
    } else if (const auto place = FindOperator(word)) {
      const auto [at, length] = *place;
      std::string one =
          CheckField(std::string_view(word).substr(0, at),
                     std::string_view(word).substr(at, length), word.substr(at + length), reply);
      if (!one.empty()) wrong.push_back(one);
    } else if (refusal_said) {
      if (!protocol::ParseErrorCode(word)) throw ScriptFailure("there is no refusal " + word);
      if (reply.Field("error") != word) wrong.push_back(word);
    } else {
      names_said = true;
      if (word != "nobody") names.push_back(protocol::EscapeId(ParseBytes(word)));
    }
  }
  if (names_said && names != reply.names) wrong.push_back(names.empty() ? "nobody" : Join(names));
  if (reply.refused() && !refusal_said && wrong.empty()) wrong.push_back("no refusal");
  if (wrong.empty()) return;
  throw ScriptFailure("expected: " + Join(wrong) + "\n     got: " +
                      Shortened(reply, expected).ToText() + " records +" + std::to_string(records));
}

}  // namespace anteroom::scripts
