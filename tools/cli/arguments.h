// Everything that can be said on the command line, read and checked.
#ifndef ANTEROOM_TOOLS_CLI_ARGUMENTS_H_
#define ANTEROOM_TOOLS_CLI_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/kinds.h"
#include "protocol/settings.h"

namespace anteroom::cli {

inline constexpr std::string_view kDefaultServer = "127.0.0.1:7411";

enum class OutputForm { kText, kJson };

// Of what a command does not take, the value stays as it is here. Visitors and keys are bytes.
struct Arguments {
  std::string server{kDefaultServer};
  std::string credentials_path;  // empty: none
  OutputForm output = OutputForm::kText;
  bool yes = false;

  std::string room;
  std::optional<std::string> visitor;
  std::vector<std::string> visitors;
  std::vector<std::string> rooms;
  std::optional<std::string> token;
  std::optional<protocol::Outcome> outcome;
  std::optional<uint32_t> units;
  std::optional<uint8_t> lane;
  std::optional<uint64_t> from;
  std::optional<uint64_t> count;
  std::optional<std::string> key;
  bool over = false;
  bool archive = false;
  bool move = false;
  bool force = false;
  bool dry_run = false;
  bool prune = false;
  std::optional<int64_t> block_ms;
  protocol::RoomSettings settings;
  std::optional<uint64_t> if_revision;
  std::optional<int64_t> duration_ms;
  std::string path;
  std::string data_directory;
  std::string name;
  std::optional<protocol::Role> role;

  // metrics
  std::optional<std::string> listen;
  bool public_too = false;

  // rehearse
  std::optional<double> speed;
  std::optional<int64_t> session_ms;
  std::optional<uint64_t> seed;
  std::optional<uint64_t> max_visitors;
  std::optional<int64_t> give_up_ms;
  std::string from_time;
  std::string to_time;
};

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_ARGUMENTS_H_
