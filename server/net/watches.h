// Watches: who wants to be told what becomes of whom, and what is pushed when.
//
// - A watch begins with the present state of each visitor, in the order of the request, or of the
//   room. Its reply goes first: that is the caller's.
// - A change of state is pushed at once, a position when it has changed, every second near the
//   front up to every thirty far back; a room at once when its settings change, and at most every
//   second when its counts do. That cadence goes by the loop's time, so that it works while a
//   virtual clock stands still.
// - Who watches a room is told everybody's changes of state there in their order, gathered to one
//   push a turn, ahead of counts that include them.
// - Only the latest value: what is to be pushed is a mark on the item, and the push is built when
//   there is budget for it, and room in the connection. Who does not read costs nothing more. Of
//   a room's events, which are no values, it is told how many were missed.
// - `ended`, or a refusal, is the last push about a visitor. A watch without anybody left, or whose
//   room is gone, ends.
//
// Pushes carry the mark of the last record, as replies do.
//
// Threads: the loop's.
#ifndef ANTEROOM_SERVER_NET_WATCHES_H_
#define ANTEROOM_SERVER_NET_WATCHES_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "protocol/messages.h"
#include "server/base/limits.h"
#include "server/engine/desk.h"
#include "server/engine/engine.h"
#include "server/net/watch_table.h"

namespace anteroom::net {

// Where pushes go: a connection.
class Subscriber {
 public:
  // Whether it may be given more than it has read.
  virtual bool has_room() const = 0;
  // Where to append a frame that shows what records up to `mark` did.
  virtual std::string* Marked(uint64_t mark) = 0;

  uint32_t watcher = 0;  // for the watches alone

 protected:
  ~Subscriber() = default;
};

class MarkSource {
 public:
  // The last record appended.
  virtual uint64_t last_sequence() const = 0;

 protected:
  ~MarkSource() = default;
};

// From one push of a position to the next: a second for the first hundred, thirty seconds from the
// three thousandth on.
int64_t PositionPushMs(uint64_t ahead);

// Invariants: those of the table; a watcher with dirty items stands in the queue or is blocked;
// between turns no events are gathered.
class Watches : public DeskObserver {
 public:
  // Both pointers outlive it.
  Watches(const Engine* engine, const MarkSource* marks, uint64_t index_seed,
          const Limits& limits = {});

  // What it asks. Before anything else is called.
  void Attach(Desk* desk) { desk_ = desk; }

  // ---- requests; nothing when done ----

  std::optional<protocol::Refusal> Watch(Subscriber* subscriber, uint32_t request_id,
                                         const protocol::WatchRequest& request);
  std::optional<protocol::Refusal> WatchRoom(Subscriber* subscriber, uint32_t request_id,
                                             const protocol::RoomRequest& request);
  std::optional<protocol::Refusal> Unwatch(Subscriber* subscriber, uint32_t watch_id);
  // Its watches end without a word.
  void OnGone(Subscriber* subscriber);
  // Every watch ends for this reason, and nothing is watched any more.
  void EndAll(const protocol::Refusal& refusal);

  // ---- the desk tells ----

  void OnEffects(const Effects& effects) override;
  bool IsWatched(uint32_t room, uint32_t visitor) const override;

  // ---- a turn ----

  // Sets the time and the budgets, and finds what is due.
  void BeginTurn(int64_t loop_ms);
  bool has_dirty() const { return !queue_.empty(); }
  // Builds pushes, as far as the turn's budget goes. Events that are gathered do not wait longer.
  void Push();
  // Something is left to do in the next turn.
  bool has_backlog() const { return !queue_.empty() || !tasks_.empty(); }
  // When the next turn is wanted, if nothing else happens.
  int64_t NextDueMs() const;

  // Visitors and rooms watched.
  size_t count() const { return table_.item_count(); }
  // What they take.
  size_t used_bytes() const { return table_.used_bytes(); }

  void check_invariants() const;

 private:
  enum class TaskKind : uint8_t {
    kDropWatcher,  // free all that a connection watched
    kDropWatch,    // free an unwatched watch
    kRoomGone,     // end the watches of a room
    kRetell,       // a watch's room has changed: look at everybody again
  };
  struct Task {
    TaskKind kind;
    uint32_t handle;  // of the watcher or watch; number of the room
    uint32_t serial = 0;
  };

  std::optional<protocol::Refusal> CheckNew(Subscriber* subscriber, uint32_t request_id,
                                            size_t count);
  void Queue(uint32_t item);
  void RoomChanged(uint32_t room);
  void CountsChanged(uint32_t room);
  void PushItem(uint32_t item);
  void Gather(const Effects& effects, size_t index);
  void PushEvents();
  void PushEventsOf(uint32_t room, std::vector<protocol::RoomEvent> events);
  void PushRoom(uint32_t item, const Room& room);
  void SendRoomPush(uint32_t item, protocol::RoomPush* push);
  void PushVisitor(uint32_t item, protocol::VisitorReply reply);
  void PushLast(uint32_t item, protocol::Refusal refusal);
  void SendPush(uint32_t item);
  void Remove(uint32_t item);
  void End(uint32_t watch, const protocol::Refusal& refusal);
  // True when the task is done.
  bool Run(const Task& task, size_t* steps);
  bool FreeItems(uint32_t watch, size_t* steps);
  bool EndRoom(uint32_t room, size_t* steps);

  const Engine& engine_;
  const MarkSource& marks_;
  const Limits limits_;
  Desk* desk_ = nullptr;
  WatchTable table_;

  int64_t loop_ms_ = 0;
  size_t push_budget_ = 0;
  std::deque<uint32_t> queue_;     // watchers with something to push
  std::vector<uint32_t> blocked_;  // watchers with something to push and no room for it
  int64_t unblock_ms_ = 0;
  std::deque<Task> tasks_;

  // Of watched rooms, by their numbers: what happened since events were last pushed.
  absl::flat_hash_map<uint32_t, std::vector<protocol::RoomEvent>> gathered_;
  size_t gathered_count_ = 0;
  size_t event_budget_ = 0;

  std::vector<uint32_t> due_;
  protocol::VisitorPush push_;
};

}  // namespace anteroom::net

#endif  // ANTEROOM_SERVER_NET_WATCHES_H_
