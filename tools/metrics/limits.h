// Bounds of what one scrape asks and gives.
#ifndef ANTEROOM_TOOLS_METRICS_LIMITS_H_
#define ANTEROOM_TOOLS_METRICS_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace anteroom::metrics {

// Rooms with series of their own, some twenty each: unless said, and the most that can be said.
inline constexpr size_t kRoomsDefault = 1000;
inline constexpr size_t kRoomsMax = 100'000;

// What a scrape takes at most. Prometheus gives up after ten seconds unless it is told otherwise.
inline constexpr int64_t kScrapeMsMax = 8000;

// The longest pause before a daemon that was away is tried again, so that it is up in the scrape
// after its return.
inline constexpr int64_t kReconnectMsMax = 1000;

// Scrapes served at a time; each takes one thread for as long as its peer takes to read.
inline constexpr size_t kScrapesAtATimeMax = 4;
// Whoever has not asked by then, or does not read, is closed.
inline constexpr int64_t kScraperSilentMsMax = 10'000;

}  // namespace anteroom::metrics

#endif  // ANTEROOM_TOOLS_METRICS_LIMITS_H_
