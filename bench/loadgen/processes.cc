#include "bench/loadgen/processes.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>

namespace anteroom::loadgen {

uint64_t ResidentBytes(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

double CpuSeconds(pid_t process) {
  clockid_t clock;
  timespec time{};
  if (process == 0 || clock_getcpuclockid(process, &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace anteroom::loadgen
