// A room with a crowd in it, for benchmarks of the whole engine: the desk with its soft deadlines,
// a sink that keeps records as the log's batch would, and real tokens.
#ifndef ANTEROOM_BENCH_ENGINE_CROWD_H_
#define ANTEROOM_BENCH_ENGINE_CROWD_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/auth/token_authority.h"
#include "server/engine/desk.h"

namespace anteroom::bench {

// Copies each record into a buffer that is written over when it is full.
class BufferSink : public RecordSink {
 public:
  BufferSink() { buffer_.reserve(kBufferBytes); }
  void Append(std::string_view record) override {
    if (buffer_.size() + record.size() > kBufferBytes) buffer_.clear();
    buffer_.append(record);
  }

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 20;
  std::string buffer_;
};

// Sixteen bytes that follow from a number and look like nothing in particular.
using Id = std::array<char, 16>;
Id IdOf(uint64_t number);
inline std::string_view ViewOf(const Id& id) {
  return {id.data(), id.size()};
}

// One room, `waiting_ttl` on, which lets nobody in until it is told to.
class EngineCrowd {
 public:
  EngineCrowd();

  // Joins people until `people` wait; the ids are those of the numbers from first() to next().
  // Returns the longest CPU time of a single join, in nanoseconds, when `time_steps`.
  double GrowTo(uint64_t people, bool time_steps);

  bool Join(uint64_t number);
  void Leave(uint64_t number);
  // Lets the first `count` in at once by raising the capacity, at most 256.
  void Admit(uint64_t count);
  // Ends the sessions of everybody inside and takes their slots away.
  void Empty();

  uint64_t waiting() const { return engine_.overall().waiting; }
  // Of those waiting; people joined later have higher numbers.
  uint64_t first() const { return first_; }
  uint64_t next() const { return next_; }

  Desk& desk() { return desk_; }
  Engine& engine() { return engine_; }
  const auth::TokenAuthority& tokens() const { return tokens_; }

 private:
  void SetCapacity(uint64_t capacity);

  Engine engine_;
  BufferSink sink_;
  auth::TokenAuthority tokens_;
  Desk desk_;
  uint64_t first_ = 0;
  uint64_t next_ = 0;
  uint64_t capacity_ = 0;
};

inline constexpr std::string_view kRoom = "rehearse";

double ThreadCpuNs();
size_t ResidentBytes();

}  // namespace anteroom::bench

#endif  // ANTEROOM_BENCH_ENGINE_CROWD_H_
