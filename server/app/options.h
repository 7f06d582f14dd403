// The daemon's command line: its flags (flags.h), each in one place, and what they must be
// together.
#ifndef ANTEROOM_SERVER_APP_OPTIONS_H_
#define ANTEROOM_SERVER_APP_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/app/group_commit.h"
#include "server/base/limits.h"
#include "server/base/listen_address.h"

namespace anteroom::app {

struct Options {
  std::optional<ListenAddress> listen;  // nothing: no TCP
  std::string unix_path;                // empty: no Unix socket
  std::string credentials_path;         // empty: everybody is an operator
  std::string data_directory;
  Durability durability = Durability::kCommit;
  uint64_t durability_interval_ms = 100;
  bool virtual_clock = false;
  uint64_t segment_bytes = 0;
  uint64_t snapshot_log_bytes = 0;
  std::string archive;
  std::optional<int64_t> archive_keep_s;
  Limits limits;
};

std::string_view NameOf(Durability durability);

// The options, or why the command line is wrong. Nothing when all was said by --help or --version,
// which is printed.
absl::StatusOr<std::optional<Options>> ParseOptions(int argc, char** argv);

}  // namespace anteroom::app

#endif  // ANTEROOM_SERVER_APP_OPTIONS_H_
