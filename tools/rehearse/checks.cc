#include "tools/rehearse/checks.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "tools/rehearse/limits.h"

namespace anteroom::tools {
namespace {

// Pointers to the admissions in the order of `key`.
template <typename Key>
std::vector<const Admission*> SortedBy(std::span<const Admission> admissions, Key key) {
  std::vector<const Admission*> sorted;
  sorted.reserve(admissions.size());
  for (const Admission& admission : admissions) sorted.push_back(&admission);
  std::sort(sorted.begin(), sorted.end(),
            [&](const Admission* a, const Admission* b) { return key(*a) < key(*b); });
  return sorted;
}

}  // namespace

void Violations::Add(std::string text) {
  ++count_;
  if (told_.size() < kViolationsTold) told_.push_back(std::move(text));
}

void CheckNumbers(std::span<const Admission> admissions, Violations* violations) {
  const auto sorted = SortedBy(admissions, [](const Admission& a) { return a.number; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->number != sorted[i - 1]->number) continue;
    violations->Add(absl::StrCat("admission ", sorted[i]->number, " was given twice, to arrivals ",
                                 sorted[i - 1]->arrival, " and ", sorted[i]->arrival));
  }
}

void CheckOrder(std::span<const Admission> admissions, Violations* violations) {
  std::array<const Admission*, 256> latest_of_lane{};
  for (const Admission* admission :
       SortedBy(admissions, [](const Admission& a) { return a.number; })) {
    const Admission*& latest = latest_of_lane[admission->lane];
    if (latest != nullptr && admission->arrival <= latest->arrival) {
      violations->Add(absl::StrCat("out of order in lane ", admission->lane, ": arrival ",
                                   latest->arrival, " was admission ", latest->number,
                                   ", before arrival ", admission->arrival, ", admission ",
                                   admission->number));
      continue;
    }
    latest = admission;
  }
}

void CheckRate(std::span<const Admission> admissions, const protocol::Rate& rate,
               int64_t admit_interval_ms, Violations* violations) {
  if (rate.none()) return;
  // A token is worth per_ms: then each millisecond adds `count`.
  const absl::int128 token = rate.per_ms;
  const absl::int128 depth = std::max(token, absl::int128(rate.count) * admit_interval_ms);
  const absl::int128 full = 2 * depth;
  absl::int128 level = full;
  uint64_t level_at_ms = 0;
  uint64_t window_starts_at_ms = 0;  // when the bucket was last full
  uint64_t in_window = 0;
  for (const Admission* admission : SortedBy(
           admissions, [](const Admission& a) { return std::pair(a.admitted_at_ms, a.number); })) {
    const uint64_t now_ms = admission->admitted_at_ms;
    level += absl::int128(rate.count) * (now_ms - level_at_ms);
    level_at_ms = now_ms;
    if (level >= full) {
      level = full;
      window_starts_at_ms = now_ms;
      in_window = 0;
    }
    ++in_window;
    if (level >= token) {
      level -= token;
      continue;
    }
    violations->Add(absl::StrCat("faster than ", protocol::FormatRate(rate), ": admission ",
                                 admission->number, " at ", now_ms, " ms was number ", in_window,
                                 " within ", now_ms - window_starts_at_ms, " ms"));
  }
}

void CheckCapacity(std::span<const Admission> admissions, const protocol::Limit& capacity,
                   Violations* violations) {
  if (capacity.none()) return;
  struct Change {
    uint64_t at_ms;
    int64_t slots;  // -1 sorts before +1
    const Admission* admission;
  };
  std::vector<Change> changes;
  changes.reserve(2 * admissions.size());
  for (const Admission& admission : admissions) {
    if (admission.ended_at_ms == Admission::kUnknown) continue;
    changes.push_back({admission.admitted_at_ms, +1, &admission});
    if (admission.ended_at_ms != Admission::kInside) {
      changes.push_back({admission.ended_at_ms, -1, &admission});
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tuple(a.at_ms, a.slots, a.admission->number) <
           std::tuple(b.at_ms, b.slots, b.admission->number);
  });
  int64_t inside = 0;
  bool over = false;
  for (const Change& change : changes) {
    inside += change.slots;
    const bool over_now = inside > 0 && static_cast<uint64_t>(inside) > capacity.value;
    if (over_now && !over) {
      violations->Add(absl::StrCat("over capacity: ", inside, " inside at ", change.at_ms,
                                   " ms with admission ", change.admission->number, ", capacity ",
                                   capacity.value));
    }
    over = over_now;
  }
}

}  // namespace anteroom::tools
