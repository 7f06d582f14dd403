// Redis as a side of the comparison, as waiting rooms are built on it by hand, and at its best:
// every step one round trip, pipelined, scripts called by their digest, requests formatted once.
//
//   the line   a sorted set; the score is the order of arrival, which the client gives, so that the
//              script is spared an INCR
//   join       a script: ZADD NX, ZRANK
//   position   ZRANK
//   admission  a script: ZPOPMIN n, then for each SET token:<id> <token> EX 300. The tokens are
//   made
//              of random digits that the client gives, so that the script is spared a hash
#ifndef ANTEROOM_BENCH_LOADGEN_REDIS_SIDE_H_
#define ANTEROOM_BENCH_LOADGEN_REDIS_SIDE_H_

#include <memory>
#include <string>
#include <string_view>

#include "bench/loadgen/side.h"
#include "bench/loadgen/sockets.h"

namespace anteroom::loadgen {

class RedisSide : public Side {
 public:
  explicit RedisSide(Address address) : address_(std::move(address)) {}

  std::string_view name() const override { return "redis"; }
  absl::Status Prepare() override;
  std::unique_ptr<Conversation> Converse() override;

 private:
  const Address address_;
  // Digests of the scripts.
  std::string join_script_;
  std::string admit_script_;
};

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_REDIS_SIDE_H_
