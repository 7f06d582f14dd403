// Calls that wait for their answers, by request id, and by deadline.
//
// A request id is a place in the table and a count of how often the place was used, so an answer is
// found without a search. A call whose deadline passes after it was sent leaves its place occupied
// until its answer comes or the connection is lost: no late answer can meet another call.
//
// Deadlines lie in a hashed timing wheel (Varghese and Lauck 1987, scheme 6) of kTickMs a bucket:
// adding and removing touch two neighbours. A deadline is noticed up to kTickMs late, never early.
//
// Invariant: every place is on the free list, or it holds a call (waiting or sent), an abandoned
// call, or a reservation; a call is in exactly the bucket of its deadline, and every tick up to
// `tick_` has been gone through. Threads: the loop's.
#ifndef ANTEROOM_CLIENT_CALL_TABLE_H_
#define ANTEROOM_CLIENT_CALL_TABLE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/pending_call.h"
#include "protocol/operations.h"

namespace anteroom::client {

class CallTable {
 public:
  static constexpr int64_t kTickMs = 8;

  enum class PlaceState : uint8_t {
    kFree,
    kWaiting,  // not sent yet; holds its frame
    kSent,
    kAbandoned,  // sent, its deadline has passed; the call is gone
    kReserved,   // an id in use elsewhere: a watch
  };

  struct Place {
    std::unique_ptr<PendingCall> call;
    std::string frame;
    int64_t deadline_tick = 0;
    uint32_t next = 0;  // in its bucket, or among the free
    uint32_t previous = 0;
    uint32_t use = 0;
    protocol::Operation operation = protocol::Operation::kPing;
    PlaceState state = PlaceState::kFree;
    bool counted = false;  // against the limit of requests in flight
  };

  // A call that was taken out, and whether it had been sent.
  struct Taken {
    std::unique_ptr<PendingCall> call;
    protocol::Operation operation;
    bool sent;
  };

  CallTable();

  // Adds a call that waits to be sent; the request id. `now_ms` ≤ `deadline_ms`.
  uint32_t Add(protocol::Operation operation, std::unique_ptr<PendingCall> call, int64_t now_ms,
               int64_t deadline_ms, bool counted);
  // Null for an id that is not in use.
  Place* Find(uint32_t request_id);
  // Keeps the frame of a waiting call until it can be sent.
  void Hold(uint32_t request_id, std::string_view frame);
  void MarkSent(uint32_t request_id);

  // Takes the call out of its place, which becomes free. Null for an abandoned one.
  std::unique_ptr<PendingCall> Take(uint32_t request_id);

  uint32_t Reserve();
  void Release(uint32_t request_id);

  // Calls whose deadline has passed.
  std::vector<Taken> TakeExpired(int64_t now_ms);
  // When to look for expired calls again; -1 when none has a deadline.
  int64_t NextExpiryMs() const;

  // Everything that was sent, abandoned or reserved on a connection that is lost.
  std::vector<Taken> TakeSent();
  std::vector<Taken> TakeWaiting();

  // Sent, abandoned and waiting calls that count against the limit.
  size_t counted() const { return counted_; }
  size_t held_bytes() const { return held_bytes_; }

  void check_invariants() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kPlaceBits = 20;
  static constexpr uint32_t kUseMax = (1u << (32 - kPlaceBits)) - 1;
  static constexpr size_t kBuckets = 1024;

  uint32_t Occupy(PlaceState state);
  void Free(uint32_t place);
  void DropFrame(Place& place);
  void Link(uint32_t place);
  void Unlink(uint32_t place);
  bool HasDeadline(const Place& place) const {
    return place.state == PlaceState::kWaiting || place.state == PlaceState::kSent;
  }
  uint32_t IdOf(uint32_t place) const { return (places_[place].use << kPlaceBits) | place; }
  uint32_t* Bucket(int64_t tick) { return &buckets_[static_cast<size_t>(tick) % kBuckets]; }

  std::vector<Place> places_;
  uint32_t first_free_ = kNone;
  size_t counted_ = 0;
  size_t held_bytes_ = 0;
  size_t with_deadline_ = 0;
  int64_t tick_ = 0;
  std::array<uint32_t, kBuckets> buckets_;
};

}  // namespace anteroom::client

#endif  // ANTEROOM_CLIENT_CALL_TABLE_H_
