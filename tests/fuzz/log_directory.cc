#include "tests/fuzz/log_directory.h"

#include <utility>

#include "server/base/check.h"
#include "server/storage/files.h"
#include "server/storage/log_format.h"

namespace anteroom::fuzz {

using storage::BatchType;
using storage::SnapshotKind;

namespace {

// Makes one file after another, each going on where the one before ended.
class DirectoryMaker {
 public:
  explicit DirectoryMaker(ByteSource* source, SnapshotKind snapshot_kind = SnapshotKind::kSnapshot)
      : source_(*source), snapshot_kind_(snapshot_kind) {}

  std::string File(FileForm form, bool cut_short);
  uint32_t number() const { return number_; }
  void set_number(uint32_t number) { number_ = number; }

 private:
  std::string Sealed(bool snapshot, bool cut_short);
  // False when the input says that there is none.
  bool AddBatch(bool snapshot, const storage::SegmentHeader& header, std::string* file);

  // Changes bytes from this place on, as the input says.
  void Damage(size_t from, std::string* bytes);

  ByteSource& source_;
  const SnapshotKind snapshot_kind_;
  uint32_t number_ = 1;
  uint64_t next_record_ = 1;
  uint64_t next_entry_ = 1;
};

std::string DirectoryMaker::File(FileForm form, bool cut_short) {
  switch (form) {
    case FileForm::kSegment:
      return Sealed(false, cut_short);
    case FileForm::kSnapshot:
      return Sealed(true, cut_short);
    default: {
      std::string file(source_.LongText());
      // Zeros at the end need not be said.
      constexpr size_t kMultiple = storage::kSegmentBytesMultiple;
      if (!cut_short) file.resize((file.size() + kMultiple - 1) / kMultiple * kMultiple);
      return file;
    }
  }
}

std::string DirectoryMaker::Sealed(bool snapshot, bool cut_short) {
  storage::SegmentHeader header;
  header.salt = source_.Byte();
  header.segment_number = number_;
  header.kind = source_.Flag() ? storage::DirectoryKind::kTest : storage::DirectoryKind::kReal;
  header.segment_bytes = (1 + source_.Below(4)) * storage::kSegmentBytesMultiple;
  if (snapshot) next_record_ += 7;
  header.first_sequence = next_record_ + source_.Byte();
  header.log_id = 1;
  std::string file(storage::kSegmentHeaderBytes, '\0');
  next_entry_ = 1;
  while (AddBatch(snapshot, header, &file)) {
  }
  file += source_.Text();
  if (snapshot) {
    header.segment_bytes = file.size();
    file.replace(0, storage::kSegmentHeaderBytes, EncodeSnapshotHeader(header, snapshot_kind_));
  } else {
    if (!cut_short && file.size() < header.segment_bytes) file.resize(header.segment_bytes);
    file.replace(0, storage::kSegmentHeaderBytes, EncodeSegmentHeader(header));
  }
  Damage(0, &file);
  return file;
}

void DirectoryMaker::Damage(size_t from, std::string* bytes) {
  while (source_.Flag()) {
    const size_t at = from + source_.Short();
    const uint8_t damage = source_.Byte();
    if (at < bytes->size()) (*bytes)[at] = static_cast<char>((*bytes)[at] ^ damage);
  }
}

bool DirectoryMaker::AddBatch(bool snapshot, const storage::SegmentHeader& header,
                              std::string* file) {
  const auto form = static_cast<BatchForm>(source_.Byte());
  if (form < BatchForm::kRecords || form > BatchForm::kPatched) return false;
  const uint64_t before = snapshot ? next_entry_ : next_record_;
  const uint64_t first = before + source_.Byte();
  std::string batch(storage::kBatchHeaderBytes, '\0');
  BatchType type = BatchType::kRecords;
  uint64_t count = 0;
  switch (form) {
    case BatchForm::kRecords:
    case BatchForm::kPatched:
      type = snapshot ? BatchType::kEntries : BatchType::kRecords;
      count = source_.Byte();
      for (uint64_t left = count; left > 0 && !source_.empty(); --left) {
        storage::AppendRecord(source_.Text(), &batch);
      }
      if (form == BatchForm::kPatched) Damage(storage::kBatchHeaderBytes, &batch);
      break;
    case BatchForm::kEnd:
      type = BatchType::kEnd;
      batch += storage::EncodeEndPayload(header.mark);
      break;
    case BatchForm::kNext:
      type = BatchType::kNext;
      batch += storage::EncodeNumberPayload(storage::kSegmentBytesMin);
      break;
    case BatchForm::kMoved:
      type = BatchType::kMoved;
      batch += storage::EncodeNumberPayload(source_.Byte());
      break;
    case BatchForm::kRaw:
      type = static_cast<BatchType>(source_.Byte());
      count = source_.Byte();
      batch += source_.LongText();
      break;
  }
  storage::SealBatch(batch, type, first, static_cast<uint32_t>(count), header.salt);
  *file += batch;
  (snapshot ? next_entry_ : next_record_) += count;
  return true;
}

}  // namespace

void MakeLogDirectory(ByteSource* source, storage::MemoryFiles* files) {
  CHECK(files->MakeDirectory(kLogDirectory).ok());
  DirectoryMaker maker(source);
  for (int i = 0; i < kFilesMax && !source->empty(); ++i) {
    const uint8_t byte = source->Byte();
    const auto form = static_cast<FileForm>(byte & 3);
    if ((byte & kSkipsNumber) != 0) maker.set_number(maker.number() + 1);
    const bool snapshot = form == FileForm::kSnapshot || form == FileForm::kRawSnapshot;
    const std::string name = snapshot ? storage::SnapshotFileName(maker.number())
                                      : storage::SegmentFileName(maker.number());
    std::string file = maker.File(form, (byte & kCutShort) != 0);
    files->SetContent(storage::JoinPath(kLogDirectory, name), std::move(file));
    if (!snapshot) maker.set_number(maker.number() + 1);
  }
}

std::string MakeSnapshotFile(ByteSource* source, SnapshotKind kind) {
  return DirectoryMaker(source, kind).File(FileForm::kSnapshot, false);
}

}  // namespace anteroom::fuzz
