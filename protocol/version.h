// The version of everything here: daemon, library and tools are released together.
#ifndef ANTEROOM_PROTOCOL_VERSION_H_
#define ANTEROOM_PROTOCOL_VERSION_H_

#include <string_view>

namespace anteroom::protocol {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_VERSION_H_
