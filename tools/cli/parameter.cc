#include "tools/cli/parameter.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "client/address.h"
#include "protocol/duration.h"
#include "protocol/limits.h"
#include "protocol/text.h"
#include "tools/metrics/limits.h"

namespace anteroom::cli {
namespace {

std::string Quoted(std::string_view text) {
  return "\"" + protocol::EscapeId(text) + "\"";
}

template <typename Number>
std::string TakeWhole(std::string_view text, std::optional<Number>* into) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) {
    *into = number;
    return {};
  }
  return "is " + Quoted(text) + ", it takes a whole number up to " +
         std::to_string(std::numeric_limits<Number>::max());
}

std::string TakeDuration(std::string_view text, std::optional<int64_t>* into) {
  const std::optional<int64_t> parsed = protocol::ParseDurationMs(text);
  if (!parsed) {
    return "is " + Quoted(text) + ", it takes a duration with a unit like 500ms, 30s, 5m or 1h";
  }
  *into = *parsed;
  return {};
}

// Bytes as they are shown: \xNN and a doubled backslash.
std::string TakeBytes(std::string_view text, std::string* bytes) {
  if (protocol::UnescapeId(text, bytes)) return {};
  return "is " + Quoted(text) + ": after a backslash comes a second one or xNN, as in \\x0a";
}

std::string TakeId(std::string_view text, std::string* id) {
  std::string wrong = TakeBytes(text, id);
  if (!wrong.empty()) return wrong;
  return protocol::CheckVisitorId(*id);
}

std::string TakeServer(std::string_view text, Arguments* arguments) {
  arguments->server = text;
  const auto address = client::ParseAddress(text);
  if (address.ok()) return {};
  return std::string(protocol::ToStd(address.status().message()));
}

std::string TakeCredentialName(std::string_view text, Arguments* arguments) {
  arguments->name = text;
  if (protocol::IsCredentialName(text)) return {};
  return "is " + Quoted(text) + ", it takes 1 to 64 of a-z 0-9 . _ -";
}

std::string TakeRole(std::string_view text, Arguments* arguments) {
  arguments->role = protocol::ParseRole(text);
  if (arguments->role && arguments->role != protocol::Role::kAnyone) return {};
  return "is " + Quoted(text) + ", it takes reader, app or operator";
}

std::string TakeOutput(std::string_view text, Arguments* arguments) {
  if (text != "text" && text != "json") return "is " + Quoted(text) + ", it takes text or json";
  arguments->output = text == "json" ? OutputForm::kJson : OutputForm::kText;
  return {};
}

std::string TakeRoom(std::string_view text, Arguments* arguments) {
  arguments->room = text;
  return protocol::CheckRoomName(text);
}

std::string TakeRooms(std::string_view text, Arguments* arguments) {
  arguments->rooms.emplace_back(text);
  return protocol::CheckRoomName(text);
}

std::string TakeVisitor(std::string_view text, Arguments* arguments) {
  return TakeId(text, &arguments->visitor.emplace());
}

std::string TakeVisitors(std::string_view text, Arguments* arguments) {
  return TakeId(text, &arguments->visitors.emplace_back());
}

// Whether it is a good one the daemon alone decides.
std::string TakeToken(std::string_view text, Arguments* arguments) {
  arguments->token = text;
  return {};
}

std::string TakeOutcome(protocol::Outcome outcome, Arguments* arguments) {
  if (arguments->outcome && *arguments->outcome != outcome) {
    return "it is either --completed or --cancelled";
  }
  arguments->outcome = outcome;
  return {};
}

std::string TakeAdmitCount(std::string_view text, Arguments* arguments) {
  std::optional<uint32_t> count;
  std::string wrong = TakeWhole(text, &count);
  if (count) arguments->count = *count;
  return wrong;
}

std::string TakeKey(std::string_view text, Arguments* arguments) {
  std::string* key = &arguments->key.emplace();
  std::string wrong = TakeBytes(text, key);
  if (wrong.empty() && (key->empty() || key->size() > protocol::kAdmitKeyBytesMax)) {
    return "is " + std::to_string(key->size()) + " bytes, it takes 1 to " +
           std::to_string(protocol::kAdmitKeyBytesMax);
  }
  return wrong;
}

std::string TakeSetting(std::string_view text, Arguments* arguments) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return "is " + Quoted(text) + ", it takes key=value, as in rate=50/s";
  }
  const std::string_view name = text.substr(0, equals);
  bool said = false;
  protocol::RoomSettings::Fields(arguments->settings,
                                 [&](std::string_view field, const auto& value) {
                                   said = said || (field == name && value.has_value());
                                 });
  if (said) return std::string(name) + " is said twice";
  return protocol::ParseSetting(name, text.substr(equals + 1), &arguments->settings);
}

std::string TakeSpeed(std::string_view text, Arguments* arguments) {
  double speed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, speed);
  if (error != std::errc() || stop != end || !std::isfinite(speed) || speed <= 0) {
    return "is " + Quoted(text) + ", it takes a number above 0, like 60 or 0.5";
  }
  arguments->speed = speed;
  return {};
}

std::string TakeMetricsRooms(std::string_view text, Arguments* arguments) {
  std::string wrong = TakeWhole(text, &arguments->count);
  if (wrong.empty() && *arguments->count > metrics::kRoomsMax) {
    return "is " + Quoted(text) + ", it takes at most " + std::to_string(metrics::kRoomsMax);
  }
  return wrong;
}

// For parameters that are no more than one member.
template <auto kMember>
std::string Whole(std::string_view text, Arguments* arguments) {
  return TakeWhole(text, &(arguments->*kMember));
}
template <auto kMember>
std::string TimeSpan(std::string_view text, Arguments* arguments) {
  return TakeDuration(text, &(arguments->*kMember));
}
template <auto kMember>
std::string Text(std::string_view text, Arguments* arguments) {
  arguments->*kMember = text;
  return text.empty() ? "is empty" : "";
}
template <auto kMember>
std::string Flag(std::string_view, Arguments* arguments) {
  arguments->*kMember = true;
  return {};
}

}  // namespace

const Parameter kServer = {
    "--server", "HOST:PORT|unix:PATH",
    "where the daemon listens; unsaid: $ANTEROOM_SERVER, else 127.0.0.1:7411", TakeServer};
const Parameter kCredentials = {
    "--credentials", "FILE",
    "file of one line NAME ROLE SECRET, for a daemon that asks; unsaid: $ANTEROOM_CREDENTIALS",
    Text<&Arguments::credentials_path>};
const Parameter kOutput = {"--output", "text|json", "for people, or for programs; unsaid: text",
                           TakeOutput};
const Parameter kYes = {"--yes", "", "asks nothing before what can do great harm",
                        Flag<&Arguments::yes>};

const Parameter kRoom = {"ROOM", "", "the room's name: 1 to 64 of a-z 0-9 . _ -", TakeRoom};
const Parameter kVisitor = {"VISITOR", "", "who: an id of 1 to 255 bytes", TakeVisitor};
const Parameter kVisitors = {"VISITOR", "", "who: ids; without any, the room itself", TakeVisitors,
                             true};
const Parameter kToken = {"TOKEN", "", "what proves the admission: 22 characters", TakeToken};
const Parameter kLane = {"--lane", "N",
                         "priority class of a newcomer, 0 (first) to 255; unsaid: 128",
                         Whole<&Arguments::lane>};
const Parameter kCompleted = {"--completed", "", "the visitor did what they came for",
                              [](std::string_view, Arguments* arguments) {
                                return TakeOutcome(protocol::Outcome::kCompleted, arguments);
                              }};
const Parameter kCancelled = {"--cancelled", "", "the visitor did not; unsaid it is this one",
                              [](std::string_view, Arguments* arguments) {
                                return TakeOutcome(protocol::Outcome::kCancelled, arguments);
                              }};
const Parameter kUnits = {"--units", "N",
                          "with --completed, how many units were sold; unsaid it is 1",
                          Whole<&Arguments::units>};
const Parameter kAdmitCount = {"N", "", "how many of the first in line, at most 1000",
                               TakeAdmitCount};
const Parameter kAdmitKey = {"--key", "K", "a repeat with the same key lets in the same people",
                             TakeKey};
const Parameter kAdmitVisitor = {
    "--visitor", "ID", "this one, wherever they stand, even if they never joined", TakeVisitor};
const Parameter kOver = {"--over", "", "even beyond the room's capacity", Flag<&Arguments::over>};
const Parameter kBlock = {"--block", "DURATION", "keeps the visitor out for so long",
                          TimeSpan<&Arguments::block_ms>};
const Parameter kSettings = {"KEY=VALUE", "", "settings, as in rate=50/s capacity=100 claim_ttl=5m",
                             TakeSetting, true};
const Parameter kIfRevision = {"--if-revision", "N",
                               "only if the settings are still of this revision",
                               Whole<&Arguments::if_revision>};
const Parameter kForce = {"--force", "", "even with people in it", Flag<&Arguments::force>};
const Parameter kRooms = {"ROOM", "", "the rooms; without any, all", TakeRooms, true};
const Parameter kRoomsFile = {"FILE", "", "the rooms, as TOML", Text<&Arguments::path>};
const Parameter kDryRun = {"--dry-run", "", "shows the difference and changes nothing",
                           Flag<&Arguments::dry_run>};
const Parameter kPrune = {"--prune", "",
                          "deletes rooms that the file does not name, if nobody is in them",
                          Flag<&Arguments::prune>};
const Parameter kPeekFrom = {"FROM", "", "the place to begin at, from 0; unsaid: 0",
                             Whole<&Arguments::from>};
const Parameter kInsideFrom = {"FROM", "", "the admission number to begin at; unsaid: the first",
                               Whole<&Arguments::from>};
const Parameter kPageCount = {"COUNT", "", "how many people", Whole<&Arguments::count>};
const Parameter kEventCount = {"--count", "N", "ends after so many events",
                               Whole<&Arguments::count>};
const Parameter kFor = {"--for", "DURATION", "ends after so long",
                        TimeSpan<&Arguments::duration_ms>};
const Parameter kDuration = {"DURATION", "", "a whole number and a unit: 500ms, 30s, 5m, 1h, 2d",
                             TimeSpan<&Arguments::duration_ms>};
const Parameter kDirectory = {"DIR", "", "a daemon's data directory", Text<&Arguments::path>};

const Parameter kArchive = {"--archive", "",
                            "DIR is the --archive of a daemon, read from its beginning",
                            Flag<&Arguments::archive>};
const Parameter kBackupFile = {"FILE", "", "the backup", Text<&Arguments::path>};
const Parameter kData = {"--data", "DIR", "the data directory; unsaid: ./anteroom-data",
                         Text<&Arguments::data_directory>};
const Parameter kMove = {"--move", "", "and the log here ends: the daemon goes on from the backup",
                         Flag<&Arguments::move>};
const Parameter kCredentialName = {"NAME", "", "who: 1 to 64 of a-z 0-9 . _ -", TakeCredentialName};
const Parameter kRole = {"ROLE", "", "reader looks, app serves visitors, operator may do all",
                         TakeRole};

const Parameter kMetricsListen = {"--listen", "HOST:PORT",
                                  "serves them over HTTP there; port 0: any free one",
                                  Text<&Arguments::listen>};
const Parameter kPublic = {"--public", "", "even where others than this machine can connect",
                           Flag<&Arguments::public_too>};
const Parameter kMetricsRooms = {"--rooms", "N",
                                 "rooms with series of their own, the first by name; unsaid: 1000",
                                 TakeMetricsRooms};

const Parameter kFile = {"FILE", "", "an access log, or a count file", Text<&Arguments::path>};
const Parameter kRehearsedRoom = {"--room", "ROOM", "the room to fill; nobody else may be in it",
                                  TakeRoom};
const Parameter kSpeed = {"--speed", "N", "arrivals N times as fast as in the file; unsaid: 1",
                          TakeSpeed};
const Parameter kSession = {"--session", "MEAN",
                            "mean length of a session, in real time; unsaid: 30s",
                            TimeSpan<&Arguments::session_ms>};
const Parameter kSeed = {"--seed", "N", "draws the same session lengths again",
                         Whole<&Arguments::seed>};
const Parameter kFromTime = {"--from", "TIME",
                             "leaves out what is earlier: 10:05[:00], or with the date before it",
                             Text<&Arguments::from_time>};
const Parameter kToTime = {"--to", "TIME", "leaves out what is at that time or later",
                           Text<&Arguments::to_time>};
const Parameter kMaxVisitors = {"--max-visitors", "N", "takes the first N visitors alone",
                                Whole<&Arguments::max_visitors>};
const Parameter kGiveUp = {"--give-up", "DURATION",
                           "ends when nothing has moved for so long; unsaid: 2m",
                           TimeSpan<&Arguments::give_up_ms>};

}  // namespace anteroom::cli
