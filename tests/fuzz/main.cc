// Writes the seeds of every fuzz target: `fuzz_seeds FOLDER`, a folder for each target in it, whose
// files are replaced. Runs in the repository's root.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/base/check.h"
#include "tests/fuzz/seeds.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  struct Target {
    const char* name;
    std::vector<anteroom::fuzz::Seed> (*seeds)();
  };
  constexpr Target kTargets[] = {
      {"frames", anteroom::fuzz::FrameSeeds},
      {"messages", anteroom::fuzz::MessageSeeds},
      {"desk", anteroom::fuzz::DeskSeeds},
      {"settings", anteroom::fuzz::SettingSeeds},
      {"durations", anteroom::fuzz::DurationSeeds},
      {"log_lines", anteroom::fuzz::LogLineSeeds},
      {"records", anteroom::fuzz::RecordSeeds},
      {"engine", anteroom::fuzz::EngineSeeds},
      {"snapshot", anteroom::fuzz::SnapshotSeeds},
      {"snapshot_file", anteroom::fuzz::SnapshotFileSeeds},
      {"log", anteroom::fuzz::LogSeeds},
  };
  for (const Target& target : kTargets) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / target.name;
    std::filesystem::create_directories(folder);
    for (const anteroom::fuzz::Seed& seed : target.seeds()) {
      std::ofstream file(folder / seed.name, std::ios::binary);
      file << seed.bytes;
      file.close();
      CHECK(file.good());
    }
  }
  return 0;
}
