// The daemon without its sockets: frames of requests in, frames of answers and pushes out. The real
// desk and engine, a clock that stands still, and the faults that a test has asked for.
//
// Invariant: between calls nothing is due, and nothing is left to push.
// Threads: none; one owner.
#ifndef ANTEROOM_CLIENT_TESTING_INTERNAL_FRAME_DESK_H_
#define ANTEROOM_CLIENT_TESTING_INTERNAL_FRAME_DESK_H_

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "client/testing/internal/fault_list.h"
#include "client/testing/internal/outputs.h"
#include "client/testing/internal/watch_book.h"
#include "protocol/frame.h"
#include "protocol/operations.h"
#include "server/auth/token_authority.h"
#include "server/engine/desk.h"
#include "server/engine/engine.h"
#include "server/engine/meter.h"

namespace anteroom::testing {

class FrameDesk {
 public:
  // `outputs` outlives it.
  explicit FrameDesk(Outputs* outputs);

  // One whole frame that a client has sent.
  void OnFrame(uint64_t connection, const protocol::FrameHeader& header, std::string_view payload);
  // The connection has been closed, by either side.
  void OnGone(uint64_t connection);

  int64_t now_ms() const { return desk_.now_ms(); }
  // 0 to protocol::kDurationMsMax.
  void Advance(int64_t duration_ms);

  FaultList& faults() { return faults_; }
  const FaultList& faults() const { return faults_; }
  // Nothing when there is no such room.
  std::optional<protocol::Counts> Counts(std::string_view room);
  uint64_t requests(protocol::Operation operation) const {
    return requests_[static_cast<uint8_t>(operation)];
  }
  // Connections greeted.
  size_t connections() const { return greeted_.size(); }

  void check_invariants();

 private:
  // Records are for the log, and there is none: they are counted.
  class RecordCount final : public RecordSink {
   public:
    void Append(std::string_view) override { ++records_; }
    uint64_t records() const { return records_; }

   private:
    uint64_t records_ = 0;
  };

  // A request, and whether its answer is lost.
  struct Asked {
    uint64_t connection = 0;
    protocol::FrameHeader header;
    bool reply_lost = false;
  };

  // False when the connection cannot go on.
  bool Greet(const Asked& asked, std::string_view payload);
  void Work(const Asked& asked, std::string_view payload);
  template <typename OneOperation>
  void WorkOne(const Asked& asked, const OneOperation& one);
  void Refuse(const Asked& asked, const protocol::Refusal& refusal);
  template <typename Message>
  void Reply(const Asked& asked, const Message& message);
  void Settle(int64_t now_ms);
  protocol::HealthReply DescribeHealth() const;

  Outputs& outputs_;
  Engine engine_;
  RecordCount log_;
  uint32_t last_token_key_ = 1;
  auth::TokenAuthority tokens_;
  WatchBook watches_;
  Desk desk_;

  FaultList faults_;
  std::set<uint64_t> greeted_;
  std::array<uint64_t, 256> requests_{};
  Meter request_meter_;
};

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_INTERNAL_FRAME_DESK_H_
