#include "server/app/core_files.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace anteroom::app {

void LeaveMemoryOutOfCoreFiles() {
  const int file = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
  const bool done = file >= 0 && write(file, "0", 1) == 1;
  if (file >= 0) close(file);
  if (!done) prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace anteroom::app
