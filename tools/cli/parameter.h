// What commands take: each positional argument and option is described once, here, and the parser
// and the help follow from it.
#ifndef ANTEROOM_TOOLS_CLI_PARAMETER_H_
#define ANTEROOM_TOOLS_CLI_PARAMETER_H_

#include <string>
#include <string_view>

#include "tools/cli/arguments.h"

namespace anteroom::cli {

struct Parameter {
  // `ROOM` is a positional argument, `--lane` an option.
  std::string_view name;
  // What an option takes, as in `--lane N`; empty for a flag.
  std::string_view value;
  std::string_view help;
  // Reads one value (nothing, of a flag). Returns an empty string, or what is wrong; a message that
  // begins with "is" wants the parameter's name in front of it.
  std::string (*take)(std::string_view text, Arguments* arguments);
  // A positional argument that may stand any number of times.
  bool many = false;

  bool positional() const { return name.front() != '-'; }
  bool flag() const { return !positional() && value.empty(); }
};

extern const Parameter kServer;
extern const Parameter kCredentials;
extern const Parameter kOutput;
extern const Parameter kYes;

extern const Parameter kRoom;
extern const Parameter kVisitor;
extern const Parameter kVisitors;
extern const Parameter kToken;
extern const Parameter kLane;
extern const Parameter kCompleted;
extern const Parameter kUnits;
extern const Parameter kCancelled;
extern const Parameter kAdmitCount;
extern const Parameter kAdmitKey;
extern const Parameter kAdmitVisitor;
extern const Parameter kOver;
extern const Parameter kBlock;
extern const Parameter kSettings;
extern const Parameter kIfRevision;
extern const Parameter kForce;
extern const Parameter kRooms;
extern const Parameter kRoomsFile;
extern const Parameter kDryRun;
extern const Parameter kPrune;
extern const Parameter kPeekFrom;
extern const Parameter kInsideFrom;
extern const Parameter kPageCount;
extern const Parameter kEventCount;
extern const Parameter kFor;
extern const Parameter kDuration;
extern const Parameter kArchive;
extern const Parameter kBackupFile;
extern const Parameter kData;
extern const Parameter kMove;
extern const Parameter kDirectory;
extern const Parameter kCredentialName;
extern const Parameter kRole;

extern const Parameter kMetricsListen;
extern const Parameter kPublic;
extern const Parameter kMetricsRooms;

extern const Parameter kFile;
extern const Parameter kRehearsedRoom;
extern const Parameter kSpeed;
extern const Parameter kSession;
extern const Parameter kSeed;
extern const Parameter kFromTime;
extern const Parameter kToTime;
extern const Parameter kMaxVisitors;
extern const Parameter kGiveUp;

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_PARAMETER_H_
