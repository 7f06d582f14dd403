#include "client/call_table.h"

#include <algorithm>
#include <utility>

#include "client/check.h"
#include "client/link.h"

namespace anteroom::client {

CallTable::CallTable() {
  static_assert(kFirstRequestId == 1u << kPlaceBits, "ids of use 0 belong to the link");
  buckets_.fill(kNone);
}

uint32_t CallTable::Occupy(PlaceState state) {
  uint32_t place = first_free_;
  if (place != kNone) {
    first_free_ = places_[place].next;
  } else {
    place = static_cast<uint32_t>(places_.size());
    CLIENT_CHECK(place < (1u << kPlaceBits));
    places_.emplace_back();
  }
  Place& occupied = places_[place];
  occupied.use = occupied.use == kUseMax ? 1 : occupied.use + 1;
  occupied.state = state;
  return place;
}

void CallTable::Free(uint32_t place) {
  Place& freed = places_[place];
  if (HasDeadline(freed)) Unlink(place);
  if (freed.counted) --counted_;
  freed.counted = false;
  freed.state = PlaceState::kFree;
  DropFrame(freed);
  freed.next = first_free_;
  first_free_ = place;
}

void CallTable::DropFrame(Place& place) {
  if (place.frame.empty()) return;
  held_bytes_ -= place.frame.size();
  std::string().swap(place.frame);
}

void CallTable::Hold(uint32_t request_id, std::string_view frame) {
  Place* const place = Find(request_id);
  CLIENT_CHECK(place != nullptr && place->state == PlaceState::kWaiting && place->frame.empty());
  place->frame = frame;
  held_bytes_ += frame.size();
}

void CallTable::MarkSent(uint32_t request_id) {
  Place* const place = Find(request_id);
  CLIENT_CHECK(place != nullptr && place->state == PlaceState::kWaiting);
  DropFrame(*place);
  place->state = PlaceState::kSent;
}

void CallTable::Link(uint32_t place) {
  uint32_t* const head = Bucket(places_[place].deadline_tick);
  places_[place].previous = kNone;
  places_[place].next = *head;
  if (*head != kNone) places_[*head].previous = place;
  *head = place;
  ++with_deadline_;
}

void CallTable::Unlink(uint32_t place) {
  Place& unlinked = places_[place];
  if (unlinked.previous == kNone) {
    *Bucket(unlinked.deadline_tick) = unlinked.next;
  } else {
    places_[unlinked.previous].next = unlinked.next;
  }
  if (unlinked.next != kNone) places_[unlinked.next].previous = unlinked.previous;
  --with_deadline_;
}

uint32_t CallTable::Add(protocol::Operation operation, std::unique_ptr<PendingCall> call,
                        int64_t now_ms, int64_t deadline_ms, bool counted) {
  // An empty wheel has no time to catch up with.
  if (with_deadline_ == 0) tick_ = now_ms / kTickMs;
  const uint32_t place = Occupy(PlaceState::kWaiting);
  Place& added = places_[place];
  added.call = std::move(call);
  added.operation = operation;
  added.counted = counted;
  if (counted) ++counted_;
  // Rounded up, so that nothing expires early; after the present tick, which has been gone through.
  added.deadline_tick = std::max(tick_ + 1, (deadline_ms + kTickMs - 1) / kTickMs);
  Link(place);
  return IdOf(place);
}

CallTable::Place* CallTable::Find(uint32_t request_id) {
  const uint32_t place = request_id & ((1u << kPlaceBits) - 1);
  if (place >= places_.size()) return nullptr;
  Place& found = places_[place];
  if (found.state == PlaceState::kFree || found.use != request_id >> kPlaceBits) return nullptr;
  return &found;
}

std::unique_ptr<PendingCall> CallTable::Take(uint32_t request_id) {
  Place* const place = Find(request_id);
  CLIENT_CHECK(place != nullptr);
  std::unique_ptr<PendingCall> call = std::move(place->call);
  Free(request_id & ((1u << kPlaceBits) - 1));
  return call;
}

uint32_t CallTable::Reserve() {
  return IdOf(Occupy(PlaceState::kReserved));
}

void CallTable::Release(uint32_t request_id) {
  const Place* const place = Find(request_id);
  CLIENT_CHECK(place != nullptr && place->state == PlaceState::kReserved);
  Free(request_id & ((1u << kPlaceBits) - 1));
}

std::vector<CallTable::Taken> CallTable::TakeExpired(int64_t now_ms) {
  std::vector<Taken> expired;
  const int64_t now_tick = now_ms / kTickMs;
  // One round over the buckets finds everything, however long nobody looked.
  const int64_t last = std::min(now_tick, tick_ + static_cast<int64_t>(kBuckets));
  for (int64_t tick = tick_ + 1; tick <= last && with_deadline_ > 0; ++tick) {
    uint32_t place = *Bucket(tick);
    while (place != kNone) {
      Place& one = places_[place];
      const uint32_t next = one.next;
      if (one.deadline_tick <= now_tick) {
        const bool sent = one.state == PlaceState::kSent;
        expired.push_back({std::move(one.call), one.operation, sent});
        if (sent) {
          Unlink(place);
          one.state = PlaceState::kAbandoned;
        } else {
          Free(place);
        }
      }
      place = next;
    }
  }
  tick_ = std::max(tick_, now_tick);
  return expired;
}

int64_t CallTable::NextExpiryMs() const {
  if (with_deadline_ == 0) return -1;
  for (size_t ahead = 1; ahead <= kBuckets; ++ahead) {
    const int64_t tick = tick_ + static_cast<int64_t>(ahead);
    if (buckets_[static_cast<size_t>(tick) % kBuckets] != kNone) return tick * kTickMs;
  }
  CLIENT_CHECK(false);
  return -1;
}

std::vector<CallTable::Taken> CallTable::TakeSent() {
  std::vector<Taken> taken;
  for (uint32_t place = 0; place < places_.size(); ++place) {
    Place& one = places_[place];
    if (one.state == PlaceState::kFree || one.state == PlaceState::kWaiting) continue;
    if (one.state == PlaceState::kSent) {
      taken.push_back({std::move(one.call), one.operation, true});
    }
    Free(place);
  }
  return taken;
}

std::vector<CallTable::Taken> CallTable::TakeWaiting() {
  std::vector<Taken> taken;
  for (uint32_t place = 0; place < places_.size(); ++place) {
    Place& one = places_[place];
    if (one.state != PlaceState::kWaiting) continue;
    taken.push_back({std::move(one.call), one.operation, false});
    Free(place);
  }
  return taken;
}

void CallTable::check_invariants() const {
  std::vector<bool> seen(places_.size());
  for (uint32_t place = first_free_; place != kNone; place = places_[place].next) {
    CLIENT_CHECK(!seen[place]);
    seen[place] = true;
    CLIENT_CHECK(places_[place].state == PlaceState::kFree);
    CLIENT_CHECK(places_[place].call == nullptr && !places_[place].counted);
  }
  size_t with_deadline = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    uint32_t previous = kNone;
    for (uint32_t place = buckets_[bucket]; place != kNone; place = places_[place].next) {
      CLIENT_CHECK(!seen[place]);
      seen[place] = true;
      ++with_deadline;
      CLIENT_CHECK(HasDeadline(places_[place]) && places_[place].call != nullptr);
      CLIENT_CHECK(static_cast<size_t>(places_[place].deadline_tick) % kBuckets == bucket);
      CLIENT_CHECK(places_[place].deadline_tick > tick_);
      CLIENT_CHECK(places_[place].previous == previous);
      previous = place;
    }
  }
  CLIENT_CHECK(with_deadline == with_deadline_);
  size_t counted = 0;
  size_t held_bytes = 0;
  for (uint32_t place = 0; place < places_.size(); ++place) {
    counted += places_[place].counted;
    held_bytes += places_[place].frame.size();
    CLIENT_CHECK(places_[place].frame.empty() || places_[place].state == PlaceState::kWaiting);
    if (seen[place]) continue;
    CLIENT_CHECK(places_[place].state == PlaceState::kAbandoned ||
                 places_[place].state == PlaceState::kReserved);
    CLIENT_CHECK(places_[place].call == nullptr);
  }
  CLIENT_CHECK(counted == counted_);
  CLIENT_CHECK(held_bytes == held_bytes_);
}

}  // namespace anteroom::client
