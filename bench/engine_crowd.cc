#include "bench/engine_crowd.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "server/base/check.h"

namespace anteroom::bench {

using protocol::Duration;
using protocol::Limit;

Id IdOf(uint64_t number) {
  // splitmix64, twice: every number gives another id.
  const auto mix = [](uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  const uint64_t halves[2] = {mix(number * 2 + 1), mix(number * 2 + 2)};
  Id id;
  std::memcpy(id.data(), halves, sizeof halves);
  return id;
}

EngineCrowd::EngineCrowd()
    : engine_({.index_seed = 0x5eed}),
      tokens_(auth::NewSecrets()),
      desk_(&engine_, &sink_, &tokens_, nullptr) {
  desk_.BeginTurn(0);
  protocol::RoomSettings settings;
  settings.capacity = Limit{0};
  settings.waiting_ttl = Duration{3'600'000};
  CHECK_EQ(desk_.Handle(protocol::RoomCreateOperation{{kRoom, settings}}).index(), 0u);
}

bool EngineCrowd::Join(uint64_t number) {
  const Id id = IdOf(number);
  return desk_.Handle(protocol::JoinOperation{{kRoom, ViewOf(id), std::nullopt}}).index() == 0;
}

void EngineCrowd::Leave(uint64_t number) {
  const Id id = IdOf(number);
  desk_.Handle(protocol::LeaveOperation{{kRoom, ViewOf(id)}});
}

double EngineCrowd::GrowTo(uint64_t people, bool time_steps) {
  double longest_ns = 0;
  while (waiting() < people) {
    const double start_ns = time_steps ? ThreadCpuNs() : 0;
    CHECK(Join(next_++));
    if (time_steps) longest_ns = std::max(longest_ns, ThreadCpuNs() - start_ns);
  }
  return longest_ns;
}

void EngineCrowd::SetCapacity(uint64_t capacity) {
  capacity_ = capacity;
  protocol::RoomSettings settings;
  settings.capacity = Limit{capacity};
  CHECK_EQ(desk_.Handle(protocol::RoomSetOperation{{kRoom, settings, std::nullopt}}).index(), 0u);
}

void EngineCrowd::Admit(uint64_t count) {
  SetCapacity(capacity_ + count);
  first_ += count;
}

void EngineCrowd::Empty() {
  SetCapacity(0);
  const Room& room = *engine_.FindRoom(kRoom);
  while (!room.inside.empty()) {
    const Session& session = engine_.roster().sessions()[room.inside.First()];
    const std::string id(engine_.visitor(session.visitor).id.view());
    desk_.Handle(
        protocol::FinishOperation{{kRoom, id, std::nullopt, protocol::Outcome::kCompleted}});
  }
}

double ThreadCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

size_t ResidentBytes() {
  unsigned long pages = 0;
  unsigned long resident = 0;
  FILE* statm = std::fopen("/proc/self/statm", "r");
  if (statm != nullptr) {
    if (std::fscanf(statm, "%lu %lu", &pages, &resident) != 2) resident = 0;
    std::fclose(statm);
  }
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace anteroom::bench
