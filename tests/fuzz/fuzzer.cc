// The one program of all fuzz targets, linked with libFuzzer:
//
//   fuzzer TARGET [OPTIONS, FILES AND FOLDERS OF libFuzzer]
//   fuzzer names              the targets, one a line
//   fuzzer seeds FOLDER       writes the seeds of every target, a folder for each; for this it runs
//                             in the repository's root
//
// libFuzzer starts the program again, for -merge=1 and -fork=1, without the target's name, which
// therefore stands in the environment too.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/check.h"
#include "tests/fuzz/targets.h"

namespace anteroom::fuzz {
namespace {

constexpr char kTargetVariable[] = "ANTEROOM_FUZZ_TARGET";

struct Target {
  std::string_view name;
  void (*try_input)(std::string_view);
};
constexpr Target kTargets[] = {
#define ANTEROOM_X(Name, name) {name, Try##Name},
    ANTEROOM_FUZZ_TARGETS(ANTEROOM_X)
#undef ANTEROOM_X
};

struct SeedMaker {
  std::string_view target;
  std::vector<Seed> (*make)();
};
constexpr SeedMaker kSeedMakers[] = {
    {"frames", FramesSeeds},
    {"messages", MessagesSeeds},
    {"handshake", HandshakeSeeds},
    {"desk", DeskSeeds},
    {"records", RecordsSeeds},
    {"engine", EngineSeeds},
    {"snapshot", SnapshotSeeds},
    {"snapshot_file", SnapshotFileSeeds},
    {"log", LogSeeds},
    {"backup", BackupSeeds},
};

void (*chosen)(std::string_view) = nullptr;

void WriteSeeds(const std::filesystem::path& root) {
  for (const SeedMaker& maker : kSeedMakers) {
    const std::filesystem::path folder = root / maker.target;
    std::filesystem::create_directories(folder);
    for (const Seed& seed : maker.make()) {
      std::ofstream file(folder / seed.name, std::ios::binary);
      file << seed.bytes;
      file.close();
      CHECK(file.good());
    }
  }
}

[[noreturn]] void Usage() {
  std::fprintf(stderr, "usage: fuzzer TARGET [...] | fuzzer names | fuzzer seeds FOLDER\n");
  std::exit(2);
}

void Choose(int* argc, char*** argv) {
  const char* const known = std::getenv(kTargetVariable);
  if (known == nullptr && *argc < 2) Usage();
  const std::string_view name = known == nullptr ? (*argv)[1] : known;
  if (name == "names") {
    for (const Target& target : kTargets) std::printf("%s\n", target.name.data());
    std::exit(0);
  }
  if (name == "seeds" && *argc == 3) {
    WriteSeeds((*argv)[2]);
    std::exit(0);
  }
  for (const Target& target : kTargets) {
    if (target.name == name) chosen = target.try_input;
  }
  if (chosen == nullptr) Usage();
  if (known != nullptr) return;
  setenv(kTargetVariable, (*argv)[1], 1);
  // The name's place is taken by the program's own.
  (*argv)[1] = (*argv)[0];
  ++*argv;
  --*argc;
}

}  // namespace
}  // namespace anteroom::fuzz

// Names in stack traces, from what comes with every compiler.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizers' name
extern "C" const char* __asan_default_options() {
  return "external_symbolizer_path=/usr/bin/addr2line";
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  anteroom::fuzz::Choose(argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  anteroom::fuzz::chosen({reinterpret_cast<const char*>(data), size});
  return 0;
}
