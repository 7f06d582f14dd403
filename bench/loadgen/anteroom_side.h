// Anteroom as a side of the comparison: a room with rate=0/s, so that nobody is let in by itself,
// and waiting_ttl on.
//
//   join       join
//   position   status
//   admission  admit room n; the reply holds the tokens
#ifndef ANTEROOM_BENCH_LOADGEN_ANTEROOM_SIDE_H_
#define ANTEROOM_BENCH_LOADGEN_ANTEROOM_SIDE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "bench/loadgen/side.h"
#include "bench/loadgen/sockets.h"
#include "protocol/messages.h"

namespace anteroom::loadgen {

class AnteroomSide : public Side {
 public:
  AnteroomSide(std::string_view name, Address address)
      : name_(name), address_(std::move(address)) {}

  std::string_view name() const override { return name_; }
  absl::Status Prepare() override;
  std::unique_ptr<Conversation> Converse() override;

  // How the daemon is: for its sync times.
  absl::StatusOr<protocol::HealthReply> Health();

 private:
  const std::string_view name_;
  const Address address_;
};

}  // namespace anteroom::loadgen

#endif  // ANTEROOM_BENCH_LOADGEN_ANTEROOM_SIDE_H_
