// The fuzz targets: what is tried with an input, and the inputs it begins with.
//
// A target takes any bytes and returns; what it finds wrong it ends the process over, with a CHECK.
// It is the same for the same bytes every time. Seeds are made from the examples that the other
// tests have, so that they follow every change of a format; what can be read as it is stands in
// corpus/ instead.
//
// Threads: one.
#ifndef ANTEROOM_TESTS_FUZZ_TARGETS_H_
#define ANTEROOM_TESTS_FUZZ_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

namespace anteroom::fuzz {

struct Seed {
  std::string name;  // of the file
  std::string bytes;
};

// X(Name, "name"): Name_fuzz.cc has TryName.
#define ANTEROOM_FUZZ_TARGETS(X)   \
  X(Frames, "frames")              \
  X(Messages, "messages")          \
  X(Handshake, "handshake")        \
  X(Desk, "desk")                  \
  X(Settings, "settings")          \
  X(Durations, "durations")        \
  X(Credentials, "credentials")    \
  X(Secrets, "secrets")            \
  X(LogLines, "log_lines")         \
  X(Records, "records")            \
  X(Engine, "engine")              \
  X(Snapshot, "snapshot")          \
  X(SnapshotFile, "snapshot_file") \
  X(Log, "log")                    \
  X(Backup, "backup")

#define ANTEROOM_X(Name, name) void Try##Name(std::string_view input);
ANTEROOM_FUZZ_TARGETS(ANTEROOM_X)
#undef ANTEROOM_X

// seeds_protocol.cc and seeds_state.cc; the targets that are not here have theirs in corpus/.
std::vector<Seed> FramesSeeds();
std::vector<Seed> MessagesSeeds();
std::vector<Seed> HandshakeSeeds();
std::vector<Seed> DeskSeeds();
std::vector<Seed> RecordsSeeds();
std::vector<Seed> EngineSeeds();
std::vector<Seed> SnapshotSeeds();
std::vector<Seed> SnapshotFileSeeds();
std::vector<Seed> LogSeeds();
std::vector<Seed> BackupSeeds();

}  // namespace anteroom::fuzz

#endif  // ANTEROOM_TESTS_FUZZ_TARGETS_H_
