// Files of a data directory out of a fuzzer's input. A checksum cannot be guessed, so the input
// says what stands in headers and batches, and they are sealed here; then bytes are damaged, and
// whole files may be given as they are.
//
//   directory = file*
//   file      = 1 byte FileForm | 4 x is the number skipped | 8 x is it cut short,
//               raw: long text; otherwise header, batch*, a byte that is no batch,
//               text after the last batch, damage
//   header    = 1 byte salt, 1 byte kind, 1 byte size, 1 byte too many of the first sequence
//   batch     = 1 byte BatchForm, 1 byte too many of the sequence, then
//               records: 1 byte how many, text each; raw: 1 byte type, 1 byte count, long text;
//               moved: 1 byte epoch; patched: as records, then damage to them before they are
//               sealed
//   damage    = 1 byte; when odd, 2 bytes offset, 1 byte to xor with
//
// Every file leads to the next one unless the input says otherwise.
#ifndef ANTEROOM_TESTS_FUZZ_LOG_DIRECTORY_H_
#define ANTEROOM_TESTS_FUZZ_LOG_DIRECTORY_H_

#include <cstdint>
#include <string>

#include "server/storage/log_format.h"
#include "tests/fuzz/byte_source.h"
#include "tests/support/memory_files.h"

namespace anteroom::fuzz {

inline constexpr char kLogDirectory[] = "data";

enum class FileForm : uint8_t { kSegment = 0, kSnapshot = 1, kRawSegment = 2, kRawSnapshot = 3 };
inline constexpr uint8_t kSkipsNumber = 4;
inline constexpr uint8_t kCutShort = 8;

// Any other byte ends the batches.
enum class BatchForm : uint8_t {
  kRecords = 1,
  kEnd = 2,
  kNext = 3,
  kRaw = 4,
  kMoved = 5,
  kPatched = 6
};

// All that the input says, at most kFilesMax files.
void MakeLogDirectory(ByteSource* source, storage::MemoryFiles* files);

// The bytes of one snapshot or backup, in the form of a file after its first byte; it leads to
// segment 1.
std::string MakeSnapshotFile(ByteSource* source, storage::SnapshotKind kind);

inline constexpr int kFilesMax = 6;

}  // namespace anteroom::fuzz

#endif  // ANTEROOM_TESTS_FUZZ_LOG_DIRECTORY_H_
