// Bounds of a file of rooms.
#ifndef ANTEROOM_TOOLS_ROOMS_FILE_LIMITS_H_
#define ANTEROOM_TOOLS_ROOMS_FILE_LIMITS_H_

#include <cstddef>

namespace anteroom::tools {

// A larger file is something else: a hundred thousand rooms with three settings each are 7 MB.
inline constexpr size_t kRoomsFileBytesMax = size_t{64} << 20;

// No key of tables within tables is then so deep that reading it takes much stack.
inline constexpr size_t kRoomsFileLineBytesMax = 4096;

// Tables within tables are said by a name this deep; where they go on further, it ends in `...`.
inline constexpr size_t kTableDepthNamed = 8;

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_ROOMS_FILE_LIMITS_H_
