#include "tools/metrics/collector.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "protocol/limits.h"
#include "tools/metrics/limits.h"

namespace anteroom::metrics {
namespace {

// What is left of the time for one scrape.
class Budget {
 public:
  client::CallOptions call() const {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    const int64_t left_ms =
        duration_cast<milliseconds>(end_ - std::chrono::steady_clock::now()).count();
    return {.deadline_ms = std::max<int64_t>(left_ms, 1)};
  }

 private:
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(kScrapeMsMax);
};

absl::StatusOr<RoomsReading> AskRooms(client::Client& client, size_t rooms_max,
                                      const Budget& budget) {
  RoomsReading rooms;
  absl::StatusOr<protocol::StatsReply> all = client.Stats(std::nullopt, budget.call());
  if (!all.ok()) return all.status();
  rooms.all = *std::move(all);
  while (rooms.labelled.size() < rooms_max) {
    const size_t count = std::min(rooms_max - rooms.labelled.size(), protocol::kPageItemsMax);
    const std::string after = rooms.labelled.empty() ? "" : rooms.labelled.back().room;
    absl::StatusOr<protocol::RoomListReply> page =
        client.RoomList(after, static_cast<uint32_t>(count), budget.call());
    if (!page.ok()) return page.status();
    rooms.labelled.insert(rooms.labelled.end(), std::make_move_iterator(page->rooms.begin()),
                          std::make_move_iterator(page->rooms.end()));
    if (!page->more || page->rooms.empty()) break;
  }
  return rooms;
}

}  // namespace

Answered Ask(client::Client& client, size_t rooms_max) {
  const Budget budget;
  Answered answered;
  absl::StatusOr<protocol::HealthReply> health = client.Health(budget.call());
  if (!health.ok()) {
    answered.status = health.status();
    return answered;
  }
  answered.reading.health = *std::move(health);
  absl::StatusOr<RoomsReading> rooms = AskRooms(client, rooms_max, budget);
  if (rooms.ok()) {
    answered.reading.rooms = *std::move(rooms);
  } else {
    answered.status = rooms.status();
  }
  return answered;
}

Collector::Collector(const client::ClientOptions& options, size_t rooms_max, OnChange on_change)
    : client_(options), rooms_max_(rooms_max), on_change_(std::move(on_change)) {}

std::vector<prometheus::MetricFamily> Collector::Collect() const {
  const Answered answered = Ask(client_, rooms_max_);
  Tell(answered.status);
  return FamiliesOf(answered.reading);
}

void Collector::Tell(const absl::Status& status) const {
  const std::lock_guard lock(mutex_);
  if (status.code() == told_) return;
  told_ = status.code();
  on_change_(status);
}

}  // namespace anteroom::metrics
