// What the system knows of a process: memory and processor time.
#ifndef ANTEROOM_BENCH_LOADGEN_PROCESSES_H_
#define ANTEROOM_BENCH_LOADGEN_PROCESSES_H_

#include <sys/types.h>

#include <cstdint>

namespace anteroom::loadgen {

// Resident memory, /proc/PID/statm; 0 when the process is not there.
uint64_t ResidentBytes(pid_t process);

// Of all its threads since its start; 0 when the process is not there, or is 0.
double CpuSeconds(pid_t process);

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_PROCESSES_H_
