// Who watches whom, and what is pushed: as server/net/watches.h does, but at once, without cadence,
// budget or back-pressure, and with plain containers.
//
// The desk tells of effects in the midst of a record, when nothing may be asked of it: then only
// the end of somebody is pushed, whose memory is good until the next record, and all else is noted
// for the next PushStates or PushAll. So are a room's events, which go out before counts that
// include them.
//
// Invariants: a watch lives as long as it has items; what is over is in no watch.
// Threads: none; one owner.
#ifndef ANTEROOM_CLIENT_TESTING_INTERNAL_WATCH_BOOK_H_
#define ANTEROOM_CLIENT_TESTING_INTERNAL_WATCH_BOOK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/testing/internal/outputs.h"
#include "protocol/messages.h"
#include "server/engine/desk.h"
#include "server/engine/engine.h"

namespace anteroom::testing {

class WatchBook final : public DeskObserver {
 public:
  // Both outlive it.
  WatchBook(const Engine* engine, Outputs* outputs) : engine_(*engine), outputs_(*outputs) {}

  // What it asks. Before anything else is called.
  void Attach(Desk* desk) { desk_ = desk; }

  // ---- requests; nothing when done. The first pushes come with the next PushAll ----

  std::optional<protocol::Refusal> Watch(uint64_t connection, uint32_t request_id,
                                         const protocol::WatchRequest& request);
  std::optional<protocol::Refusal> WatchRoom(uint64_t connection, uint32_t request_id,
                                             const protocol::RoomRequest& request);
  std::optional<protocol::Refusal> Unwatch(uint64_t connection, uint32_t watch_id);
  // Its watches end without a word.
  void OnGone(uint64_t connection);

  // ---- the desk tells ----

  void OnEffects(const Effects& effects) override;
  bool IsWatched(uint32_t room, uint32_t visitor) const override;

  // ---- between records ----

  // Changes of state, events, and rooms that are gone.
  void PushStates();
  // The same, and positions and counts.
  void PushAll();

  // Visitors and rooms watched.
  size_t count() const { return items_.size(); }

  void check_invariants() const;

 private:
  using WatchKey = std::pair<uint64_t, uint32_t>;   // connection, request id
  using Target = std::pair<uint32_t, std::string>;  // room, visitor; no visitor: the room itself

  // What was last said of a visitor, as far as a change of it is news.
  struct Told {
    protocol::State state{};
    std::optional<protocol::Mode> mode;
    std::optional<protocol::Reason> reason;
    std::optional<uint64_t> ahead;
    std::optional<uint64_t> at_ms;
    bool operator==(const Told&) const = default;
  };
  struct Item {
    WatchKey watch;
    bool over = false;         // its last push is out
    std::optional<Told> told;  // of a room: whether it was told anything
  };
  using Items = std::multimap<Target, Item>;

  struct OneWatch {
    protocol::Operation operation{};
    std::vector<Items::iterator> items;
  };

  std::optional<protocol::Refusal> CheckNew(WatchKey key, size_t count) const;
  void Add(WatchKey key, protocol::Operation operation, std::string_view room,
           const std::vector<std::string_view>& visitors);
  void EraseWatch(std::map<WatchKey, OneWatch>::iterator watch);
  void Push(Items::iterator item);
  void PushVisitor(Items::iterator item, const Room& room);
  void PushRoom(Items::iterator item, const Room& room);
  void PushEvents(uint32_t room);
  void SendRoomPush(Items::iterator item, const protocol::RoomPush& push);
  void Tell(Items::iterator item, protocol::VisitorReply reply);
  void TellLast(Items::iterator item, protocol::Refusal refusal);
  void Send(Items::iterator item, const protocol::VisitorPush& push);
  void End(WatchKey key, const protocol::Refusal& refusal);
  void EndRooms();
  void RemoveOver();

  const Engine& engine_;
  Outputs& outputs_;
  Desk* desk_ = nullptr;

  std::map<WatchKey, OneWatch> watches_;
  Items items_;

  std::set<WatchKey> begun_;          // nothing is told of them yet
  std::set<Target> changed_;          // somebody's state began
  std::set<uint32_t> changed_rooms_;  // anything there may be another
  std::set<uint32_t> gone_rooms_;
  std::map<uint32_t, std::vector<protocol::RoomEvent>> events_;  // of rooms watched, to be pushed
  std::set<WatchKey> with_over_;                                 // have items that are over
};

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_INTERNAL_WATCH_BOOK_H_
