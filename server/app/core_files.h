// Keeps secrets out of core files.
#ifndef ANTEROOM_SERVER_APP_CORE_FILES_H_
#define ANTEROOM_SERVER_APP_CORE_FILES_H_

namespace anteroom::app {

// From here on a core file of this process holds its registers and no memory.
//
// Secrets are not in one place alone: OpenSSL keeps the schedule of the tokens' key, which is as
// good as the key, on its own heap, and a proof under way has one on the stack. Marking pages of
// ours with MADV_DONTDUMP would miss both, so all memory stays out. Done by
// /proc/self/coredump_filter, which leaves debuggers, profilers and /proc as they are; where that
// cannot be written, by PR_SET_DUMPABLE, which does not.
void LeaveMemoryOutOfCoreFiles();

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_CORE_FILES_H_
