// The watches of a client: sent when the connection is up, sent again after every reconnect for
// whom they still concern, so that each begins anew with the present state.
//
// Invariant: a watch in the set has not told its last event; it has a request id only while the
// connection is up, and then is found by it. Threads: the loop's. Callbacks may add and remove
// watches.
#ifndef ANTEROOM_CLIENT_WATCH_SET_H_
#define ANTEROOM_CLIENT_WATCH_SET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "client/events.h"
#include "client/loop_handles.h"
#include "client/wire.h"
#include "protocol/frame.h"

namespace anteroom::client {

// What is watched, and who is told. Exactly one of the two callbacks is set; `visitors` belong to
// the first.
struct PendingWatch {
  std::string room;
  std::vector<std::string> visitors;
  OnVisitorEvent on_visitor;
  OnRoomEvent on_room;
  uint32_t request_id = 0;  // 0: not sent
  bool begun = false;       // since it was sent, something has been pushed

  static PendingWatch Visitors(std::string_view room, std::span<const std::string_view> visitors,
                               OnVisitorEvent on_event);
  static PendingWatch Room(std::string_view room, OnRoomEvent on_event);

  // Calls back with the last event.
  void End(const absl::Status& why) const;
  // An error when it cannot be put into a message.
  absl::Status Encode(std::string* frame) const;
  protocol::Operation operation() const {
    return on_visitor ? protocol::Operation::kWatch : protocol::Operation::kWatchRoom;
  }
};

class WatchSet {
 public:
  // `resumes`: whether the connection comes back after a loss.
  WatchSet(const std::shared_ptr<LoopRef>& ref, Wire* wire, bool resumes);

  void Add(WatchHandle handle, PendingWatch watch);
  void Remove(WatchHandle handle);
  size_t size() const { return watches_.size(); }

  void OnUp();
  void OnLost();
  // A frame of the operations watch and watch_room.
  void OnFrame(const protocol::FrameHeader& header, std::string_view payload);
  // The connection is gone for good.
  void EndAll(const absl::Status& why);

  void check_invariants() const;

 private:
  void Send(uint64_t id, PendingWatch& watch);
  void SendUnsent();
  void SendUnwatch(uint32_t request_id);
  void OnPush(uint64_t id, const std::shared_ptr<PendingWatch>& watch, std::string_view payload);
  void OnVisitorPush(uint64_t id, const std::shared_ptr<PendingWatch>& watch,
                     std::string_view payload);
  void OnRoomPush(const std::shared_ptr<PendingWatch>& watch, std::string_view payload);
  void OnEnd(uint64_t id, const std::shared_ptr<PendingWatch>& watch, std::string_view payload);

  Wire* const wire_;
  const bool resumes_;
  // In the order they were made, which is the order in which they are sent again. A callback keeps
  // its watch alive while it runs.
  std::map<uint64_t, std::shared_ptr<PendingWatch>> watches_;
  std::unordered_map<uint32_t, uint64_t> by_request_id_;
  Timer retry_timer_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_WATCH_SET_H_
