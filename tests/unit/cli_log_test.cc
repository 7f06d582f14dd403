// log check and log dump on a log of real records.
#include "tools/cli/log_commands.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "server/auth/secrets.h"
#include "server/engine/command.h"
#include "server/engine/engine.h"
#include "server/storage/engine_replay.h"
#include "server/storage/posix_files.h"
#include "tests/support/log_harness.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"
#include "tools/cli/json.h"

namespace anteroom::cli {
namespace {

// A daemon without a network: records go through an engine into a log on a disk in memory.
class Writer {
 public:
  explicit Writer(storage::Files& files) : engine_(EngineOptions{}) {
    auto opened = storage::DataDirectory::Open(files, "data");
    REQUIRE(opened.ok());
    directory_ = *std::move(opened);
    const auto text =
        directory_->LoadOrCreateSecrets([] { return auth::FormatSecrets(auth::NewSecrets()); });
    REQUIRE(text.ok());
    storage::Replay nothing;
    const auto log = storage::RecoverLog(
        files, "data", {storage::RecoveryMode::kMend, storage::DirectoryKind::kReal}, nothing);
    REQUIRE(log.ok());
    storage::LogOptions options = storage::SmallLog();
    options.initial_mark = mark();
    options.token_key_id = auth::ParseSecrets(*text)->token_keys.front().id;
    auto writer = storage::LogWriter::Open(files, "data", *log, std::move(options));
    REQUIRE(writer.ok());
    writer_ = *std::move(writer);
    builder_.emplace(log->next_sequence, writer_->frame_payload_bytes_max());
  }

  template <typename OneCommand>
  void Append(int64_t at_ms, const OneCommand& one) {
    std::string record;
    EncodeRecord(at_ms, one, &record);
    builder_->Stage(mark(), record);
    Effects effects;
    engine_.Apply(at_ms, one, &effects);
    storage::Batch batch = builder_->Seal();
    REQUIRE(writer_->Write(batch).ok());
    builder_->Recycle(std::move(batch));
  }

  void Stop() { REQUIRE(writer_->WriteEnd(mark()).ok()); }

 private:
  storage::EngineMark mark() { return storage::MarkOf(engine_); }

  Engine engine_;
  std::unique_ptr<storage::DataDirectory> directory_;
  std::unique_ptr<storage::LogWriter> writer_;
  std::optional<storage::BatchBuilder> builder_;
};

void WriteSome(Writer& writer) {
  protocol::RoomSettings settings = protocol::DefaultSettings();
  settings.rate = protocol::Rate{50, 1000};
  writer.Append(0, command::RoomCreate{"concert", settings});
  writer.Append(5, command::Join{1, "a\xff", 128});
  writer.Append(5, command::RoomReset{1, "anna"});
  writer.Append(7, command::Join{2, "bob", 0});
  writer.Append(8, command::Join{77, "nobody", 0});
  writer.Append(9, command::Tick{});
}

struct Ran {
  ExitStatus status;
  std::string out;
  std::string err;
};

Ran Run(ExitStatus (*command)(Context&, storage::Files&, const std::string&, bool),
        storage::Files& files, OutputForm form = OutputForm::kJson) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Console console{.in = in, .out = out, .err = err};
  Arguments arguments;
  arguments.output = form;
  Context context(console, arguments);
  const ExitStatus status = command(context, files, "data", false);
  return {status, out.str(), err.str()};
}

TEST_CASE("cli log: dump shows each record, with rooms by name") {
  storage::MemoryFiles disk(TestSeed());
  Writer writer(disk);
  WriteSome(writer);
  writer.Stop();
  const Ran dump = Run(DumpLog, disk, OutputForm::kText);
  INFO(dump.err);
  REQUIRE(dump.status == ExitStatus::kDone);
  std::istringstream lines(dump.out);
  std::vector<Json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(Json::parse(line));
  REQUIRE(records.size() == 6);
  REQUIRE(records[0]["type"] == "room_create");
  REQUIRE(records[0]["room"] == "concert");
  REQUIRE(records[0]["rate"] == "50/s");
  REQUIRE(OneLine(records[1]) == R"({"sequence":2,"at_ms":5,"type":"join","room":"concert",)"
                                 R"("room_number":1,"visitor":"a\\xff","lane":128})");
  REQUIRE(OneLine(records[2]) ==
          R"({"sequence":3,"at_ms":5,"type":"room_reset","room":"concert","room_number":1,)"
          R"("by":"anna"})");
  REQUIRE(records[3]["room"] == "concert");
  REQUIRE(records[3]["room_number"] == 2);
  REQUIRE_FALSE(records[4].contains("room"));
  REQUIRE(OneLine(records[5]) == R"({"sequence":6,"at_ms":9,"type":"tick"})");
}

TEST_CASE("cli log: check of a whole log") {
  storage::MemoryFiles disk(TestSeed());
  {
    Writer writer(disk);
    WriteSome(writer);
    REQUIRE(Json::parse(Run(CheckLog, disk).out)["clean_stop"] == false);
    writer.Stop();
  }
  const Ran check = Run(CheckLog, disk);
  REQUIRE(check.status == ExitStatus::kDone);
  const Json said = Json::parse(check.out);
  REQUIRE(said["records"] == 6);
  REQUIRE(said["at_ms"] == 9);
  REQUIRE(said["clean_stop"] == true);
  REQUIRE(said["virtual_clock"] == false);
  REQUIRE(Run(CheckLog, disk, OutputForm::kText).out.find("6 records") != std::string::npos);
}

TEST_CASE("cli log: check names secrets that are missing or damaged") {
  storage::MemoryFiles disk(TestSeed());
  {
    Writer writer(disk);
    WriteSome(writer);
    writer.Stop();
  }
  const std::string right = disk.Content("data/secrets");
  disk.SetContent("data/secrets", right.substr(0, right.size() - 9));
  const Ran damaged = Run(CheckLog, disk);
  REQUIRE(damaged.status != ExitStatus::kDone);
  REQUIRE(damaged.err.find("'secrets' is damaged") != std::string::npos);
  disk.SetContent("data/secrets", auth::FormatSecrets(auth::NewSecrets()));
  const Ran another = Run(CheckLog, disk);
  REQUIRE(another.status != ExitStatus::kDone);
  REQUIRE(another.err.find("of another daemon") != std::string::npos);
  disk.Delete("data/secrets");
  const Ran missing = Run(CheckLog, disk);
  REQUIRE(missing.status != ExitStatus::kDone);
  REQUIRE(missing.err.find("secret_missing") != std::string::npos);
}

TEST_CASE("cli log: check of a directory without a log") {
  storage::MemoryFiles disk(TestSeed());
  REQUIRE(disk.MakeDirectory("data").ok());
  REQUIRE(Run(CheckLog, disk).status != ExitStatus::kDone);
  REQUIRE(storage::DataDirectory::Open(disk, "data").ok());
  REQUIRE(Run(CheckLog, disk).status == ExitStatus::kDone);
  disk.SetContent("data/secrets", "none");
  REQUIRE(Run(CheckLog, disk).status != ExitStatus::kDone);
}

TEST_CASE("cli log: a digest is of the state, equal for equal logs") {
  std::string digests[2];
  for (std::string& digest : digests) {
    storage::MemoryFiles disk(TestSeed());
    Writer writer(disk);
    WriteSome(writer);
    const Ran ran = Run(DigestLog, disk, OutputForm::kText);
    REQUIRE(ran.status == ExitStatus::kDone);
    digest = ran.out;
    writer.Append(9, command::Leave{2, "bob"});
    REQUIRE(Run(DigestLog, disk, OutputForm::kText).out != digest);
  }
  REQUIRE(digests[0] == digests[1]);
  REQUIRE(digests[0].size() == 33);
}

// Every kind of record, written by version 0.1.0. A later version that reads another state out of
// it would give other places to people who are in line.
TEST_CASE("cli log: an old log gives its old state") {
  storage::PosixFiles files;
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Console console{.in = in, .out = out, .err = err};
  Arguments arguments;
  arguments.output = OutputForm::kJson;
  Context context(console, arguments);
  const ExitStatus status = DigestLog(context, files, "tests/data/log-format-1");
  INFO(err.str());
  REQUIRE(status == ExitStatus::kDone);
  REQUIRE(out.str() ==
          R"({"digest":"84fa29804bfae09eceb9b30ee294f01c","next_sequence":85,"at_ms":7872000})"
          "\n");
}

TEST_CASE("cli log: a torn end is said and is no failure") {
  storage::MemoryFiles disk(TestSeed());
  {
    Writer writer(disk);
    WriteSome(writer);
  }
  std::string bytes = disk.Content("data/00000001.log");
  const size_t end = bytes.find_last_not_of('\0');
  bytes.resize(end - 3);
  disk.SetContent("data/00000001.log", bytes);
  const Ran check = Run(CheckLog, disk);
  REQUIRE(check.status == ExitStatus::kDone);
  REQUIRE(Json::parse(check.out)["torn_end"]["file"] == "00000001.log");
  REQUIRE(Run(CheckLog, disk, OutputForm::kText).out.find("torn end") != std::string::npos);
  REQUIRE(Run(DumpLog, disk).err.find("torn end") != std::string::npos);
}

TEST_CASE("cli log: damage is named with file and byte") {
  storage::MemoryFiles disk(TestSeed());
  {
    Writer writer(disk);
    WriteSome(writer);
    writer.Stop();
  }
  std::string bytes = disk.Content("data/00000001.log");
  bytes[560] = static_cast<char>(bytes[560] ^ 1);
  disk.SetContent("data/00000001.log", bytes);
  const Ran check = Run(CheckLog, disk);
  REQUIRE(check.status == ExitStatus::kRefused);
  const Json said = Json::parse(check.out);
  REQUIRE(said["error"] == "damaged");
  REQUIRE(said["message"].get<std::string>().find("00000001.log at byte 512") != std::string::npos);
  REQUIRE(check.err.find("damaged: 00000001.log at byte 512") != std::string::npos);
}

TEST_CASE("cli log: a state other than the log says is found") {
  storage::MemoryFiles disk(TestSeed());
  {
    Writer writer(disk);
    WriteSome(writer);
    writer.Stop();
  }
  // The harness's stand-in for an engine writes marks that no engine agrees with.
  storage::MemoryFiles other(TestSeed());
  storage::TestDaemon daemon;
  REQUIRE(daemon.Start(other).ok());
  std::string record;
  EncodeRecord(0, command::Tick{}, &record);
  REQUIRE(daemon.Append({record}).ok());
  REQUIRE(daemon.Stop().ok());
  REQUIRE(Run(CheckLog, other).status == ExitStatus::kRefused);
  REQUIRE(Run(CheckLog, other).err.find("state") != std::string::npos);
  REQUIRE(Run(CheckLog, disk).status == ExitStatus::kDone);
}

TEST_CASE("cli log: no log, and no directory") {
  storage::MemoryFiles disk(TestSeed());
  REQUIRE(Run(CheckLog, disk).status == ExitStatus::kRefused);
  REQUIRE(Json::parse(Run(CheckLog, disk).out)["error"] == "not_found");
  // Some directory, that may be another than was meant.
  REQUIRE(disk.MakeDirectory("data").ok());
  REQUIRE(Run(CheckLog, disk).status == ExitStatus::kRefused);
  // A daemon's, in which it has not written yet.
  disk.SetContent("data/lock", "");
  REQUIRE(Run(CheckLog, disk).status == ExitStatus::kDone);
  REQUIRE(Run(CheckLog, disk, OutputForm::kText).out == "data holds no log\n");
}

}  // namespace
}  // namespace anteroom::cli
