#include "tools/rehearse/crowd.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/failure.h"
#include "server/base/check.h"
#include "tools/rehearse/limits.h"

namespace anteroom::tools {

Crowd::Crowd(uv_loop_t* loop, client::AsyncClient* client, ArrivalSource* source, CrowdPlan plan,
             std::function<void(CrowdEnd)> ended)
    : loop_(loop),
      client_(client),
      source_(source),
      plan_(std::move(plan)),
      ended_(std::move(ended)),
      watches_(client, plan_.room, [this](const client::VisitorEvent& event) { OnEvent(event); }),
      loop_ref_(std::make_shared<client::LoopRef>(loop)),
      timer_(loop_ref_, [this] { Work(); }) {}

void Crowd::Start() {
  uv_update_time(loop_);
  started_at_ms_ = uv_now(loop_);
  next_ = source_->Next();
  if (next_) first_arrival_ms_ = next_->at_ms;
  WorkSoon();
}

int64_t Crowd::elapsed_ms() const {
  return static_cast<int64_t>(uv_now(loop_) - started_at_ms_);
}

uint64_t Crowd::waiting() const {
  return staged_[static_cast<size_t>(Stage::kWaiting)];
}

uint64_t Crowd::inside() const {
  return staged_[static_cast<size_t>(Stage::kClaiming)] +
         staged_[static_cast<size_t>(Stage::kActive)] +
         staged_[static_cast<size_t>(Stage::kFinishing)];
}

// Everything that is due by now, then sleep until the next thing is.
void Crowd::Work() {
  if (over_) return;
  uv_update_time(loop_);
  if (going_home_) {
    SendSomeHome();
  } else {
    SendArrivals();
    while (!agenda_.empty() && agenda_.begin()->first <= elapsed_ms()) {
      Visitor* const visitor = agenda_.begin()->second;
      agenda_.erase(agenda_.begin());
      visitor->due.reset();
      Act(visitor);
    }
    WatchMore();
  }
  if (!next_ && visitors_.empty()) return End(going_home_.value_or(CrowdEnd::kDone));
  if (going_home_ && elapsed_ms() >= home_by_ms_) return End(*going_home_);
  if (const auto give_up_at_ms = GiveUpAt(); give_up_at_ms && elapsed_ms() >= *give_up_at_ms) {
    return GoHome(CrowdEnd::kGaveUp);
  }
  ScheduleNext();
}

void Crowd::WorkSoon() {
  if (!over_) timer_.Start(0);
}

void Crowd::ScheduleNext() {
  // What waits for the daemon calls WorkSoon when its answer comes.
  std::optional<int64_t> at_ms = GiveUpAt();
  const auto consider = [&](int64_t other_ms) {
    at_ms = std::min(at_ms.value_or(other_ms), other_ms);
  };
  if (going_home_) consider(home_by_ms_);
  if (next_ && MayArrive()) consider(DueMs(*next_));
  if (!agenda_.empty() && !going_home_) consider(agenda_.begin()->first);
  // Not 0: a timer that starts itself anew for at once is called again before the loop goes on.
  if (at_ms) timer_.Start(std::max<int64_t>(1, *at_ms - elapsed_ms()));
}

int64_t Crowd::DueMs(const Arrival& arrival) const {
  const auto since_first_ms = static_cast<double>(arrival.at_ms - first_arrival_ms_);
  return static_cast<int64_t>(std::min(since_first_ms / plan_.speed, 1e15));
}

bool Crowd::MayArrive() const {
  return joins_in_flight_ < kJoinsInFlightMax && visitors_.size() < kPresentMax;
}

void Crowd::SendArrivals() {
  std::vector<Visitor*> batch;
  while (next_ && MayArrive() && DueMs(*next_) <= elapsed_ms()) {
    counts_.lag_ms_max = std::max(counts_.lag_ms_max, elapsed_ms() - DueMs(*next_));
    std::string id = VisitorIdOf(*next_);
    const auto [entry, is_new] = visitors_.try_emplace(id);
    CHECK(is_new);
    entry->second.id = std::move(id);
    ++staged_[static_cast<size_t>(Stage::kJoining)];
    ++joins_in_flight_;
    batch.push_back(&entry->second);
    if (batch.size() == kJoinBatchMax) SendJoins(std::exchange(batch, {}));
    next_ = source_->Next();
  }
  if (!batch.empty()) SendJoins(std::move(batch));
}

void Crowd::SendJoins(std::vector<Visitor*> batch) {
  std::vector<protocol::JoinRequest> items;
  items.reserve(batch.size());
  for (const Visitor* const visitor : batch)
    items.push_back({plan_.room, visitor->id, std::nullopt});
  counts_.arrived += batch.size();
  moved_at_ms_ = elapsed_ms();
  client_->JoinMany(std::move(items), [this, batch = std::move(batch)](
                                          const absl::StatusOr<protocol::VisitorResults>& results) {
    OnJoined(batch, results);
  });
}

void Crowd::OnJoined(const std::vector<Visitor*>& batch,
                     const absl::StatusOr<protocol::VisitorResults>& results) {
  if (over_) return;
  if (!results.ok()) return Break(results.status());
  if (results->items.size() != batch.size()) {
    return Break(absl::DataLossError("the daemon answered a batch with another number of results"));
  }
  joins_in_flight_ -= batch.size();
  for (size_t i = 0; i < batch.size(); ++i) {
    const protocol::VisitorResult& result = results->items[i];
    if (result.refusal) {
      ++counts_.refused[result.refusal->error];
      Remove(batch[i]);
      continue;
    }
    ++counts_.joined;
    unwatched_.push_back(batch[i]->id);
    Hear(batch[i], *result.reply);
  }
  if (going_home_) {
    for (std::string& id : unwatched_) to_send_home_.push_back(std::move(id));
    unwatched_.clear();
  }
  WorkSoon();
}

void Crowd::WatchMore() {
  const size_t places = kWatchedMax - std::min(kWatchedMax, watches_.watched());
  if (unwatched_.empty() || places < std::min(unwatched_.size(), kWatchRefillMin)) return;
  std::vector<Visitor*> visitors;
  while (!unwatched_.empty() && visitors.size() < places) {
    if (Visitor* const visitor = Find(unwatched_.front())) visitors.push_back(visitor);
    unwatched_.pop_front();
  }
  watches_.Add(visitors);
}

// Nobody comes any more, nobody is in session: all that is left is waiting for the daemon.
std::optional<int64_t> Crowd::GiveUpAt() const {
  if (next_ || going_home_ || visitors_.empty()) return std::nullopt;
  if (staged_[static_cast<size_t>(Stage::kActive)] > 0) return std::nullopt;
  return moved_at_ms_ + plan_.give_up_ms;
}

void Crowd::GoHome(CrowdEnd why) {
  if (over_ || going_home_) return;
  going_home_ = why;
  home_by_ms_ = elapsed_ms() + kGoingHomeMsMax;
  next_.reset();
  unwatched_.clear();
  for (const auto& [id, visitor] : visitors_) {
    if (visitor.stage != Stage::kJoining) to_send_home_.push_back(id);
  }
  WorkSoon();
}

void Crowd::SendSomeHome() {
  while (!to_send_home_.empty() && client_->requests_in_flight() < kGoingHomeInFlightMax) {
    Visitor* const visitor = Find(to_send_home_.front());
    to_send_home_.pop_front();
    if (visitor != nullptr) SendHome(visitor);
  }
}

void Crowd::End(CrowdEnd why) {
  if (over_) return;
  over_ = true;
  timer_.Stop();
  ended_(why);
}

void Crowd::Break(const absl::Status& status) {
  if (over_) return;
  broken_ = status;
  End(CrowdEnd::kBroken);
}

void Crowd::check_invariants() const {
  std::array<uint64_t, kStages> staged{};
  size_t due = 0;
  for (const auto& [id, visitor] : visitors_) {
    CHECK_EQ(id, visitor.id);
    ++staged[static_cast<size_t>(visitor.stage)];
    if (visitor.due) {
      ++due;
      CHECK((*visitor.due)->second == &visitor);
    }
    CHECK(visitor.admission == Visitor::kNone || visitor.admission < admissions_.size());
  }
  for (size_t i = 0; i < kStages; ++i) CHECK_EQ(staged[i], staged_[i]);
  CHECK_EQ(due, agenda_.size());
  watches_.check_invariants();
}

}  // namespace anteroom::tools
