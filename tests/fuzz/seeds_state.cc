// What stands in the files, and what becomes of it.

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <variant>

#include "server/base/check.h"
#include "server/engine/snapshot.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/log_directory.h"
#include "tests/fuzz/targets.h"
#include "tests/support/engine_entries.h"
#include "tests/support/random_commands.h"
#include "tests/support/temporary_file.h"

namespace anteroom::fuzz {
namespace {

std::vector<std::string> Records(uint64_t seed, size_t count) {
  RandomCommands commands(seed);
  std::vector<std::string> records(count);
  for (std::string& record : records) record = commands.Next();
  return records;
}

std::vector<std::string> EntriesAfter(const std::vector<std::string>& records) {
  Engine engine(EngineOptions{});
  Effects effects;
  for (const std::string& record : records) {
    int64_t at_ms = 0;
    Command command;
    CHECK(DecodeRecord(record, &at_ms, &command));
    engine.Apply(at_ms, command, &effects);
  }
  return EntriesOf(engine);
}

// Any bytes are commands (command_source.h).
std::string RandomBytes(uint64_t seed, size_t size) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string SnapshotInput(const std::vector<std::string>& entries, uint64_t seed) {
  ByteSink sink;
  for (const std::string& entry : entries) sink.LongText(entry);
  return sink.Short(0).Bytes(RandomBytes(seed, 40)).bytes();
}

template <typename Entry>
std::string EntryOf(const Entry& entry) {
  std::string bytes(1, static_cast<char>(Entry::kType));
  protocol::Encode(entry, &bytes);
  return bytes;
}

// A room with more people to let in and a deleted one that is not freed yet, for which in a log
// there would be hundreds of people.
std::vector<std::string> Unfinished() {
  snapshot::Engine all{.now_ms = 1000,
                       .next_arrival = 9,
                       .next_admission = 9,
                       .next_memory = 9,
                       .next_room = 3,
                       .rooms = 2,
                       .visitors = 2,
                       .memories = 1,
                       .blocks = 1,
                       .token_keys = std::vector<snapshot::TokenKey>{{1, 5}, {4, 6}}};
  snapshot::Room room;
  room.name = "open";
  room.number = 1;
  room.revision = 2;
  room.settings = protocol::DefaultSettings();
  room.settings.rate = protocol::Rate{10, 1000};
  room.bucket_level = 1500;
  room.bucket_filled_at_ms = 900;
  room.bucket_due_ms = 1100;
  room.totals.resize(9, 4);
  room.admit_keys = {{"key", 3, 2, 5, 9000}};
  snapshot::Room gone = room;
  gone.name = "gone";
  gone.number = 2;
  gone.dropped = true;
  gone.bucket_due_ms.reset();
  const snapshot::Waiting waiting{"ann", 128, 1, 7, 800};
  const snapshot::Memory memory{"old", protocol::Reason::kCompleted, false, 128, 3, 4, 500, 5000,
                                1};
  snapshot::Inside inside{"bob", 0, 0, 8, 700, true, 8, 2000, true};
  return {EntryOf(all),
          EntryOf(room),
          EntryOf(waiting),
          EntryOf(memory),
          EntryOf(snapshot::Block{"out", 4000, 2}),
          EntryOf(gone),
          EntryOf(inside),
          EntryOf(snapshot::PumpPending{1}),
          EntryOf(snapshot::Dropped{2})};
}

// In the form of log_directory.h.
ByteSink& Header(ByteSink& sink, FileForm form, uint8_t flags = 0) {
  return sink.Byte(static_cast<uint8_t>(form) | flags).Byte(9).Byte(1).Byte(0).Byte(0);
}

ByteSink& Batch(ByteSink& sink, BatchForm form, const std::vector<std::string>& records = {}) {
  sink.Byte(static_cast<uint8_t>(form)).Byte(0);
  if (form == BatchForm::kRecords || form == BatchForm::kPatched) {
    sink.Byte(records.size());
    for (const std::string& record : records) sink.Text(record);
  }
  return sink;
}

// No more batches, no bytes after them, no damage.
ByteSink& End(ByteSink& sink) {
  return sink.Byte(0).Byte(0).Byte(0);
}

std::string ContentOf(const std::string& path) {
  std::ifstream file(SourcePath(path), std::ios::binary);
  CHECK(file.good());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::vector<Seed> RecordsSeeds() {
  // The first of each kind.
  std::vector<Seed> seeds;
  std::vector<bool> seen(256);
  for (const std::string& record : Records(3, 3000)) {
    const auto type = static_cast<uint8_t>(record[0]);
    if (seen[type]) continue;
    seen[type] = true;
    seeds.push_back({"type_" + std::to_string(type), record});
  }
  std::string record;
  EncodeRecord(5, command::RoomDelete{1}, &record);
  seeds.push_back({"type_" + std::to_string(record[0]), record});
  return seeds;
}

std::vector<Seed> EngineSeeds() {
  std::vector<Seed> seeds;
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    seeds.push_back({"random_" + std::to_string(seed), RandomBytes(seed, 200 * seed)});
  }
  return seeds;
}

std::vector<Seed> SnapshotSeeds() {
  return {{"empty", SnapshotInput(EntriesAfter({}), 1)},
          {"small", SnapshotInput(EntriesAfter(Records(4, 60)), 2)},
          {"larger", SnapshotInput(EntriesAfter(Records(5, 180)), 3)},
          {"unfinished", SnapshotInput(Unfinished(), 4)}};
}

std::vector<Seed> SnapshotFileSeeds() {
  const std::vector<std::string> entries = EntriesAfter(Records(4, 40));
  // What follows the byte of the form, which is here the target's own: sealed.
  ByteSink whole;
  Header(whole, FileForm::kSegment);
  Batch(whole, BatchForm::kRecords, entries);
  Batch(whole, BatchForm::kRecords, {"x", ""});
  End(Batch(whole, BatchForm::kEnd));
  ByteSink damaged;
  Header(damaged, FileForm::kSegment);
  Batch(damaged, BatchForm::kRecords, {"an entry"});
  Batch(damaged, BatchForm::kEnd).Byte(0).Byte(0).Byte(1).Short(530).Byte(4).Byte(0);
  ByteSink patched;
  Header(patched, FileForm::kSegment);
  Batch(patched, BatchForm::kPatched, {"an entry", "one more"}).Byte(1).Short(12).Byte(1).Byte(0);
  End(Batch(patched, BatchForm::kEnd));
  return {{"whole", whole.bytes()}, {"damaged", damaged.bytes()}, {"patched", patched.bytes()}};
}

std::vector<Seed> BackupSeeds() {
  // In the form of backup_fuzz.cc.
  std::vector<std::string> entries = EntriesAfter(Records(4, 40));
  entries.insert(entries.begin(), std::string(1, '\0') + "secret");
  ByteSink sealed;
  Header(sealed.Byte(1), FileForm::kSegment);
  Batch(sealed, BatchForm::kRecords, entries);
  End(Batch(sealed, BatchForm::kEnd));
  const auto made = [](uint64_t seed, uint8_t moves) {
    return ByteSink().Byte(0).Byte(moves).Byte(0).Byte(0).Bytes(RandomBytes(seed, 150));
  };
  return {{"sealed", sealed.bytes()}, {"made", made(1, 0).bytes()}, {"moved", made(2, 1).bytes()}};
}

std::vector<Seed> LogSeeds() {
  const std::vector<std::string> records = Records(6, 30);
  const std::vector<std::string> first(records.begin(), records.begin() + 20);
  const std::vector<std::string> second(records.begin() + 20, records.end());

  ByteSink stopped;
  Header(stopped, FileForm::kSegment);
  Batch(stopped, BatchForm::kRecords, first);
  End(Batch(stopped, BatchForm::kNext));
  Header(stopped, FileForm::kSegment);
  Batch(stopped, BatchForm::kRecords, second);
  End(Batch(stopped, BatchForm::kEnd));
  stopped.Byte(static_cast<uint8_t>(FileForm::kRawSegment)).LongText(std::string(1, '\0'));

  ByteSink torn;
  Header(torn, FileForm::kSegment, kCutShort);
  Batch(torn, BatchForm::kRecords, second).Byte(0).Text("half a batch").Byte(0);

  ByteSink patched;
  Header(patched, FileForm::kSegment);
  Batch(patched, BatchForm::kPatched, second).Byte(1).Short(0).Byte(1).Byte(0);
  End(Batch(patched, BatchForm::kEnd));

  ByteSink from_snapshot;
  Header(from_snapshot, FileForm::kSnapshot);
  Batch(from_snapshot, BatchForm::kRecords, EntriesAfter(first));
  End(Batch(from_snapshot, BatchForm::kEnd));
  Header(from_snapshot, FileForm::kSegment);
  End(Batch(from_snapshot, BatchForm::kRecords, second));

  ByteSink golden;
  for (const char* const name : {"00000001.log", "00000002.log"}) {
    std::string bytes = ContentOf("tests/data/log-format-1/" + std::string(name));
    bytes.resize(bytes.find_last_not_of('\0') + 1);
    golden.Byte(static_cast<uint8_t>(FileForm::kRawSegment)).LongText(bytes);
  }
  return {{"stopped", stopped.bytes()},
          {"torn", torn.bytes()},
          {"patched", patched.bytes()},
          {"from_snapshot", from_snapshot.bytes()},
          {"golden", golden.bytes()}};
}

}  // namespace anteroom::fuzz
