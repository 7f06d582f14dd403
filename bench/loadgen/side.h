// What the load needs of a server and its protocol: two implementations, one driver, so that both
// servers are loaded by the same program in the same way.
#ifndef ANTEROOM_BENCH_LOADGEN_SIDE_H_
#define ANTEROOM_BENCH_LOADGEN_SIDE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "bench/loadgen/crowd.h"

namespace anteroom::loadgen {

// The same at both servers: a room's name is a key's.
inline constexpr std::string_view kRoom = "concert1";

struct Answers {
  uint64_t count = 0;
  uint64_t unexpected = 0;  // refusals, errors, nobody found
  uint64_t admitted = 0;    // people let in by an Admit
};

// One connection's requests and answers. The requests in flight at a time are all of one kind.
// An answer that could belong to no request is an error of Take.
class Conversation {
 public:
  virtual ~Conversation() = default;

  virtual void Greet(std::string* out) = 0;
  // Visitors [first, first + count) join in one request.
  virtual void JoinMany(uint64_t first, uint32_t count, std::string* out) = 0;
  virtual void Join(uint64_t visitor, std::string* out) = 0;
  virtual void Position(uint64_t visitor, std::string* out) = 0;
  // The next `count` people are let in, each with a token, which the answer holds.
  virtual void Admit(uint32_t count, std::string* out) = 0;

  // Takes what has arrived and adds up the answers that it completes.
  virtual absl::Status Take(std::string_view bytes, Answers* answers) = 0;
};

// One server.
class Side {
 public:
  virtual ~Side() = default;
  virtual std::string_view name() const = 0;
  // An empty line; before anything else.
  virtual absl::Status Prepare() = 0;
  virtual std::unique_ptr<Conversation> Converse() = 0;
};

// A request whose bytes are made once; only the id, and a number in as many digits as ever, differ.
class Template {
 public:
  // Stand in for the two in the bytes that a Template is made of. The number is optional.
  static constexpr std::string_view kIdMark = "<<<visitor id>>>";
  static constexpr std::string_view kNumberMark = "<<number>>>>";
  static_assert(kIdMark.size() == kIdBytes);

  Template() = default;
  explicit Template(std::string bytes)
      : bytes_(std::move(bytes)),
        id_at_(bytes_.find(kIdMark)),
        number_at_(bytes_.find(kNumberMark)) {}

  // The place of the appended bytes, for whoever changes more of them.
  char* Append(std::string_view id, uint64_t number, std::string* out) const {
    const size_t start = out->size();
    out->append(bytes_);
    char* bytes = out->data() + start;
    std::memcpy(bytes + id_at_, id.data(), kIdBytes);
    if (number_at_ != std::string::npos) {
      for (size_t digit = kNumberMark.size(); digit-- > 0; number /= 10) {
        bytes[number_at_ + digit] = static_cast<char>('0' + number % 10);
      }
    }
    return bytes;
  }

 private:
  std::string bytes_;
  size_t id_at_ = 0;
  size_t number_at_ = std::string::npos;
};

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_SIDE_H_
