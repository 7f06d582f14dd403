// How what the files hold is declared: the commands of the log, the entries of a snapshot. Each is
// a struct with a type, a name for people, and its fields in the encoding of protocol/codec.h.
// Types are never reused; a later field is appended as an optional one, for which every one of them
// begins with a presence byte from the start.
#ifndef ANTEROOM_SERVER_ENGINE_RECORD_H_
#define ANTEROOM_SERVER_ENGINE_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#define ANTEROOM_RECORD(type_number, type_name, ...)                                  \
  static constexpr uint8_t kType = type_number;                                       \
  static constexpr size_t kPresenceBytes = 1;                                         \
  static constexpr std::string_view kName = type_name;                                \
  template <typename Self, typename Visitor>                                          \
  static void Fields([[maybe_unused]] Self& self, [[maybe_unused]] Visitor&& visit) { \
    __VA_ARGS__                                                                       \
  }
#define ANTEROOM_RECORD_FIELD(name) visit(#name, self.name);

#endif  // ANTEROOM_SERVER_ENGINE_RECORD_H_
