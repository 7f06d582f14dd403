#include "bench/loadgen/comparison.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bench/loadgen/anteroom_side.h"
#include "bench/loadgen/contestant.h"
#include "bench/loadgen/redis_side.h"

namespace anteroom::loadgen {
namespace {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Four significant digits.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

// One server with what speaks to it. Made in place: the contestant points into it.
struct Entry {
  std::unique_ptr<Side> side;
  std::unique_ptr<Contestant> contestant;
  // The rate of each load in the last round.
  std::map<std::string, double> rates;

  bool present() const { return contestant != nullptr; }
};

// Invariant: series_ has a value a round under every name it has.
class Comparison {
 public:
  explicit Comparison(const Plan& plan) : plan_(plan) {}

  absl::Status Open() {
    if (plan_.redis) {
      redis_.side = std::make_unique<RedisSide>(plan_.redis->address);
      if (absl::Status status = Open(*plan_.redis, &redis_); !status.ok()) return status;
    }
    if (plan_.anteroom) {
      anteroom_.side = std::make_unique<AnteroomSide>("anteroom", plan_.anteroom->address);
      if (absl::Status status = Open(*plan_.anteroom, &anteroom_); !status.ok()) return status;
    }
    if (plan_.anteroom_commit) {
      auto side = std::make_unique<AnteroomSide>("anteroom commit", plan_.anteroom_commit->address);
      commit_side_ = side.get();
      commit_.side = std::move(side);
      if (absl::Status status = Open(*plan_.anteroom_commit, &commit_); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Preload() {
    for (Entry* entry : {&redis_, &anteroom_, &commit_}) {
      if (absl::Status status = Do("bytes_per_waiter", &Contestant::Preload, entry); !status.ok()) {
        return status;
      }
    }
    Note("memory_ratio", Ratio("bytes_per_waiter"));
    NoteRates("bytes_per_waiter", "bytes_per_waiter");
    return absl::OkStatus();
  }

  // As many leave the line as came, so that every round finds the same number waiting.
  absl::Status Round() {
    for (Entry* entry : {&redis_, &anteroom_, &commit_}) {
      if (absl::Status status = Do("join", &Contestant::Join, entry); !status.ok()) return status;
    }
    if (absl::Status status = NoteCommit(); !status.ok()) return status;
    for (Entry* entry : {&redis_, &anteroom_}) {
      if (absl::Status status = Do("position", &Contestant::AskPositions, entry); !status.ok()) {
        return status;
      }
    }
    for (Entry* entry : {&redis_, &anteroom_, &commit_}) {
      if (absl::Status status = Do("admit", &Contestant::Admit, entry); !status.ok()) return status;
    }
    for (const char* load : {"join", "position", "admit"}) {
      Note(std::string(load) + "_ratio", Ratio(load));
      NoteRates(load, std::string(load) + "_per_s");
    }
    return absl::OkStatus();
  }

  nlohmann::ordered_json Result(uint32_t rounds) const {
    nlohmann::ordered_json result;
    for (const char* name :
         {"join_ratio", "position_ratio", "admit_ratio", "memory_ratio", "commit_share"}) {
      if (series_.contains(name)) result[name] = Rounded(Median(series_.at(name)));
    }
    for (const auto& [name, values] : series_) {
      if (!result.contains(name)) result[name] = Rounded(Median(values));
    }
    result["people"] = plan_.people;
    result["connections"] = plan_.connections;
    result["depth"] = plan_.depth;
    result["rounds"] = rounds;
    return result;
  }

 private:
  absl::Status Open(const Server& server, Entry* entry) {
    auto contestant = Contestant::Open(entry->side.get(), server, plan_);
    if (!contestant.ok()) return contestant.status();
    entry->contestant = *std::move(contestant);
    return absl::OkStatus();
  }

  absl::Status Do(const std::string& load, absl::StatusOr<double> (Contestant::*method)(),
                  Entry* entry) {
    if (!entry->present()) return absl::OkStatus();
    const absl::StatusOr<double> rate = (entry->contestant.get()->*method)();
    if (!rate.ok()) return rate.status();
    entry->rates[load] = *rate;
    return absl::OkStatus();
  }

  // Ours over Redis's; 0 when one of them is not there.
  double Ratio(const std::string& load) {
    const double redis = redis_.rates[load];
    return redis > 0 ? anteroom_.rates[load] / redis : 0;
  }

  void Note(const std::string& name, double value) {
    if (value > 0) series_[name].push_back(value);
  }

  void NoteRates(const std::string& load, const std::string& name) {
    Note(name, anteroom_.rates[load]);
    Note("redis_" + name, redis_.rates[load]);
  }

  // A request that waits for the disk waits, on the whole, for the sync that is under way and for
  // its own. So at most in flight / (2 x sync time) can be answered, and no more than without it.
  absl::Status NoteCommit() {
    if (!commit_.present()) return absl::OkStatus();
    const auto health = commit_side_->Health();
    if (!health.ok()) return health.status();
    if (health->durability != "commit") {
      return absl::InvalidArgumentError("the daemon with durability commit has another");
    }
    if (!health->sync_p50_us || *health->sync_p50_us == 0) return absl::OkStatus();
    const double sync_us = static_cast<double>(*health->sync_p50_us);
    const double by_disk =
        static_cast<double>(plan_.connections * plan_.depth) / (2 * sync_us / 1e6);
    const double without = anteroom_.rates["join"];
    const double bound = without > 0 ? std::min(without, by_disk) : by_disk;
    Note("sync_p50_us", sync_us);
    Note("commit_join_per_s", commit_.rates["join"]);
    Note("commit_bound_per_s", bound);
    Note("commit_share", commit_.rates["join"] / bound);
    std::fprintf(stderr, "  a sync takes %.0f us, which allows %.0f joins/s\n", sync_us, by_disk);
    return absl::OkStatus();
  }

  const Plan& plan_;
  Entry redis_;
  Entry anteroom_;
  Entry commit_;
  AnteroomSide* commit_side_ = nullptr;
  std::map<std::string, std::vector<double>> series_;
};

}  // namespace

absl::StatusOr<nlohmann::ordered_json> Compare(const Plan& plan) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Comparison comparison(plan);
  if (absl::Status status = comparison.Open(); !status.ok()) return status;
  std::fprintf(stderr, "%llu people get in line\n", static_cast<unsigned long long>(plan.people));
  if (absl::Status status = comparison.Preload(); !status.ok()) return status;
  uint32_t round = 0;
  while (round < plan.rounds) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (round >= kRoundsMin && seconds > plan.seconds_max) break;
    std::fprintf(stderr, "round %u of %u\n", ++round, plan.rounds);
    if (absl::Status status = comparison.Round(); !status.ok()) return status;
  }
  return comparison.Result(round);
}

}  // namespace anteroom::loadgen
