#include "protocol/kinds.h"

namespace anteroom::protocol {

#define ANTEROOM_CASE(number, enumerator, name) \
  case Kind::enumerator:                        \
    return name;
#define ANTEROOM_MATCH(number, enumerator, text) \
  if (name == text) return Kind::enumerator;
#define ANTEROOM_NAME(number, enumerator, name) name,

#define ANTEROOM_DEFINE_KIND(Type, TABLE)                                \
  std::string_view NameOf(Type value) {                                  \
    using Kind = Type;                                                   \
    switch (value) { TABLE(ANTEROOM_CASE) }                              \
    return {};                                                           \
  }                                                                      \
  std::optional<Type> Parse##Type(std::string_view name) {               \
    using Kind = Type;                                                   \
    TABLE(ANTEROOM_MATCH)                                                \
    return std::nullopt;                                                 \
  }                                                                      \
  std::span<const std::string_view> Type##Names() {                      \
    static constexpr std::string_view kNames[] = {TABLE(ANTEROOM_NAME)}; \
    return kNames;                                                       \
  }

ANTEROOM_DEFINE_KIND(State, ANTEROOM_STATES)
ANTEROOM_DEFINE_KIND(Reason, ANTEROOM_REASONS)
ANTEROOM_DEFINE_KIND(Mode, ANTEROOM_MODES)
ANTEROOM_DEFINE_KIND(NoShow, ANTEROOM_NO_SHOWS)
ANTEROOM_DEFINE_KIND(Renewal, ANTEROOM_RENEWALS)
ANTEROOM_DEFINE_KIND(Outcome, ANTEROOM_OUTCOMES)
ANTEROOM_DEFINE_KIND(Role, ANTEROOM_ROLES)
ANTEROOM_DEFINE_KIND(ErrorCode, ANTEROOM_ERRORS)

}  // namespace anteroom::protocol
