// loadgen: puts the same load on Redis and on Anteroom and tells how they compare. It is started by
// bench/compare_redis.sh; by hand it also loads one of them alone, for profiling:
//
//   loadgen --anteroom 127.0.0.1:7411 --rounds 10
//
// The servers must be empty. Ends with one line of JSON on standard output.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "bench/loadgen/comparison.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  using anteroom::loadgen::Server;
  anteroom::loadgen::Plan plan;
  struct ServerOption {
    std::string address_flag;
    std::string process_flag;
    std::string about;
    std::optional<Server>* server;
    std::string address;
    pid_t process = 0;
  };
  ServerOption options[] = {
      {"--redis", "--redis-pid", "a Redis", &plan.redis, {}},
      {"--anteroom", "--anteroom-pid", "an anteroomd with durability none", &plan.anteroom, {}},
      {"--commit",
       "--commit-pid",
       "an anteroomd with durability commit",
       &plan.anteroom_commit,
       {}},
  };

  CLI::App app("Puts the same load on Redis and on Anteroom and tells how they compare.");
  app.option_defaults()->always_capture_default();
  for (ServerOption& option : options) {
    app.add_option(option.address_flag, option.address, "HOST:PORT of " + option.about);
    app.add_option(option.process_flag, option.process,
                   "its process, to tell its memory and processor time");
  }
  app.add_option("--people", plan.people, "how many wait");
  app.add_option("--joins", plan.joins, "joins in a round; as many are let in afterwards");
  app.add_option("--positions", plan.positions, "positions asked in a round");
  app.add_option("--admit", plan.admitted_at_a_time, "people let in by one request")
      ->check(CLI::Range(1, 1000));
  app.add_option("--connections", plan.connections, "connections to each server")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--depth", plan.depth, "requests in flight on each")->check(CLI::Range(1, 10'000));
  app.add_option("--rounds", plan.rounds, "rounds")->check(CLI::Range(1, 10'000));
  app.add_option("--seconds", plan.seconds_max, "after so long no round but the third begins");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  for (const ServerOption& option : options) {
    if (option.address.empty()) continue;
    const auto address = anteroom::loadgen::ParseAddress(option.address);
    if (!address.ok()) {
      std::fprintf(stderr, "loadgen: %s: %s\n", option.address_flag.c_str(),
                   std::string(address.status().message()).c_str());
      return kWrongUsage;
    }
    *option.server = Server{*address, option.process};
  }
  if (plan.people < 1000 || plan.joins < plan.admitted_at_a_time || plan.positions == 0) {
    std::fprintf(stderr, "loadgen: at least 1000 people, and something to ask\n");
    return kWrongUsage;
  }

  const auto result = anteroom::loadgen::Compare(plan);
  if (!result.ok()) {
    std::fprintf(stderr, "loadgen: %s\n", std::string(result.status().message()).c_str());
    return kFailed;
  }
  std::printf("%s\n", result->dump().c_str());
  return 0;
}
