// What the parts of a session may do with its connection.
#ifndef ANTEROOM_CLIENT_WIRE_H_
#define ANTEROOM_CLIENT_WIRE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "client/pending_call.h"
#include "protocol/operations.h"

namespace anteroom::client {

// Threads: the loop's.
class Wire {
 public:
  virtual bool up() const = 0;

  // A request id that stays taken until released or the connection is lost.
  virtual uint32_t ReserveId() = 0;
  virtual void ReleaseId(uint32_t request_id) = 0;

  // While up. Sends a request frame, whatever id it holds, under this id.
  virtual void SendFrame(uint32_t request_id, std::string_view frame) = 0;
  // While up. Sends it as a call of its own, with the usual deadline, beside the limit of requests
  // in flight.
  virtual void SendOwnCall(protocol::Operation operation, std::string_view frame,
                           std::unique_ptr<PendingCall> call) = 0;

  // The daemon sent what it must not.
  virtual void BreakLink(std::string why) = 0;

 protected:
  ~Wire() = default;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_WIRE_H_
