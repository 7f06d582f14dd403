#include "server/app/options.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/marshalling.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/strings/numbers.h"
#include "protocol/duration.h"
#include "protocol/text.h"
#include "protocol/version.h"
#include "server/base/limits.h"
#include "server/storage/log_format.h"

// Text, all but the switch: a value is then checked in one place, with a message of ours.
ABSL_FLAG(std::string, listen, "127.0.0.1:7411", "TCP address to listen on");
ABSL_FLAG(std::string, unix, "", "Unix socket to listen on");
ABSL_FLAG(std::string, credentials, "", "file of those who may connect");
ABSL_FLAG(std::string, data, "./anteroom-data", "data directory");
ABSL_FLAG(std::string, durability, "commit", "what replies wait for");
ABSL_FLAG(std::string, durability_interval, "100ms", "most that durability interval may lose");
ABSL_FLAG(bool, virtual_clock, false, "time stands still until it is advanced");
ABSL_FLAG(std::string, segment_bytes, "64M", "size of a log segment");
ABSL_FLAG(std::string, snapshot_log_bytes, "128M", "closed log after which a snapshot is made");
ABSL_FLAG(std::string, archive, "", "where log that is not needed any more goes");
ABSL_FLAG(std::string, archive_keep, "", "how long it stays there");
ABSL_FLAG(std::string, max_connections, std::to_string(anteroom::limits::kConnectionsMax),
          "most connections at a time");

namespace anteroom::app {
namespace {

constexpr std::string_view kFlags[] = {"listen",        "unix",          "credentials",
                                       "data",          "durability",    "durability-interval",
                                       "virtual-clock", "segment-bytes", "snapshot-log-bytes",
                                       "archive",       "archive-keep",  "max-connections",
                                       "help",          "version"};

constexpr char kHelp[] =
    R"(anteroomd: a waiting room's daemon. It keeps the lines, the tokens, the clock and the log.

usage: anteroomd [--listen HOST:PORT] [--unix PATH] [--data DIR] [--durability WHAT] ...

Where it listens
  --listen HOST:PORT       TCP address, in numbers or localhost. Without --credentials loopback only
                           (127.x.x.x, [::1]): nobody else may reach it. Port 0 takes any free port,
                           which the first line of output names. `--listen none` does without TCP.
                           Default: 127.0.0.1:7411
                             anteroomd --listen 127.0.0.1:0
  --unix PATH              Unix socket, beside or instead of TCP. A socket file left behind by a
                           killed daemon is replaced.  Default: none
                             anteroomd --listen none --unix /run/anteroom/anteroom.sock
  --max-connections N      Most connections at a time; further ones are told `unavailable`
                           (too_many_connections) and closed. Never more than the process has
                           descriptors for (ulimit -n).  Default: 19000

Who may connect
  --credentials FILE       Lines NAME ROLE SECRET; the role is reader, app or operator. Everybody has
                           to prove their secret then, on loopback and the Unix socket too, and may
                           do what their role allows. Nobody else may be allowed to read it (chmod
                           600). Read at the start, and again on SIGHUP: a wrong file then changes
                           nothing and is said, and who is connected stays it, in their role, until
                           they go. The traffic itself is not encrypted.
                           Default: none, and everybody is an operator
                             (umask 077; anteroom credentials new shop-1 app >> credentials)
                             anteroomd --credentials credentials --listen 0.0.0.0:7411

Where it keeps things
  --data DIR               Data directory: lock, secrets, log. Made when it is not there. One daemon
                           at a time uses it.  Default: ./anteroom-data
                             anteroomd --data /var/lib/anteroom
  --segment-bytes SIZE     Size of the log's files from now on, a multiple of 4096 (4096 to 1G; K, M
                           and G are understood). Twice as much is reserved ahead.  Default: 64M
  --snapshot-log-bytes SIZE
                           When so much log is closed, or as much as the last snapshot took, a
                           snapshot of the state is made in the background, and the log before it
                           goes.  Default: 128M
  --archive DIR            Log and snapshots that are not needed any more are moved there instead
                           of being removed; `anteroom log dump DIR` reads them. The directory must
                           be there.  Default: none
                             anteroomd --archive /var/lib/anteroom-archive --archive-keep 30d
  --archive-keep T         How long they stay there, such as 12h, 30d.  Default: for ever

What an answer promises
  --durability WHAT        commit    an answer leaves when all it could have seen is on disk: nothing
                                     that was answered is lost, by kill -9 or power loss (default)
                           interval  answers do not wait; at most --durability-interval is lost
                           none      answers do not wait; the log is written in the background
                             anteroomd --durability interval --durability-interval 50ms
  --durability-interval T  Such as 20ms, 1s; with --durability interval.  Default: 100ms

Testing
  --virtual-clock          Time stands still until `anteroom clock advance 5m` moves it. Marks an
                           empty data directory as a test's; a directory of the other kind is
                           refused, either way.
                             anteroomd --virtual-clock --data /tmp/test-data --listen 127.0.0.1:0

  --help, -h               this text
  --version                the version

Core files of it hold no memory, since there are secrets in it.
It runs until SIGTERM or SIGINT, then answers what has arrived, writes the log's end and exits 0.
Exit status: 0 stopped, 1 could not start or had to stop (said on standard error), 2 wrong usage.
)";

absl::Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// The name of `--some-flag=value`, as Abseil spells it: some_flag.
std::string FlagName(std::string_view argument) {
  argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
  std::string name(argument.substr(0, argument.find('=')));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::optional<uint64_t> ParseSize(std::string_view text) {
  uint64_t unit = 1;
  if (text.ends_with('K')) unit = uint64_t{1} << 10;
  if (text.ends_with('M')) unit = uint64_t{1} << 20;
  if (text.ends_with('G')) unit = uint64_t{1} << 30;
  if (unit > 1) text.remove_suffix(1);
  uint64_t count = 0;
  if (!absl::SimpleAtoi(protocol::ToAbsl(text), &count) || count > UINT64_MAX / unit) {
    return std::nullopt;
  }
  return count * unit;
}

absl::Status CheckName(std::string_view argument) {
  const std::string name = FlagName(argument);
  if (absl::FindCommandLineFlag(name) != nullptr) return absl::OkStatus();
  std::string typed(argument.substr(0, argument.find('=')));
  const std::string_view nearest =
      protocol::NearestName(std::string_view(typed).substr(typed.find_first_not_of('-')), kFlags);
  return Wrong("there is no flag " + typed +
               (nearest.empty() ? "; --help lists them all"
                                : "; did you mean --" + std::string(nearest) + "?"));
}

absl::StatusOr<Options> Check() {
  Options options;
  const std::string listen = absl::GetFlag(FLAGS_listen);
  options.credentials_path = absl::GetFlag(FLAGS_credentials);
  options.unix_path = absl::GetFlag(FLAGS_unix);
  if (listen != "none" && !listen.empty()) {
    const auto address = net::ParseAddress(listen);
    if (!address.ok()) return Wrong("--listen: " + std::string(address.status().message()));
    if (!address->is_loopback() && options.credentials_path.empty()) {
      return Wrong("--listen " + listen +
                   ": without --credentials only loopback addresses are allowed (127.0.0.1, "
                   "[::1]), since whoever could reach the port could do everything");
    }
    options.listen = *address;
  } else if (options.unix_path.empty()) {
    return Wrong("nothing to listen on: say --listen, --unix or both");
  }
  options.data_directory = absl::GetFlag(FLAGS_data);
  if (options.data_directory.empty()) return Wrong("--data: the directory has no name");

  const std::string durability = absl::GetFlag(FLAGS_durability);
  if (durability == "commit") {
    options.durability = Durability::kCommit;
  } else if (durability == "interval") {
    options.durability = Durability::kInterval;
  } else if (durability == "none") {
    options.durability = Durability::kNone;
  } else {
    return Wrong("--durability " + durability + ": it takes commit, interval or none");
  }
  const std::string interval = absl::GetFlag(FLAGS_durability_interval);
  const auto interval_ms = protocol::ParseDurationMs(interval);
  if (!interval_ms || *interval_ms < 1 || *interval_ms > 60'000) {
    return Wrong("--durability-interval " + interval +
                 ": it takes a time from 1ms to 60s, such as 100ms");
  }
  options.durability_interval_ms = static_cast<uint64_t>(*interval_ms);
  options.virtual_clock = absl::GetFlag(FLAGS_virtual_clock);

  const std::string segment = absl::GetFlag(FLAGS_segment_bytes);
  const auto segment_bytes = ParseSize(segment);
  if (!segment_bytes || *segment_bytes < storage::kSegmentBytesMin ||
      *segment_bytes > storage::kSegmentBytesMax ||
      *segment_bytes % storage::kSegmentBytesMultiple != 0) {
    return Wrong("--segment-bytes " + segment + ": it takes a multiple of " +
                 std::to_string(storage::kSegmentBytesMultiple) + " from " +
                 std::to_string(storage::kSegmentBytesMin) + " to 1G, such as 64M");
  }
  options.segment_bytes = *segment_bytes;

  const std::string snapshot_log = absl::GetFlag(FLAGS_snapshot_log_bytes);
  const auto snapshot_log_bytes = ParseSize(snapshot_log);
  if (!snapshot_log_bytes) {
    return Wrong("--snapshot-log-bytes " + snapshot_log + ": it takes a size, such as 128M");
  }
  options.snapshot_log_bytes = *snapshot_log_bytes;
  options.archive = absl::GetFlag(FLAGS_archive);
  if (const std::string keep = absl::GetFlag(FLAGS_archive_keep); !keep.empty()) {
    const auto keep_ms = protocol::ParseDurationMs(keep);
    if (!keep_ms) return Wrong("--archive-keep " + keep + ": it takes a time, such as 30d");
    if (options.archive.empty()) return Wrong("--archive-keep is without --archive");
    options.archive_keep_s = *keep_ms / 1000;
  }

  const std::string connections = absl::GetFlag(FLAGS_max_connections);
  uint64_t connections_max = 0;
  if (!absl::SimpleAtoi(connections, &connections_max) || connections_max < 1 ||
      connections_max > 1'000'000) {
    return Wrong("--max-connections " + connections + ": it takes a number from 1 to 1000000");
  }
  options.connections_max = connections_max;
  return options;
}

}  // namespace

std::string_view NameOf(Durability durability) {
  switch (durability) {
    case Durability::kCommit:
      return "commit";
    case Durability::kInterval:
      return "interval";
    case Durability::kNone:
      return "none";
  }
  return "";
}

absl::StatusOr<std::optional<Options>> ParseOptions(int argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (size_t i = 1; i < arguments.size(); ++i) {
    std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h" || argument == "-help" || argument == "help") {
      std::fputs(kHelp, stdout);
      return std::optional<Options>();
    }
    if (argument == "--version" || argument == "-version") {
      std::printf("anteroomd %s\n", std::string(protocol::kVersion).c_str());
      return std::optional<Options>();
    }
    if (argument.size() < 2 || argument[0] != '-' || argument == "--") {
      return Wrong("\"" + argument + "\" is no flag; --help lists them all");
    }
    const absl::Status known = CheckName(argument);
    if (!known.ok()) return known;
    const size_t equals = argument.find('=');
    const std::string name = FlagName(argument);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals);
    if (bool set; name == "virtual_clock" && !value.empty()) {
      std::string unused;
      if (!absl::ParseFlag(value.substr(1), &set, &unused)) {
        return Wrong("--virtual-clock" + value + ": it takes true or false");
      }
    }
    argument = "--";
    argument += name;
    argument += value;
    // The value may be the next argument, whatever it looks like.
    if (equals != std::string::npos || name == "virtual_clock") continue;
    if (++i == arguments.size()) return Wrong("the flag --" + name + " is without its value");
  }
  std::vector<char*> pointers;
  pointers.reserve(arguments.size());
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  absl::ParseCommandLine(static_cast<int>(pointers.size()), pointers.data());
  absl::StatusOr<Options> options = Check();
  if (!options.ok()) return options.status();
  return std::optional<Options>(*std::move(options));
}

}  // namespace anteroom::app
