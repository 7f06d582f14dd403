// One small test per corruption: what may be cut off is cut off and said, everything else is
// refused with file and offset, and no file is touched.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/storage/log_format.h"
#include "tests/support/log_harness.h"
#include "tests/support/memory_files.h"
#include "tests/support/seed.h"

namespace anteroom::storage {
namespace {

constexpr char kFirst[] = "data/00000001.log";
constexpr char kSecond[] = "data/00000002.log";
constexpr char kThird[] = "data/00000003.log";

std::string Record(int number, size_t bytes = 40) {
  std::string record = "record " + std::to_string(number) + " ";
  record.resize(bytes, static_cast<char>('a' + number % 26));
  return record;
}

// Where each batch of a segment begins, found by walking it.
std::vector<size_t> BatchOffsets(const std::string& segment) {
  const auto header = DecodeSegmentHeader(segment.substr(0, kSegmentHeaderBytes), "segment");
  REQUIRE(header.ok());
  std::vector<size_t> offsets;
  for (size_t at = kSegmentHeaderBytes; at < segment.size();) {
    const auto batch = ParseBatch(std::string_view(segment).substr(at), header->salt);
    if (!batch.has_value()) break;
    offsets.push_back(at);
    at += batch->size_bytes;
  }
  return offsets;
}

uint64_t SaltOf(const std::string& segment) {
  return DecodeSegmentHeader(segment.substr(0, kSegmentHeaderBytes), "segment")->salt;
}

// One segment of five batches of two records.
void WriteOneSegment(MemoryFiles& disk, bool clean) {
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  for (int i = 0; i < 10; i += 2) REQUIRE(daemon.Append({Record(i), Record(i + 1)}).ok());
  if (clean) REQUIRE(daemon.Stop().ok());
}

// Two full segments, a third in use, and a spare.
void WriteManySegments(MemoryFiles& disk, bool clean) {
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  for (int i = 0; i < 6; ++i) REQUIRE(daemon.Append({Record(i, 1200), Record(100 + i)}).ok());
  REQUIRE(daemon.writer->PrepareNext().ok());
  if (clean) REQUIRE(daemon.Stop().ok());
  REQUIRE(disk.Exists("data/00000004.log"));
  REQUIRE(!disk.Exists("data/00000005.log"));
}

absl::Status InspectStatus(MemoryFiles& disk) {
  Replay replay;
  return Inspect(disk, replay).status();
}

// Refused as damage, at this place, by the reader and by the daemon, which touches nothing.
void RequireDamaged(MemoryFiles& disk, const std::string& file, size_t offset) {
  disk.KillProcess();
  const absl::Status status = InspectStatus(disk);
  CAPTURE(status.ToString());
  REQUIRE(KindOf(status) == FailureKind::kDamaged);
  const std::string place = file + " at byte " + std::to_string(offset) + ":";
  CAPTURE(place);
  REQUIRE(std::string(status.message()).find(place) != std::string::npos);
  const uint64_t changes = disk.changes();
  Replay replay;
  const auto mended = RecoverLog(disk, "data", {RecoveryMode::kMend, {}}, replay);
  REQUIRE(mended.status() == status);
  REQUIRE(disk.changes() == changes);
}

TEST_CASE("an empty directory is an empty log, a missing one is an error") {
  MemoryFiles disk(1);
  REQUIRE(KindOf(InspectStatus(disk)) == FailureKind::kNotFound);
  REQUIRE(disk.MakeDirectory("data").ok());
  Replay replay;
  const auto log = Inspect(disk, replay);
  REQUIRE(log.ok());
  REQUIRE(log->empty);
  REQUIRE(log->next_sequence == 1);
}

TEST_CASE("what was written comes back, over segments and restarts") {
  MemoryFiles disk(1);
  std::vector<std::string> written;
  for (int run = 0; run < 5; ++run) {
    disk.KillProcess();
    TestDaemon daemon;
    REQUIRE(daemon.Start(disk).ok());
    REQUIRE(daemon.replay.records == written);
    REQUIRE(daemon.log.clean_stop == (run == 1 || run == 3));
    REQUIRE(!daemon.log.torn_end.has_value());
    for (int i = 0; i < 50; ++i) {
      written.push_back(Record(run * 100 + i, 7 * static_cast<size_t>(i)));
      REQUIRE(daemon.Append({written.back()}).ok());
    }
    if (run % 2 == 0) REQUIRE(daemon.Stop().ok());
  }
  Replay replay;
  const auto log = Inspect(disk, replay);
  REQUIRE(log.ok());
  REQUIRE(log->clean_stop);
  REQUIRE(log->record_count == 250);
  REQUIRE(log->next_sequence == 251);
  REQUIRE(log->segment_count > 5);
  REQUIRE(replay.segment_marks == static_cast<int>(log->segment_count));
  REQUIRE(replay.stop_marks == 3);
}

TEST_CASE("every flipped bit is refused with its place, or cut off the last batch and said") {
  for (const bool clean : {false, true}) {
    MemoryFiles disk(1);
    WriteManySegments(disk, clean);
    disk.KillProcess();
    Replay whole;
    REQUIRE(Inspect(disk, whole).ok());
    // What one batch may lose: the last one's two records, when no end record follows it.
    const size_t least = whole.records.size() - (clean ? 0 : 2);
    const size_t last_batch = BatchOffsets(disk.Content(kThird)).back();
    for (int number = 1; number <= 4; ++number) {
      const std::string name = "0000000" + std::to_string(number) + ".log";
      const std::string path = "data/" + name;
      const std::string content = disk.Content(path);
      // 29 and 8 have no common divisor: the sample meets every place within a byte.
      for (size_t bit = 0; bit < content.size() * 8; bit += kSampled ? 29 : 1) {
        std::string flipped = content;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        disk.SetContent(path, std::move(flipped));
        CAPTURE(name);
        CAPTURE(bit);
        Replay replay;
        const auto log = Inspect(disk, replay);
        if (!log.ok()) {
          const std::string message(log.status().message());
          CAPTURE(message);
          const bool newer = KindOf(log.status()) == FailureKind::kNewerFormat;
          REQUIRE((newer || KindOf(log.status()) == FailureKind::kDamaged));
          REQUIRE(message.find(".log") != std::string::npos);
          REQUIRE((newer || message.find(" at byte ") != std::string::npos));
          // Only in the last segment in use is anything ever cut off.
          REQUIRE((number != 3 || bit / 8 < last_batch));
        } else {
          REQUIRE(number == 3);
          REQUIRE(bit / 8 >= last_batch);
          REQUIRE(log->torn_end.has_value());
          REQUIRE(log->torn_end->file == name);
          REQUIRE(!log->clean_stop);
          REQUIRE(replay.records.size() >= least);
          REQUIRE(std::equal(replay.records.begin(), replay.records.end(), whole.records.begin()));
        }
      }
      disk.SetContent(path, content);
    }
  }
}

TEST_CASE("every truncation gives a prefix that is said, or is refused") {
  MemoryFiles disk(1);
  WriteManySegments(disk, false);
  disk.KillProcess();
  Replay whole;
  REQUIRE(Inspect(disk, whole).ok());
  const std::vector<size_t> offsets = BatchOffsets(disk.Content(kThird));
  const size_t last_batch = offsets.back();
  for (int number = 1; number <= 4; ++number) {
    const std::string path = "data/0000000" + std::to_string(number) + ".log";
    const std::string content = disk.Content(path);
    for (size_t bytes = 0; bytes < content.size(); bytes += kSampled ? 3 : 1) {
      disk.SetContent(path, content.substr(0, bytes));
      CAPTURE(path);
      CAPTURE(bytes);
      Replay replay;
      const auto log = Inspect(disk, replay);
      if (number < 3) {
        REQUIRE(KindOf(log.status()) == FailureKind::kDamaged);
      } else if (number == 4) {
        // A spare that was being reserved.
        REQUIRE(log.ok());
        REQUIRE(replay.records == whole.records);
      } else if (bytes >= last_batch) {
        REQUIRE(log.ok());
        REQUIRE(log->torn_end.has_value());
        REQUIRE(replay.records.size() >= whole.records.size() - 2);
        REQUIRE(std::equal(replay.records.begin(), replay.records.end(), whole.records.begin()));
      } else if (bytes == 0) {
        // The segment before it was closed, which it never is before this one has its full size.
        REQUIRE(KindOf(log.status()) == FailureKind::kDamaged);
      }
    }
    disk.SetContent(path, content);
  }
}

TEST_CASE("a torn end is zeroed, synced and appended over") {
  MemoryFiles disk(1);
  WriteOneSegment(disk, false);
  std::string content = disk.Content(kFirst);
  const std::vector<size_t> offsets = BatchOffsets(content);
  content[offsets[4] + 50] ^= 1;
  disk.SetContent(kFirst, content);
  disk.KillProcess();
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.replay.records.size() == 8);
  REQUIRE(daemon.log.torn_end.has_value());
  REQUIRE(ToText(*daemon.log.torn_end) ==
          "torn end: 00000001.log at byte " + std::to_string(offsets[4]) + ", 120 bytes cut off");
  daemon.writer->check_invariants();
  disk.LosePower(Unsynced::kDropped);
  REQUIRE(IsAllZero(disk.Content(kFirst).substr(offsets[4])));
  TestDaemon next;
  REQUIRE(next.Start(disk).ok());
  REQUIRE(!next.log.torn_end.has_value());
  REQUIRE(next.Append({Record(77)}).ok());
  Replay replay;
  REQUIRE(Inspect(disk, replay).ok());
  REQUIRE(replay.records.size() == 9);
}

TEST_CASE("a file cut short is restored to its size") {
  MemoryFiles disk(1);
  WriteOneSegment(disk, true);
  disk.SetContent(kFirst, disk.Content(kFirst).substr(0, 2000));
  disk.KillProcess();
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.replay.records.size() == 10);
  REQUIRE(daemon.log.clean_stop);
  REQUIRE(ToText(*daemon.log.torn_end).find("cut short") != std::string::npos);
  REQUIRE(disk.Content(kFirst).size() == kSegmentBytesMin);
}

TEST_CASE("a batch repeated, missing, or in another's place is refused") {
  MemoryFiles disk(1);
  WriteOneSegment(disk, false);
  std::string content = disk.Content(kFirst);
  const std::vector<size_t> offsets = BatchOffsets(content);
  const size_t size = offsets[1] - offsets[0];
  SUBCASE("repeated at the end") {
    content.replace(offsets[4] + size, size, content, offsets[4], size);
    disk.SetContent(kFirst, content);
    RequireDamaged(disk, "00000001.log", offsets[4] + size);
  }
  SUBCASE("repeated over another") {
    content.replace(offsets[2], size, content.substr(offsets[1], size));
    disk.SetContent(kFirst, content);
    RequireDamaged(disk, "00000001.log", offsets[2]);
  }
  SUBCASE("missing, the later ones moved up") {
    content.erase(offsets[2], size).append(size, '\0');
    disk.SetContent(kFirst, content);
    RequireDamaged(disk, "00000001.log", offsets[2]);
  }
  SUBCASE("missing, zeros in its place") {
    content.replace(offsets[2], size, size, '\0');
    disk.SetContent(kFirst, content);
    RequireDamaged(disk, "00000001.log", offsets[2]);
  }
  SUBCASE("two exchanged") {
    const std::string second = content.substr(offsets[1], size);
    content.replace(offsets[1], size, content.substr(offsets[3], size));
    content.replace(offsets[3], size, second);
    disk.SetContent(kFirst, content);
    RequireDamaged(disk, "00000001.log", offsets[1]);
  }
}

TEST_CASE("a segment repeated, missing, exchanged or of another log is refused") {
  MemoryFiles disk(1);
  WriteManySegments(disk, false);
  const std::string second = disk.Content(kSecond);
  const std::string third = disk.Content(kThird);
  SUBCASE("repeated in another's place") {
    disk.SetContent(kThird, second);
    RequireDamaged(disk, "00000003.log", 0);
  }
  SUBCASE("repeated in the spare's place") {
    disk.SetContent("data/00000004.log", third);
    const size_t last = BatchOffsets(third).back();
    const auto batch = ParseBatch(std::string_view(third).substr(last), SaltOf(third));
    RequireDamaged(disk, "00000003.log", last + batch->size_bytes);
  }
  SUBCASE("the first missing") {
    disk.Delete(kFirst);
    RequireDamaged(disk, "00000001.log", 0);
  }
  SUBCASE("one in the middle missing") {
    disk.Delete(kSecond);
    RequireDamaged(disk, "00000002.log", 0);
  }
  SUBCASE("the last in use missing") {
    disk.Delete(kThird);
    RequireDamaged(disk, "00000003.log", 0);
  }
  SUBCASE("the last in use and the spare missing") {
    disk.Delete(kThird);
    disk.Delete("data/00000004.log");
    RequireDamaged(disk, "00000003.log", 0);
  }
  SUBCASE("exchanged") {
    disk.SetContent(kSecond, third);
    disk.SetContent(kThird, second);
    RequireDamaged(disk, "00000002.log", 0);
  }
  SUBCASE("of another log") {
    MemoryFiles other(1);
    TestDaemon daemon;
    REQUIRE(daemon.Start(other, SmallLog(99)).ok());
    for (int i = 0; i < 6; ++i) REQUIRE(daemon.Append({Record(i, 1200), Record(100 + i)}).ok());
    disk.SetContent(kThird, other.Content(kThird));
    RequireDamaged(disk, "00000003.log", 0);
  }
  SUBCASE("emptied") {
    disk.SetContent(kSecond, std::string(second.size(), '\0'));
    RequireDamaged(disk, "00000002.log", 0);
  }
  SUBCASE("the first emptied, alone") {
    for (const char* path : {kSecond, kThird, "data/00000004.log"}) disk.Delete(path);
    disk.SetContent(kFirst, "");
    RequireDamaged(disk, "00000001.log", 0);
  }
  SUBCASE("longer than its header says") {
    disk.SetContent(kThird, third + std::string(4096, '\0'));
    RequireDamaged(disk, "00000003.log", 0);
  }
}

TEST_CASE("after an end record, damage of the last batch is refused") {
  MemoryFiles disk(1);
  WriteOneSegment(disk, true);
  std::string content = disk.Content(kFirst);
  const size_t last = BatchOffsets(content)[4];
  content[last + 40] ^= 4;
  disk.SetContent(kFirst, content);
  RequireDamaged(disk, "00000001.log", last);
}

TEST_CASE("lengths near the integer's end are refused without being believed") {
  MemoryFiles disk(1);
  WriteOneSegment(disk, false);
  const std::string content = disk.Content(kFirst);
  const size_t second = BatchOffsets(content)[1];
  for (const uint32_t length : {0xffffffffu, 0xfffffff8u, 0x80000000u, kBatchPayloadBytesMax}) {
    std::string changed = content;
    changed.replace(second + 28, 4, std::string(reinterpret_cast<const char*>(&length), 4));
    disk.SetContent(kFirst, changed);
    RequireDamaged(disk, "00000001.log", second);
  }
}

TEST_CASE("a forged batch within a record is never taken for a later one") {
  MemoryFiles disk(1);
  TestDaemon daemon;
  REQUIRE(daemon.Start(disk).ok());
  REQUIRE(daemon.Append({Record(1)}).ok());
  // As if a visitor's id were a whole batch, at every alignment, made with a guessed salt.
  std::string forged(kBatchHeaderBytes, '\0');
  forged += std::string("\4\0\0\0evil", 8);
  SealBatch(forged, BatchType::kRecords, 3, 1, 0x1234567812345678);
  std::string record;
  for (int i = 0; i < 16; ++i) record += forged + std::string(static_cast<size_t>(i), 'x');
  REQUIRE(daemon.Append({record}).ok());
  std::string content = disk.Content(kFirst);
  const size_t last = BatchOffsets(content).back();
  content[last + 33] ^= 1;
  disk.SetContent(kFirst, content);
  daemon.directory.reset();  // it has stopped
  Replay replay;
  const auto log = Inspect(disk, replay);
  REQUIRE(log.ok());
  REQUIRE(log->torn_end.has_value());
  REQUIRE(replay.records.size() == 1);

  // The same bytes with the right salt are what a later batch looks like: the test can fail.
  std::string real(kBatchHeaderBytes, '\0');
  real += std::string("\4\0\0\0evil", 8);
  SealBatch(real, BatchType::kRecords, 3, 1, SaltOf(content));
  content.replace(last + 64, real.size(), real);
  disk.SetContent(kFirst, content);
  RequireDamaged(disk, "00000001.log", last);
}

TEST_CASE("a sound checksum over a malformed batch is damage, never a torn end") {
  const auto with_batch = [](BatchType type, uint32_t count, const std::string& payload) {
    auto disk = std::make_unique<MemoryFiles>(1);
    WriteOneSegment(*disk, false);
    std::string content = disk->Content(kFirst);
    const std::vector<size_t> offsets = BatchOffsets(content);
    const size_t end = offsets[4] + (offsets[1] - offsets[0]);
    std::string batch(kBatchHeaderBytes, '\0');
    batch += payload;
    SealBatch(batch, type, 11, count, SaltOf(content));
    content.replace(end, batch.size(), batch);
    disk->SetContent(kFirst, content);
    RequireDamaged(*disk, "00000001.log", end);
  };
  with_batch(BatchType::kRecords, 0, "");
  with_batch(BatchType::kRecords, 1, "abc");
  with_batch(BatchType::kRecords, 2, std::string("\1\0\0\0a", 5));
  with_batch(BatchType::kRecords, 1, std::string("\1\0\0\0ab", 6));
  with_batch(BatchType::kRecords, 1, std::string("\xff\xff\xff\xff", 4));
  with_batch(BatchType::kEnd, 0, "short");
  with_batch(BatchType::kNext, 0, "short");
  with_batch(static_cast<BatchType>(9), 0, "");
}

TEST_CASE("a newer format is refused with both versions named") {
  MemoryFiles disk(1);
  WriteOneSegment(disk, true);
  std::string content = disk.Content(kFirst);
  content[8] = 2;
  disk.SetContent(kFirst, content);
  disk.KillProcess();
  TestDaemon daemon;
  const absl::Status status = daemon.Start(disk);
  REQUIRE(KindOf(status) == FailureKind::kNewerFormat);
  REQUIRE(status.message() == "00000001.log has format version 2, this program reads up to 1");
  REQUIRE(disk.Content(kFirst) == content);
}

TEST_CASE("a test's directory and a real one are not mistaken for each other") {
  for (const DirectoryKind kind : {DirectoryKind::kReal, DirectoryKind::kTest}) {
    MemoryFiles disk(1);
    LogOptions options = SmallLog();
    options.kind = kind;
    {
      TestDaemon daemon;
      REQUIRE(daemon.Start(disk, options).ok());
      for (int i = 0; i < 6; ++i) REQUIRE(daemon.Append({Record(i, 1200)}).ok());
    }
    options.kind = kind == DirectoryKind::kReal ? DirectoryKind::kTest : DirectoryKind::kReal;
    TestDaemon other;
    REQUIRE(KindOf(other.Start(disk, options)) == FailureKind::kWrongKind);
    disk.KillProcess();
    options.kind = kind;
    TestDaemon same;
    REQUIRE(same.Start(disk, options).ok());
    REQUIRE(same.log.last_header.kind == kind);
  }
}

TEST_CASE("a visitor's refusal stops the reading and names the place") {
  class Refusing : public LogVisitor {
   public:
    absl::Status Record(uint64_t sequence, std::string_view) override {
      return sequence == 3 ? absl::DataLossError("no such command") : absl::OkStatus();
    }
    absl::Status Mark(MarkPlace, uint64_t, const EngineMark&) override { return absl::OkStatus(); }
  };
  MemoryFiles disk(1);
  WriteOneSegment(disk, true);
  Refusing refusing;
  const auto log = RecoverLog(disk, "data", {}, refusing);
  REQUIRE(absl::IsDataLoss(log.status()));
  REQUIRE(log.status().message() == "00000001.log at byte " +
                                        std::to_string(BatchOffsets(disk.Content(kFirst))[1]) +
                                        ": no such command");
}

TEST_CASE("a read error is an error, not an empty log") {
  MemoryFiles disk(1);
  WriteManySegments(disk, true);
  disk.KillProcess();
  for (uint64_t skipped = 0; skipped < 7; ++skipped) {
    disk.Fail(Call::kRead, 5, skipped);
    const absl::Status status = InspectStatus(disk);
    REQUIRE(KindOf(status) == FailureKind::kIo);
    REQUIRE(ErrnoOf(status) == 5);
    disk.ClearFaults();
  }
}

}  // namespace
}  // namespace anteroom::storage
