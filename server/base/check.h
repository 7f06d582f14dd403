#ifndef ANTEROOM_SERVER_BASE_CHECK_H_
#define ANTEROOM_SERVER_BASE_CHECK_H_

// Assertions that stay on in release builds.
//
//   CHECK(line_.empty());
//   CHECK_EQ(occupied, admitted + active);
//   CHECK_OK(status);
//
// A CHECK guards what only a bug in this program can break. What an outside party can cause (a
// peer's bytes, a file, a full disk) is a typed status, never a CHECK. A failed CHECK writes file,
// line and the values compared to standard error and aborts: after a broken invariant nothing may
// be acknowledged any more.
//
// DCHECK and its relatives are for checks too dear for release (a walk over a whole structure):
// they are compiled everywhere, and run in sanitizer builds only.
//
// Integers of different signedness are compared by value: CHECK_EQ(size_t{0}, -0) needs no cast.
// Threads: every macro may be used from any thread. SetCheckFailureHandler is for the start of a
// program.

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace anteroom {

// Called with the place and the whole message before the abort. A test runner's handler may throw
// instead of returning; when it returns, the program aborts all the same.
using CheckFailureHandler = void (*)(const char* file, int line, std::string_view message);

// Installs `handler` (nullptr: the default, which writes to standard error) and returns the one
// before.
CheckFailureHandler SetCheckFailureHandler(CheckFailureHandler handler);

namespace internal {

struct CheckSite {
  const char* file;
  int line;
  const char* expression;
};

[[noreturn]] void CheckFailed(const CheckSite& site);
[[noreturn]] void CheckFailed(const CheckSite& site, std::string_view detail);
[[noreturn]] void CheckFailed(const CheckSite& site, const std::string& left, const char* relation,
                              const std::string& right);

// Shown between quotes, with bytes that are not printable ASCII as \xNN.
std::string DescribeText(std::string_view text);
std::string DescribePointer(const void* pointer);

template <typename T>
concept TextLike = requires(const T& value) {
  { value.data() } -> std::convertible_to<const char*>;
  { value.size() } -> std::convertible_to<std::size_t>;
};

template <typename T>
std::string Describe(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, __int128> || std::is_same_v<T, unsigned __int128>) {
    return std::to_string(
               static_cast<unsigned long long>(static_cast<unsigned __int128>(value) >> 64)) +
           "*2^64+" + std::to_string(static_cast<unsigned long long>(value));
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_null_pointer_v<T>) {
    return "nullptr";
  } else if constexpr (std::is_pointer_v<T>) {
    return DescribePointer(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return DescribeText(std::string_view(value));
  } else if constexpr (TextLike<T>) {
    return DescribeText(std::string_view(value.data(), value.size()));
  } else if constexpr (requires { std::string(value.ToString()); }) {
    return std::string(value.ToString());
  } else {
    return "(not printable)";
  }
}

inline void CheckTrue(const CheckSite& site, bool holds) {
  if (!holds) [[unlikely]]
    CheckFailed(site);
}

// The integers that std::cmp_equal and its relatives take: neither bool nor a character type.
template <typename T>
concept PlainInteger =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
    !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
    !std::is_same_v<T, char32_t> && sizeof(T) <= 8;

#define ANTEROOM_INTERNAL_COMPARISON(Name, relation, std_compare)                 \
  template <typename Left, typename Right>                                        \
  inline void Name(const CheckSite& site, const Left& left, const Right& right) { \
    bool holds;                                                                   \
    if constexpr (PlainInteger<Left> && PlainInteger<Right>) {                    \
      holds = std_compare(left, right);                                           \
    } else {                                                                      \
      holds = static_cast<bool>(left relation right);                             \
    }                                                                             \
    if (!holds) [[unlikely]]                                                      \
      CheckFailed(site, Describe(left), #relation, Describe(right));              \
  }

ANTEROOM_INTERNAL_COMPARISON(CheckEq, ==, std::cmp_equal)
ANTEROOM_INTERNAL_COMPARISON(CheckNe, !=, std::cmp_not_equal)
ANTEROOM_INTERNAL_COMPARISON(CheckLt, <, std::cmp_less)
ANTEROOM_INTERNAL_COMPARISON(CheckLe, <=, std::cmp_less_equal)
ANTEROOM_INTERNAL_COMPARISON(CheckGt, >, std::cmp_greater)
ANTEROOM_INTERNAL_COMPARISON(CheckGe, >=, std::cmp_greater_equal)

#undef ANTEROOM_INTERNAL_COMPARISON

// For anything with ok(), and either ToString() or status(): absl::Status, absl::StatusOr.
template <typename T>
inline void CheckOk(const CheckSite& site, const T& result) {
  if (result.ok()) [[likely]]
    return;
  if constexpr (requires { result.status(); }) {
    CheckFailed(site, Describe(result.status()));
  } else {
    CheckFailed(site, Describe(result));
  }
}

}  // namespace internal
}  // namespace anteroom

// doctest has macros of the same names. In a test that includes both, these win, so that code in
// our headers means the same everywhere; the test runner's failure handler turns a failure into a
// failed test case.
#ifdef DOCTEST_LIBRARY_INCLUDED
#undef CHECK
#undef CHECK_EQ
#undef CHECK_NE
#undef CHECK_LT
#undef CHECK_LE
#undef CHECK_GT
#undef CHECK_GE
#endif

#define ANTEROOM_INTERNAL_SITE(text) \
  ::anteroom::internal::CheckSite {  \
    __FILE__, __LINE__, text         \
  }

#define CHECK(...)                                                                   \
  ::anteroom::internal::CheckTrue(ANTEROOM_INTERNAL_SITE("CHECK(" #__VA_ARGS__ ")"), \
                                  static_cast<bool>((__VA_ARGS__)))

#define CHECK_EQ(...) \
  ::anteroom::internal::CheckEq(ANTEROOM_INTERNAL_SITE("CHECK_EQ(" #__VA_ARGS__ ")"), __VA_ARGS__)
#define CHECK_NE(...) \
  ::anteroom::internal::CheckNe(ANTEROOM_INTERNAL_SITE("CHECK_NE(" #__VA_ARGS__ ")"), __VA_ARGS__)
#define CHECK_LT(...) \
  ::anteroom::internal::CheckLt(ANTEROOM_INTERNAL_SITE("CHECK_LT(" #__VA_ARGS__ ")"), __VA_ARGS__)
#define CHECK_LE(...) \
  ::anteroom::internal::CheckLe(ANTEROOM_INTERNAL_SITE("CHECK_LE(" #__VA_ARGS__ ")"), __VA_ARGS__)
#define CHECK_GT(...) \
  ::anteroom::internal::CheckGt(ANTEROOM_INTERNAL_SITE("CHECK_GT(" #__VA_ARGS__ ")"), __VA_ARGS__)
#define CHECK_GE(...) \
  ::anteroom::internal::CheckGe(ANTEROOM_INTERNAL_SITE("CHECK_GE(" #__VA_ARGS__ ")"), __VA_ARGS__)
#define CHECK_OK(...) \
  ::anteroom::internal::CheckOk(ANTEROOM_INTERNAL_SITE("CHECK_OK(" #__VA_ARGS__ ")"), __VA_ARGS__)

#ifdef ANTEROOM_DCHECKS
#define ANTEROOM_INTERNAL_DCHECK(check) check
#else
#define ANTEROOM_INTERNAL_DCHECK(check) (true ? static_cast<void>(0) : (check))
#endif

#define DCHECK(...) ANTEROOM_INTERNAL_DCHECK(CHECK(__VA_ARGS__))
#define DCHECK_EQ(...) ANTEROOM_INTERNAL_DCHECK(CHECK_EQ(__VA_ARGS__))
#define DCHECK_NE(...) ANTEROOM_INTERNAL_DCHECK(CHECK_NE(__VA_ARGS__))
#define DCHECK_LT(...) ANTEROOM_INTERNAL_DCHECK(CHECK_LT(__VA_ARGS__))
#define DCHECK_LE(...) ANTEROOM_INTERNAL_DCHECK(CHECK_LE(__VA_ARGS__))
#define DCHECK_GT(...) ANTEROOM_INTERNAL_DCHECK(CHECK_GT(__VA_ARGS__))
#define DCHECK_GE(...) ANTEROOM_INTERNAL_DCHECK(CHECK_GE(__VA_ARGS__))

#endif  // ANTEROOM_SERVER_BASE_CHECK_H_
