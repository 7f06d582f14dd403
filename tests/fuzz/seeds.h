// The seeds of each target, from the examples and the data that the other tests have. Always the
// same bytes.
#ifndef ANTEROOM_TESTS_FUZZ_SEEDS_H_
#define ANTEROOM_TESTS_FUZZ_SEEDS_H_

#include <string>
#include <vector>

namespace anteroom::fuzz {

struct Seed {
  std::string name;  // of the file
  std::string bytes;
};

std::vector<Seed> FrameSeeds();
std::vector<Seed> MessageSeeds();
std::vector<Seed> DeskSeeds();
std::vector<Seed> SettingSeeds();
std::vector<Seed> DurationSeeds();
std::vector<Seed> LogLineSeeds();
std::vector<Seed> RecordSeeds();
std::vector<Seed> EngineSeeds();
std::vector<Seed> SnapshotSeeds();
std::vector<Seed> SnapshotFileSeeds();
std::vector<Seed> LogSeeds();

}  // namespace anteroom::fuzz

#endif  // ANTEROOM_TESTS_FUZZ_SEEDS_H_
