// The whole engine with a million and with ten million people waiting in one room: ids of 16 bytes
// in random order, waiting_ttl on, one core, CPU time, medians of five. Each operation is what the
// daemon does for a request between its bytes and its reply's bytes: decision, record, Apply, soft
// deadlines, the reply as a value.
//
// The last line is one line of JSON:
//   join_ns_N             a newcomer takes a place
//   position_ns_N         a status, asked alone
//   position_batch_ns_N   a status, sixteen prefetched together
//   admit_ns_N            one of 256 let in by a raised capacity
//   token_ns              the token of an admission
//   bytes_per_waiter      resident memory a person waiting, all structures counted, at a million
//   growth_step_us_max    longest CPU time of one join while growing to ten million, best of three
//
// ANTEROOM_BENCH_TINY=1 makes everything a hundred times smaller: whether it runs, not how fast.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bench/engine_crowd.h"

namespace anteroom::bench {
namespace {

constexpr int kBatch = 16;
constexpr uint64_t kAdmitted = 256;
constexpr int kRepetitions = 5;

bool Tiny() {
  const char* tiny = std::getenv("ANTEROOM_BENCH_TINY");
  return tiny != nullptr && std::string(tiny) == "1";
}
uint64_t Scale() {
  return Tiny() ? 100 : 1;
}

std::unique_ptr<EngineCrowd> crowd;

// The people asked about, spread over the line without a pattern.
std::vector<Id> PickPeople(size_t count) {
  std::vector<Id> picked;
  picked.reserve(count);
  const uint64_t waiting = crowd->next() - crowd->first();
  for (size_t i = 0; i < count; ++i) {
    picked.push_back(IdOf(crowd->first() + i * 2'654'435'761 % waiting));
  }
  return picked;
}

void BM_Join(benchmark::State& state) {
  uint64_t number = uint64_t{1} << 40;
  const uint64_t first = number;
  for (auto _ : state) crowd->Join(number++);
  for (uint64_t joined = first; joined < number; ++joined) crowd->Leave(joined);
}

void BM_Position(benchmark::State& state) {
  const std::vector<Id> people = PickPeople(static_cast<size_t>(state.max_iterations));
  size_t next = 0;
  for (auto _ : state) {
    const auto answer =
        crowd->desk().Handle(protocol::StatusOperation{{kRoom, ViewOf(people[next++])}});
    benchmark::DoNotOptimize(std::get<protocol::VisitorReply>(answer).ahead);
  }
}

void BM_PositionBatch(benchmark::State& state) {
  const std::vector<Id> people = PickPeople(static_cast<size_t>(state.max_iterations) * kBatch);
  std::vector<protocol::Request> requests(kBatch);
  size_t next = 0;
  for (auto _ : state) {
    for (protocol::Request& request : requests) {
      request.emplace<protocol::StatusOperation>().message = {kRoom, ViewOf(people[next++])};
    }
    crowd->desk().Prefetch(requests);
    for (const protocol::Request& request : requests) {
      const auto answer = crowd->desk().Handle(std::get<protocol::StatusOperation>(request));
      benchmark::DoNotOptimize(std::get<protocol::VisitorReply>(answer).ahead);
    }
  }
}

void BM_Admit(benchmark::State& state) {
  const uint64_t people = crowd->waiting();
  for (auto _ : state) crowd->Admit(kAdmitted);
  crowd->Empty();
  crowd->GrowTo(people, false);
}

void BM_Token(benchmark::State& state) {
  const std::vector<Id> people = PickPeople(1024);
  uint64_t admission = 0;
  for (auto _ : state) {
    ++admission;
    benchmark::DoNotOptimize(
        crowd->tokens().Make(kFirstTokenKey, admission, kRoom, ViewOf(people[admission % 1024])));
  }
}

// Shows everything as the console does, and keeps the medians.
class MedianReporter : public benchmark::ConsoleReporter {
 public:
  MedianReporter() : ConsoleReporter(OO_None) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.aggregate_name == "median")
        medians_[run.run_name.function_name] = run.GetAdjustedCPUTime();
    }
    ConsoleReporter::ReportRuns(runs);
  }
  double MedianOf(const std::string& name) const { return medians_.at(name); }

 private:
  std::map<std::string, double> medians_;
};

void Register(const std::string& name, void (*function)(benchmark::State&), int64_t iterations) {
  benchmark::RegisterBenchmark(name.c_str(), function)
      ->Iterations(std::max<int64_t>(1, iterations / static_cast<int64_t>(Scale())))
      ->Repetitions(kRepetitions)
      ->ReportAggregatesOnly(true);
}

void Measure(const std::string& size, std::string* json) {
  benchmark::ClearRegisteredBenchmarks();
  Register("join_" + size, BM_Join, 50'000);
  Register("position_" + size, BM_Position, 200'000);
  Register("position_batch_" + size, BM_PositionBatch, 20'000);
  Register("admit_" + size, BM_Admit, 100);
  Register("token_" + size, BM_Token, 200'000);
  MedianReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const auto add = [&](const std::string& key, double ns) {
    char text[96];
    std::snprintf(text, sizeof text, "%s\"%s\":%.1f", json->empty() ? "" : ",", key.c_str(), ns);
    *json += text;
  };
  add("join_ns_" + size, reporter.MedianOf("join_" + size));
  add("position_ns_" + size, reporter.MedianOf("position_" + size));
  add("position_batch_ns_" + size, reporter.MedianOf("position_batch_" + size) / kBatch);
  add("admit_ns_" + size, reporter.MedianOf("admit_" + size) / kAdmitted);
  // The secret and the hash do not grow with the crowd; the smaller one's is as good.
  if (size == "1m") add("token_ns", reporter.MedianOf("token_" + size));
}

int Main() {
  const uint64_t million = 1'000'000 / Scale();
  double growth_ns = 0;
  std::string json;
  double bytes_per_waiter = 0;
  for (int run = 0; run < 3; ++run) {
    crowd.reset();
    const size_t resident_before = ResidentBytes();
    crowd = std::make_unique<EngineCrowd>();
    double longest_ns = crowd->GrowTo(million, true);
    if (run == 0) {
      bytes_per_waiter =
          static_cast<double>(ResidentBytes() - resident_before) / static_cast<double>(million);
      Measure("1m", &json);
    }
    longest_ns = std::max(longest_ns, crowd->GrowTo(10 * million, true));
    growth_ns = run == 0 ? longest_ns : std::min(growth_ns, longest_ns);
    if (run == 0) Measure("10m", &json);
  }
  std::printf("{%s,\"bytes_per_waiter\":%.1f,\"growth_step_us_max\":%.1f}\n", json.c_str(),
              bytes_per_waiter, growth_ns / 1000);
  return 0;
}

}  // namespace
}  // namespace anteroom::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  return anteroom::bench::Main();
}
