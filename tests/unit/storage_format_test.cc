// The bytes of a segment: those of the page, those of the program, and every refusal of a header.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "server/storage/log_format.h"
#include "tests/support/log_harness.h"
#include "tests/support/memory_files.h"

namespace anteroom::storage {
namespace {

// The example of FORMAT.md: lines of an offset and 16 bytes, what is left out is zero.
std::string ExampleOnThePage() {
  const char* source = std::getenv("ANTEROOM_SOURCE_DIR");
  std::ifstream page(std::string(source != nullptr ? source : ".") + "/server/storage/FORMAT.md");
  REQUIRE_MESSAGE(
      page.is_open(),
      "FORMAT.md is read from the source folder: run there, or set ANTEROOM_SOURCE_DIR");
  std::string segment(kSegmentBytesMin, '\0');
  std::string line;
  bool inside = false;
  int lines = 0;
  while (std::getline(page, line)) {
    if (line == "```hex") {
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      std::istringstream words(line);
      size_t offset = 0;
      words >> std::hex >> offset;
      for (size_t i = 0; i < 16; ++i) {
        unsigned byte = 256;
        words >> std::hex >> byte;
        REQUIRE(byte < 256);
        segment.at(offset + i) = static_cast<char>(byte);
      }
      ++lines;
    }
  }
  REQUIRE(lines > 10);
  return segment;
}

TEST_CASE("the page's example is read as it says") {
  MemoryFiles disk(1);
  disk.SetContent("data/00000001.log", ExampleOnThePage());
  class Expecting : public LogVisitor {
   public:
    absl::Status Record(uint64_t sequence, std::string_view bytes) override {
      records.push_back(std::to_string(sequence) + " " + std::string(bytes));
      return absl::OkStatus();
    }
    absl::Status Mark(MarkPlace, uint64_t, const EngineMark& mark) override {
      marks.push_back(mark);
      return absl::OkStatus();
    }
    std::vector<std::string> records;
    std::vector<EngineMark> marks;
  };
  Expecting visitor;
  const auto log = RecoverLog(disk, "data", {}, visitor);
  REQUIRE(log.ok());
  REQUIRE(visitor.records == std::vector<std::string>{"1 first", "2 second record"});
  REQUIRE(visitor.marks == std::vector<EngineMark>{{0, 0, 0}, {5, 6, 1500}});
  REQUIRE(log->clean_stop);
  REQUIRE(!log->torn_end.has_value());
  REQUIRE(log->next_sequence == 3);
  REQUIRE(log->batch_count == 2);
  REQUIRE(log->end_offset_bytes == 0x278);
  REQUIRE(log->last_header.salt == 0x0123456789abcdef);
  REQUIRE(log->last_header.log_id == 0x1122334455667788);
  REQUIRE(log->last_header.segment_bytes == 4096);
}

TEST_CASE("the page's example is what the program writes") {
  MemoryFiles disk(1);
  REQUIRE(disk.MakeDirectory("data").ok());
  LogOptions options;
  options.segment_bytes = kSegmentBytesMin;
  int calls = 0;
  options.random = [&calls] {
    return calls++ == 0 ? 0x0123456789abcdefull : 0x1122334455667788ull;
  };
  auto writer = LogWriter::Open(disk, "data", RecoveredLog(), options);
  REQUIRE(writer.ok());
  BatchBuilder builder(1, (*writer)->frame_payload_bytes_max());
  builder.Stage(EngineMark(), "first");
  builder.Stage(EngineMark(), "second record");
  Batch batch = builder.Seal();
  REQUIRE((*writer)->Write(batch).ok());
  REQUIRE((*writer)->WriteEnd({5, 6, 1500}).ok());
  REQUIRE(disk.Content("data/00000001.log") == ExampleOnThePage());
}

TEST_CASE("names of segments") {
  REQUIRE(SegmentFileName(1) == "00000001.log");
  REQUIRE(SegmentFileName(kSegmentNumberMax) == "99999999.log");
  REQUIRE(ParseSegmentFileName("00000042.log") == 42u);
  for (const char* name : {"", "1.log", "00000001.snap", "0000000a.log", "000000001.log",
                           "00000001.log.tmp", "00000001.LOG", "-0000001.log"}) {
    REQUIRE(!ParseSegmentFileName(name).has_value());
  }
}

TEST_CASE("a header comes back whole") {
  SegmentHeader header;
  header.salt = 0xfedcba9876543210;
  header.segment_number = 77;
  header.kind = DirectoryKind::kTest;
  header.segment_bytes = 1u << 20;
  header.first_sequence = 1'000'000'000'000;
  header.mark = {1, ~uint64_t{0}, -5};
  header.epoch = 3;
  header.log_id = 4;
  header.token_key_id = 5;
  const std::string bytes = EncodeSegmentHeader(header);
  REQUIRE(bytes.size() == kSegmentHeaderBytes);
  const auto back = DecodeSegmentHeader(bytes, "x");
  REQUIRE(back.ok());
  REQUIRE(EncodeSegmentHeader(*back) == bytes);
  REQUIRE(back->mark == header.mark);
  REQUIRE(back->kind == header.kind);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const absl::Status status = DecodeSegmentHeader(flipped, "x").status();
    const bool version = bit / 8 >= 8 && bit / 8 < 12 && bit != 64;
    REQUIRE(KindOf(status) == (version ? FailureKind::kNewerFormat : FailureKind::kDamaged));
  }
}

TEST_CASE("a header with a sound checksum and a field out of range is damage") {
  SegmentHeader good;
  good.segment_number = 1;
  good.segment_bytes = kSegmentBytesMin;
  REQUIRE(DecodeSegmentHeader(EncodeSegmentHeader(good), "x").ok());
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{2048}, kSegmentBytesMin + 512,
                               kSegmentBytesMax + 4096, ~uint64_t{0} - 4095}) {
    SegmentHeader header = good;
    header.segment_bytes = bytes;
    REQUIRE(KindOf(DecodeSegmentHeader(EncodeSegmentHeader(header), "x").status()) ==
            FailureKind::kDamaged);
  }
  SegmentHeader header = good;
  header.kind = static_cast<DirectoryKind>(2);
  REQUIRE(KindOf(DecodeSegmentHeader(EncodeSegmentHeader(header), "x").status()) ==
          FailureKind::kDamaged);
}

TEST_CASE("batches of every size come back, and none is read past its end") {
  const uint64_t salt = 0x1111222233334444;
  for (size_t bytes = 0; bytes < 300; ++bytes) {
    std::string batch(kBatchHeaderBytes, '\0');
    batch += std::string(bytes, 'p');
    SealBatch(batch, BatchType::kRecords, 9, 1, salt);
    REQUIRE(batch.size() % kBatchAlignmentBytes == 0);
    const auto parsed = ParseBatch(batch, salt);
    REQUIRE(parsed.has_value());
    REQUIRE(parsed->payload == std::string(bytes, 'p'));
    REQUIRE(parsed->size_bytes == batch.size());
    REQUIRE(!ParseBatch(batch, salt + 1).has_value());
    if (batch.size() > kBatchHeaderBytes) {
      REQUIRE(!ParseBatch(std::string_view(batch).substr(0, batch.size() - 1), salt).has_value());
    }
  }
}

TEST_CASE("all zero or not") {
  std::string bytes(1000, '\0');
  REQUIRE(IsAllZero(""));
  REQUIRE(IsAllZero(bytes));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = 1;
    REQUIRE(!IsAllZero(bytes));
    bytes[i] = 0;
  }
}

}  // namespace
}  // namespace anteroom::storage
