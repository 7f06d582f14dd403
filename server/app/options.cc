#include "server/app/options.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "protocol/duration.h"
#include "protocol/version.h"
#include "server/app/flags.h"
#include "server/app/machine_memory.h"
#include "server/storage/log_format.h"

namespace anteroom::app {
namespace {

constexpr int64_t kDurabilityIntervalMsMax = 60'000;

constexpr char kUsage[] =
    R"(anteroomd: a waiting room's daemon. It keeps the lines, the tokens, the clock and the log.

usage: anteroomd [--listen HOST:PORT] [--unix PATH] [--data DIR] [--durability WHAT] ...

)";

constexpr char kEnd[] = R"(
Core files of it hold no memory, since there are secrets in it.
It runs until SIGTERM or SIGINT, then answers what has arrived, writes the log's end and exits 0.
Exit status: 0 stopped, 1 could not start or had to stop (said on standard error), 2 wrong usage.
)";

absl::Status WrongTogether(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

std::string TakeListen(const std::string& said, Options* options) {
  options->listen.reset();
  if (said.empty() || said == "none") return {};
  const auto address = ParseListenAddress(said);
  if (!address.ok()) return std::string(address.status().message());
  options->listen = *address;
  return {};
}

std::string TakeDurability(const std::string& said, Options* options) {
  for (const Durability one : {Durability::kCommit, Durability::kInterval, Durability::kNone}) {
    if (NameOf(one) != said) continue;
    options->durability = one;
    return {};
  }
  return "it takes commit, interval or none";
}

std::string TakeInterval(const std::string& said, Options* options) {
  const auto interval_ms = protocol::ParseDurationMs(said);
  if (!interval_ms || *interval_ms < 1 || *interval_ms > kDurabilityIntervalMsMax) {
    return "it takes a time from 1ms to 60s, such as 100ms";
  }
  options->durability_interval_ms = static_cast<uint64_t>(*interval_ms);
  return {};
}

std::string TakeSegmentBytes(const std::string& said, Options* options) {
  const auto bytes = ParseSize(said);
  if (!bytes || *bytes < storage::kSegmentBytesMin || *bytes > storage::kSegmentBytesMax ||
      *bytes % storage::kSegmentBytesMultiple != 0) {
    return "it takes a multiple of " + std::to_string(storage::kSegmentBytesMultiple) + " from " +
           std::to_string(storage::kSegmentBytesMin) + " to 1G, such as 32M";
  }
  options->segment_bytes = *bytes;
  return {};
}

std::string TakeSnapshotLogBytes(const std::string& said, Options* options) {
  const auto bytes = ParseSize(said);
  if (!bytes) return "it takes a size, such as 32M";
  options->snapshot_log_bytes = *bytes;
  return {};
}

std::string TakeArchiveKeep(const std::string& said, Options* options) {
  options->archive_keep_s.reset();
  if (said.empty()) return {};
  const auto keep_ms = protocol::ParseDurationMs(said);
  if (!keep_ms || *keep_ms < 1000) return "it takes a time from 1s to 365d, such as 30d";
  options->archive_keep_s = *keep_ms / 1000;
  return {};
}

// Every flag; what is said goes to *options.
std::vector<FlagSection> FlagsOf(Options* options) {
  const auto text = [](std::string* to) {
    return [to](const std::string& said) {
      *to = said;
      return std::string();
    };
  };
  const auto with = [options](std::string (*take)(const std::string&, Options*)) {
    return [take, options](const std::string& said) { return take(said, options); };
  };
  std::vector<FlagSection> sections;
  sections.push_back(
      {"Where it listens",
       {Flag{.name = "listen",
             .value = "HOST:PORT",
             .by_default = "127.0.0.1:7411",
             .help =
                 "TCP address, in numbers or localhost. Without --credentials loopback only "
                 "(127.x.x.x, [::1]): nobody else may reach it. Port 0 takes any free port, which "
                 "the first line of output names. `--listen none` does without TCP.",
             .examples = {"anteroomd --listen 127.0.0.1:0"},
             .take = with(TakeListen)},
        Flag{.name = "unix",
             .value = "PATH",
             .or_else = "none",
             .help = "Unix socket, beside or instead of TCP. A socket file left behind by a killed "
                     "daemon is replaced.",
             .examples = {"anteroomd --listen none --unix /run/anteroom/anteroom.sock"},
             .take = text(&options->unix_path)}}});
  sections.push_back(
      {"Who may connect",
       {Flag{
           .name = "credentials",
           .value = "FILE",
           .or_else = "none, and everybody is an operator",
           .help =
               "Lines NAME ROLE SECRET; the role is reader, app or operator. Everybody has to "
               "prove their secret then, on loopback and the Unix socket too, and may do what "
               "their role allows. Nobody else may be allowed to read it (chmod 600). Read at the "
               "start, and again on SIGHUP, which without this flag does nothing: a wrong file "
               "then changes nothing and is said, and "
               "who is connected stays it, in their role, until they go. The traffic itself is "
               "not encrypted.",
           .examples = {"(umask 077; anteroom credentials new shop-1 app >> credentials)",
                        "anteroomd --credentials credentials --listen 0.0.0.0:7411"},
           // An empty one is a variable that was not set, and would let everybody in.
           .take = [options](const std::string& said) {
             options->credentials_path = said;
             return std::string(said.empty() ? "it takes the name of a file" : "");
           }}}});
  sections.push_back(
      {"Where it keeps things",
       {Flag{.name = "data",
             .value = "DIR",
             .by_default = "./anteroom-data",
             .help =
                 "Data directory: lock, secrets, log. Made when it is not there. One daemon at a "
                 "time uses it.",
             .examples = {"anteroomd --data /var/lib/anteroom"},
             .take =
                 [options](const std::string& said) {
                   options->data_directory = said;
                   return std::string(said.empty() ? "the directory has no name" : "");
                 }},
        Flag{.name = "segment-bytes",
             .value = "SIZE",
             .by_default = "32M",
             .help =
                 "Size of the log's files from now on, a multiple of 4096 (4096 to 1G; K, M and G "
                 "are understood). Twice as much is reserved ahead.",
             .take = with(TakeSegmentBytes)},
        Flag{.name = "snapshot-log-bytes",
             .value = "SIZE",
             .by_default = "32M",
             .help =
                 "When so much log is closed, or as much as the last snapshot took, a snapshot of "
                 "the state is made in the background, and the log before it goes. A start after a "
                 "kill reads what log there is: less makes it quicker.",
             .take = with(TakeSnapshotLogBytes)},
        Flag{.name = "archive",
             .value = "DIR",
             .or_else = "none",
             .help =
                 "Log and snapshots that are not needed any more are moved there instead of being "
                 "removed; `anteroom log dump DIR --archive` reads them. The directory must be "
                 "there, and is for one data directory only: two have files of the same names.",
             .examples = {"anteroomd --archive /var/lib/anteroom-archive --archive-keep 30d"},
             .take = text(&options->archive)},
        Flag{.name = "archive-keep",
             .value = "T",
             .or_else = "for ever",
             .help =
                 "How long they stay there, from 1s to 365d, such as 12h; looked at by the hour.",
             .take = with(TakeArchiveKeep)}}});
  sections.push_back(
      {"What an answer promises",
       {Flag{.name = "durability",
             .value = "WHAT",
             .by_default = "commit",
             .help = "commit    an answer leaves when all it could have seen is on disk:\n"
                     "          nothing that was answered is lost, by kill -9 or power loss\n"
                     "interval  answers do not wait; at most --durability-interval is lost\n"
                     "none      answers do not wait; the log is written in the background\n",
             .examples = {"anteroomd --durability interval --durability-interval 50ms"},
             .take = with(TakeDurability)},
        Flag{.name = "durability-interval",
             .value = "T",
             .by_default = "100ms",
             .help = "Such as 20ms, 1s; with --durability interval.",
             .take = with(TakeInterval)}}});
  FlagSection limits{"Limits (a data directory opens whatever they are)", {}};
  limits.flags.reserve(kLimitFlags.size());
  for (const LimitFlag& limit : kLimitFlags) {
    limits.flags.push_back(FlagOf(limit, &options->limits));
  }
  sections.push_back(std::move(limits));
  sections.push_back(
      {"Testing",
       {Flag{.name = "virtual-clock",
             .help = "Time stands still until `anteroom clock advance 5m` moves it. Marks an empty "
                     "data directory as a test's; a directory of the other kind is refused, either "
                     "way.",
             .examples = {"anteroomd --virtual-clock --data /tmp/test-data --listen 127.0.0.1:0"},
             .take = [options](const std::string& said) {
               return std::string(
                   absl::SimpleAtob(said, &options->virtual_clock) ? "" : "it takes true or false");
             }}}});
  sections.push_back({"",
                      {Flag{.name = "help", .help = "this text, as -h", .take = {}, .alone = true},
                       Flag{.name = "version", .help = "the version", .take = {}, .alone = true}}});
  return sections;
}

// What the flags must be together.
absl::Status Check(const Options& options) {
  if (!options.listen && options.unix_path.empty()) {
    return WrongTogether("nothing to listen on: say --listen, --unix or both");
  }
  if (options.listen && !options.listen->is_loopback() && options.credentials_path.empty()) {
    return WrongTogether(
        "--listen: without --credentials only loopback addresses are allowed (127.0.0.1, [::1]), "
        "since whoever could reach the port could do everything");
  }
  if (options.archive_keep_s && options.archive.empty()) {
    return WrongTogether("--archive-keep is without --archive");
  }
  if (options.limits.output_high_bytes > options.limits.output_bytes) {
    return WrongTogether("--max-unread-bytes " + FormatSize(options.limits.output_high_bytes) +
                         ": it takes at most --max-output-bytes, " +
                         FormatSize(options.limits.output_bytes));
  }
  return absl::OkStatus();
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
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  for (std::string& argument : arguments) {
    if (argument == "-h" || argument == "help") argument = "--help";
  }
  Options options;
  const std::vector<FlagSection> sections = FlagsOf(&options);
  const auto said = ReadCommandLine(sections, arguments);
  if (!said.ok()) return said.status();
  if (!said->empty() && said->back().flag->alone) {
    if (said->back().flag->name == "help") {
      std::printf("%s%s%s", kUsage, DescribeFlags(sections).c_str(), kEnd);
    } else {
      std::printf("anteroomd %s\n", std::string(protocol::kVersion).c_str());
    }
    return std::optional<Options>();
  }
  if (const absl::Status taken = TakeFlags(sections, *said); !taken.ok()) return taken;
  if (const absl::Status right = Check(options); !right.ok()) return right;
  if (options.limits.memory_bytes == limits::kMemoryOfMachine) {
    options.limits.memory_bytes = MemoryForTheDaemon();
  }
  return std::optional<Options>(std::move(options));
}

}  // namespace anteroom::app
