#include "tests/support/memory_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "server/base/check.h"
#include "server/storage/storage_status.h"

namespace anteroom::storage {
namespace {

constexpr size_t kSectorBytes = 512;

std::string NameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

class MemoryFile : public File {
 public:
  MemoryFile(MemoryFiles* files, std::string path, MemoryFiles::InodePointer inode, bool writable)
      : files_(files),
        path_(std::move(path)),
        inode_(std::move(inode)),
        writable_(writable),
        generation_(files->generation_) {}

  absl::StatusOr<size_t> WriteAt(uint64_t offset_bytes, std::string_view bytes) override {
    size_t taken = bytes.size();
    if (files_->short_writes_ && taken > 1) taken = 1 + files_->random_() % taken;
    MemoryFiles::Change change;
    change.offset_bytes = offset_bytes;
    change.bytes = std::string(bytes.substr(0, taken));
    const absl::Status status = Do(Call::kWrite, "write ", std::move(change));
    if (!status.ok()) return status;
    return taken;
  }

  absl::StatusOr<size_t> ReadAt(uint64_t offset_bytes, char* buffer, size_t bytes) override {
    const absl::Status status = Begin(Call::kRead, "read ");
    if (!status.ok()) return status;
    if (offset_bytes >= inode_->shown.size()) return size_t{0};
    const size_t taken = std::min<uint64_t>(bytes, inode_->shown.size() - offset_bytes);
    const size_t first = files_->during_reads_ && !files_->is_reading_ ? taken / 2 : taken;
    std::copy_n(inode_->shown.data() + offset_bytes, first, buffer);
    if (first < taken) {
      files_->is_reading_ = true;
      files_->during_reads_();
      files_->is_reading_ = false;
      std::copy_n(inode_->shown.data() + offset_bytes + first, taken - first, buffer + first);
    }
    return taken;
  }

  absl::StatusOr<uint64_t> SizeBytes() override {
    if (files_->power_is_off_) return files_->PowerIsOff();
    return uint64_t{inode_->shown.size()};
  }

  absl::Status Reserve(uint64_t size_bytes) override {
    MemoryFiles::Change change;
    change.new_size = std::max<uint64_t>(size_bytes, inode_->shown.size());
    return Do(Call::kReserve, "reserve space for ", std::move(change));
  }

  absl::Status Truncate(uint64_t size_bytes) override {
    MemoryFiles::Change change;
    change.new_size = size_bytes;
    return Do(Call::kTruncate, "truncate ", std::move(change));
  }

  absl::Status Sync() override {
    if (files_->power_is_off_) return files_->PowerIsOff();
    if (files_->CountChange()) return files_->PowerIsOff();
    if (const int error = files_->NextError(Call::kSync); error != 0) {
      // Some of it reached the disk. The rest never will, unless it is written again.
      inode_->lost = true;
      const std::string shown = inode_->shown;
      files_->Resolve(inode_.get(), Unsynced::kRandom);
      inode_->shown = shown;
      return ErrnoStatus(error, "sync " + path_);
    }
    if (!inode_->lost) {
      inode_->durable = inode_->shown;
    } else {
      for (const MemoryFiles::Change& change : inode_->pending) {
        MemoryFiles::Apply(&inode_->durable, change);
      }
    }
    inode_->pending.clear();
    return absl::OkStatus();
  }

 private:
  absl::Status Begin(Call call, const char* what) {
    CHECK_EQ(generation_, files_->generation_);
    if (files_->power_is_off_) return files_->PowerIsOff();
    if (const int error = files_->NextError(call); error != 0) {
      return ErrnoStatus(error, what + path_);
    }
    return absl::OkStatus();
  }

  absl::Status Do(Call call, const char* what, MemoryFiles::Change change) {
    const absl::Status status = Begin(call, what);
    if (!status.ok()) return status;
    CHECK(writable_);
    const uint64_t size_bytes = change.new_size.value_or(change.offset_bytes + change.bytes.size());
    if (size_bytes > inode_->shown.size() &&
        files_->used_bytes() + size_bytes - inode_->shown.size() > files_->capacity_bytes_) {
      return ErrnoStatus(ENOSPC, what + path_);
    }
    const bool last = files_->CountChange();
    MemoryFiles::Apply(&inode_->shown, change);
    inode_->pending.push_back(std::move(change));
    return last ? files_->PowerIsOff() : absl::OkStatus();
  }

  MemoryFiles* const files_;
  const std::string path_;
  const MemoryFiles::InodePointer inode_;
  const bool writable_;
  const uint64_t generation_;
};

class MemoryLock : public FileLock {
 public:
  MemoryLock(MemoryFiles* files, std::string path)
      : files_(files), path_(std::move(path)), generation_(files->generation_) {}
  ~MemoryLock() override {
    if (generation_ == files_->generation_) files_->locked_.erase(path_);
  }

 private:
  MemoryFiles* const files_;
  const std::string path_;
  const uint64_t generation_;
};

void MemoryFiles::Apply(std::string* content, const Change& change) {
  if (change.new_size.has_value()) {
    content->resize(*change.new_size, '\0');
    return;
  }
  const size_t end = change.offset_bytes + change.bytes.size();
  if (content->size() < end) content->resize(end, '\0');
  std::copy(change.bytes.begin(), change.bytes.end(),
            content->begin() + static_cast<ptrdiff_t>(change.offset_bytes));
}

void MemoryFiles::Apply(Entries* entries, const EntryChange& change) {
  if (!change.removed.empty()) entries->erase(change.removed);
  if (!change.name.empty()) (*entries)[change.name] = change.inode;
}

void MemoryFiles::Resolve(Inode* inode, Unsynced unsynced) {
  if (unsynced == Unsynced::kDropped) inode->pending.clear();
  for (const Change& change : inode->pending) {
    if (unsynced == Unsynced::kKept) {
      Apply(&inode->durable, change);
    } else if (change.new_size.has_value()) {
      if (Coin()) Apply(&inode->durable, change);
    } else {
      // Whole, not at all, or sector by sector.
      const uint64_t fate = random_() % 4;
      if (fate == 0) continue;
      const uint64_t end = change.offset_bytes + change.bytes.size();
      for (uint64_t at = change.offset_bytes; at < end;) {
        const uint64_t next = std::min<uint64_t>(end, (at / kSectorBytes + 1) * kSectorBytes);
        if (fate == 1 || Coin()) {
          Change part;
          part.offset_bytes = at;
          part.bytes = change.bytes.substr(at - change.offset_bytes, next - at);
          Apply(&inode->durable, part);
        }
        at = next;
      }
    }
  }
  inode->pending.clear();
  inode->shown = inode->durable;
}

void MemoryFiles::Fail(Call call, int error_number, uint64_t skipped, bool for_good) {
  faults_[call] = Fault{error_number, skipped, for_good};
}

int MemoryFiles::NextError(Call call) {
  const auto found = faults_.find(call);
  if (found == faults_.end()) return 0;
  if (found->second.skipped > 0) {
    --found->second.skipped;
    return 0;
  }
  const int error = found->second.error_number;
  if (!found->second.for_good) faults_.erase(found);
  return error;
}

bool MemoryFiles::CountChange() {
  if (++changes_ != stop_after_) return false;
  power_is_off_ = true;
  return true;
}

absl::Status MemoryFiles::PowerIsOff() const {
  return ErrnoStatus(EIO, "the power is off");
}

void MemoryFiles::LosePower(Unsynced unsynced) {
  for (auto directory = directories_.begin(); directory != directories_.end();) {
    Directory& entries = directory->second;
    const bool kept = entries.is_durable || unsynced == Unsynced::kKept ||
                      (unsynced == Unsynced::kRandom && Coin());
    if (!kept) {
      directory = directories_.erase(directory);
      continue;
    }
    entries.is_durable = true;
    for (const EntryChange& change : entries.pending) {
      if (unsynced == Unsynced::kDropped) continue;
      if (unsynced == Unsynced::kKept || Coin()) Apply(&entries.durable, change);
    }
    entries.pending.clear();
    for (auto& [name, inode] : entries.durable) Resolve(inode.get(), unsynced);
    for (auto& [name, inode] : entries.durable) inode->lost = false;
    entries.shown = entries.durable;
    ++directory;
  }
  KillProcess();
}

void MemoryFiles::KillProcess() {
  power_is_off_ = false;
  stop_after_ = ~uint64_t{0};
  locked_.clear();
  ++generation_;
}

MemoryFiles::Directory* MemoryFiles::FindDirectory(const std::string& path) {
  const auto found = directories_.find(path);
  return found == directories_.end() ? nullptr : &found->second;
}

absl::Status MemoryFiles::ChangeEntry(const std::string& directory, EntryChange change) {
  Directory* entries = FindDirectory(directory);
  if (entries == nullptr) return ErrnoStatus(ENOENT, directory);
  const bool last = CountChange();
  Apply(&entries->shown, change);
  entries->pending.push_back(std::move(change));
  return last ? PowerIsOff() : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<File>> MemoryFiles::Open(const std::string& path, OpenMode mode) {
  if (power_is_off_) return PowerIsOff();
  if (const int error = NextError(Call::kOpen); error != 0) {
    return ErrnoStatus(error, "open " + path);
  }
  Directory* directory = FindDirectory(ParentDirectory(path));
  if (directory == nullptr) return ErrnoStatus(ENOENT, "open " + path);
  auto found = directory->shown.find(NameOf(path));
  if (found != directory->shown.end() && mode == OpenMode::kAnew) {
    const absl::Status removed = ChangeEntry(ParentDirectory(path), {NameOf(path), "", nullptr});
    if (!removed.ok()) return removed;
    found = directory->shown.end();
  }
  if (found == directory->shown.end()) {
    if (mode != OpenMode::kCreate && mode != OpenMode::kAnew)
      return ErrnoStatus(ENOENT, "open " + path);
    EntryChange change;
    change.name = NameOf(path);
    change.inode = std::make_shared<Inode>();
    const absl::Status status = ChangeEntry(ParentDirectory(path), std::move(change));
    if (!status.ok()) return status;
    found = directory->shown.find(NameOf(path));
  }
  return std::make_unique<MemoryFile>(this, path, found->second, mode != OpenMode::kRead);
}

absl::Status MemoryFiles::Rename(const std::string& from, const std::string& to) {
  if (power_is_off_) return PowerIsOff();
  if (const int error = NextError(Call::kRename); error != 0) {
    return ErrnoStatus(error, "rename " + from);
  }
  // Every directory is a file system of its own.
  if (ParentDirectory(from) != ParentDirectory(to)) return ErrnoStatus(EXDEV, "rename " + from);
  Directory* directory = FindDirectory(ParentDirectory(from));
  if (directory == nullptr || !directory->shown.contains(NameOf(from))) {
    return ErrnoStatus(ENOENT, "rename " + from);
  }
  return ChangeEntry(ParentDirectory(from),
                     EntryChange{NameOf(from), NameOf(to), directory->shown.at(NameOf(from))});
}

absl::Status MemoryFiles::RenameToNew(const std::string& from, const std::string& to) {
  const bool there = ParentDirectory(from) == ParentDirectory(to) && Exists(to);
  return there && !power_is_off_ ? ErrnoStatus(EEXIST, "rename " + from) : Rename(from, to);
}

absl::Status MemoryFiles::Remove(const std::string& path) {
  if (power_is_off_) return PowerIsOff();
  if (const int error = NextError(Call::kRemove); error != 0) {
    return ErrnoStatus(error, "remove " + path);
  }
  if (!Exists(path)) return ErrnoStatus(ENOENT, "remove " + path);
  return ChangeEntry(ParentDirectory(path), EntryChange{NameOf(path), "", nullptr});
}

absl::StatusOr<int64_t> MemoryFiles::AgeSeconds(const std::string& path) {
  const auto known = ages_s_.find(path);
  return known == ages_s_.end() ? 0 : known->second;
}

absl::StatusOr<std::vector<std::string>> MemoryFiles::List(const std::string& directory) {
  if (power_is_off_) return PowerIsOff();
  const Directory* entries = FindDirectory(directory);
  if (entries == nullptr) return ErrnoStatus(ENOENT, "list " + directory);
  std::vector<std::string> names;
  for (const auto& [name, inode] : entries->shown) names.push_back(name);
  return names;
}

absl::StatusOr<bool> MemoryFiles::MakeDirectory(const std::string& directory) {
  if (power_is_off_) return PowerIsOff();
  if (FindDirectory(directory) != nullptr) return false;
  directories_[directory];
  if (CountChange()) return PowerIsOff();
  return true;
}

absl::Status MemoryFiles::SyncDirectory(const std::string& directory) {
  if (power_is_off_ || CountChange()) return PowerIsOff();
  if (const int error = NextError(Call::kSyncDirectory); error != 0) {
    return ErrnoStatus(error, "sync directory " + directory);
  }
  for (auto& [path, child] : directories_) {
    if (ParentDirectory(path) == directory) child.is_durable = true;
  }
  if (Directory* entries = FindDirectory(directory); entries != nullptr) {
    entries->durable = entries->shown;
    entries->pending.clear();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<FileLock>> MemoryFiles::Lock(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<File>> file = Open(path, OpenMode::kCreate);
  if (!file.ok()) return file.status();
  if (!locked_.insert(path).second) {
    return FailureStatus(FailureKind::kInUse, path + " is held by process 1");
  }
  return std::make_unique<MemoryLock>(this, path);
}

absl::StatusOr<bool> MemoryFiles::IsLocked(const std::string& path) {
  if (power_is_off_) return PowerIsOff();
  return locked_.contains(path);
}

bool MemoryFiles::Exists(const std::string& path) const {
  const auto directory = directories_.find(ParentDirectory(path));
  return directory != directories_.end() && directory->second.shown.contains(NameOf(path));
}

std::string MemoryFiles::Content(const std::string& path) const {
  CHECK(Exists(path));
  return directories_.at(ParentDirectory(path)).shown.at(NameOf(path))->shown;
}

void MemoryFiles::SetContent(const std::string& path, std::string bytes) {
  Directory& directory = directories_[ParentDirectory(path)];
  directory.is_durable = true;
  auto inode = std::make_shared<Inode>();
  inode->shown = bytes;
  inode->durable = std::move(bytes);
  directory.shown[NameOf(path)] = inode;
  directory.durable[NameOf(path)] = inode;
}

void MemoryFiles::Delete(const std::string& path) {
  Directory& directory = directories_.at(ParentDirectory(path));
  directory.shown.erase(NameOf(path));
  directory.durable.erase(NameOf(path));
}

uint64_t MemoryFiles::used_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [path, directory] : directories_) {
    for (const auto& [name, inode] : directory.shown) bytes += inode->shown.size();
  }
  return bytes;
}

void MemoryFiles::check_invariants() const {
  for (const auto& [path, directory] : directories_) {
    Entries entries = directory.durable;
    for (const EntryChange& change : directory.pending) Apply(&entries, change);
    CHECK(entries == directory.shown);
    for (const auto& [name, inode] : directory.shown) {
      if (inode->lost) continue;
      std::string content = inode->durable;
      for (const Change& change : inode->pending) Apply(&content, change);
      CHECK(content == inode->shown);
    }
  }
}

}  // namespace anteroom::storage
