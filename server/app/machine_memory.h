// How much memory there is.
#ifndef ANTEROOM_SERVER_APP_MACHINE_MEMORY_H_
#define ANTEROOM_SERVER_APP_MACHINE_MEMORY_H_

#include <cstdint>
#include <string>

namespace anteroom::app {

// What --max-memory is when it is not said: two fifths of what the machine has, or of what the
// process's control group may have (containers, systemd's MemoryMax) when that is less. While a
// snapshot is made the state is there twice, which is four fifths; a fifth is left for buffers, the
// log and everybody else. Without a limit the kernel would end the daemon, and end it again in the
// midst of reading its log; with one, newcomers are refused.
uint64_t MemoryForTheDaemon();

// The least memory.max of a control group and those above it, UINT64_MAX without one. `groups` is
// the text of /proc/self/cgroup, `root` where the groups' folders are.
uint64_t ControlGroupMemory(const std::string& groups, const std::string& root);

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_MACHINE_MEMORY_H_
