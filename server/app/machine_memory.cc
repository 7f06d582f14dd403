#include "server/app/machine_memory.h"

#include <uv.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace anteroom::app {
namespace {

// The line of version 2 in /proc/self/cgroup; what follows is the group's path.
constexpr std::string_view kVersion2 = "0::/";

}  // namespace

uint64_t ControlGroupMemory(const std::string& groups, const std::string& root) {
  uint64_t least = UINT64_MAX;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kVersion2)) continue;
    std::string path = line.substr(kVersion2.size() - 1);
    // A limit of a group above holds too.
    while (!path.empty()) {
      std::ifstream file(root + path + "/memory.max");
      if (uint64_t bytes = 0; file >> bytes) least = std::min(least, bytes);
      path.erase(path.rfind('/'));
    }
    // Within a container the group is the root that can be seen.
    std::ifstream file(root + "/memory.max");
    if (uint64_t bytes = 0; file >> bytes) least = std::min(least, bytes);
  }
  return least;
}

uint64_t MemoryForTheDaemon() {
  uint64_t bytes = uv_get_total_memory();
  // Of version 1; 0 when it is not known.
  if (const uint64_t constrained = uv_get_constrained_memory(); constrained > 0) {
    bytes = std::min(bytes, constrained);
  }
  std::ostringstream groups;
  groups << std::ifstream("/proc/self/cgroup").rdbuf();
  bytes = std::min(bytes, ControlGroupMemory(groups.str(), "/sys/fs/cgroup"));
  return bytes / 5 * 2;
}

}  // namespace anteroom::app
