// A disk in memory that misbehaves on demand: short writes, errors at the n-th call, a full disk,
// and above all loss of power, after which every write that was not synced is kept, dropped or torn
// at 512 bytes, and every change of a directory that was not synced is kept or dropped.
//
//   MemoryFiles disk(seed);
//   disk.StopPowerAfter(17);       // the 17th call that changes something happens in part, and
//   RunTheDaemon(disk);            // all later calls fail
//   disk.LosePower(Unsynced::kRandom);
//   ... the daemon starts again on what is left ...
//
// A failed sync loses what it should have made durable and says so once: afterwards the page cache
// still shows it, as Linux does.
//
// Threads: one.
#ifndef ANTEROOM_TESTS_SUPPORT_MEMORY_FILES_H_
#define ANTEROOM_TESTS_SUPPORT_MEMORY_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/files.h"

namespace anteroom::storage {

enum class Call {
  kOpen,
  kRead,
  kWrite,
  kReserve,
  kTruncate,
  kSync,
  kRename,
  kRemove,
  kSyncDirectory
};

// What becomes of what was not synced.
enum class Unsynced { kDropped, kKept, kRandom };

// Invariant: what a file or directory shows is its durable content with the pending changes made
// in order, but for changes that a failed sync lost.
class MemoryFiles : public Files {
 public:
  explicit MemoryFiles(uint64_t seed) : random_(seed) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status RenameToNew(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<int64_t> AgeSeconds(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::StatusOr<bool> MakeDirectory(const std::string& directory) override;
  absl::Status SyncDirectory(const std::string& directory) override;
  absl::StatusOr<std::unique_ptr<FileLock>> Lock(const std::string& path) override;
  absl::StatusOr<bool> IsLocked(const std::string& path) override;

  // By file name; 0 for those that are not named.
  void set_age_seconds(const std::string& path, int64_t age_s) { ages_s_[path] = age_s; }

  // Called in the middle of every read, but those that it makes itself: another process's work.
  void set_during_reads(std::function<void()> work) { during_reads_ = std::move(work); }

  // --- faults ---

  // Every write takes a random part of what it is given.
  void set_short_writes(bool on) { short_writes_ = on; }
  // All files together; a reservation beyond it fails with ENOSPC.
  void set_capacity_bytes(uint64_t bytes) { capacity_bytes_ = bytes; }
  // The call after `skipped` others of its kind fails, or with `for_good` all from there on.
  void Fail(Call call, int error_number, uint64_t skipped = 0, bool for_good = false);
  void ClearFaults() { faults_.clear(); }

  // The call number `changes` (from 1) that changes something happens in part only, and the power
  // is off from then on.
  void StopPowerAfter(uint64_t changes) { stop_after_ = changes_ + changes; }
  bool power_is_off() const { return power_is_off_; }
  // Calls so far that changed something.
  uint64_t changes() const { return changes_; }

  // The machine stops and starts again. Open files and locks are void.
  void LosePower(Unsynced unsynced);
  // The process alone is killed: what it wrote stays visible, synced or not.
  void KillProcess();

  // --- the disk from outside ---

  bool Exists(const std::string& path) const;
  // What the file shows; and a change to it, durable at once.
  std::string Content(const std::string& path) const;
  void SetContent(const std::string& path, std::string bytes);
  void Delete(const std::string& path);
  uint64_t used_bytes() const;

  void check_invariants() const;

 private:
  friend class MemoryFile;
  friend class MemoryLock;

  struct Change {
    std::optional<uint64_t> new_size;  // otherwise a write
    uint64_t offset_bytes = 0;
    std::string bytes;
  };
  struct Inode {
    std::string shown;
    std::string durable;
    std::vector<Change> pending;
    bool lost = false;  // a sync failed: shown and durable differ for good
  };
  using InodePointer = std::shared_ptr<Inode>;
  using Entries = std::map<std::string, InodePointer>;
  struct EntryChange {
    std::string removed;  // empty: none
    std::string name;     // empty: none
    InodePointer inode;
  };
  struct Directory {
    Entries shown;
    Entries durable;
    std::vector<EntryChange> pending;
    bool is_durable = false;
  };
  struct Fault {
    int error_number;
    uint64_t skipped;
    bool for_good;
  };

  static void Apply(std::string* content, const Change& change);
  static void Apply(Entries* entries, const EntryChange& change);
  void Resolve(Inode* inode, Unsynced unsynced);
  bool Coin() { return (random_() & 1) != 0; }

  // The error that this call has to give, if any.
  int NextError(Call call);
  // Counts a change; true when it is the one at which the power goes.
  bool CountChange();
  absl::Status PowerIsOff() const;
  Directory* FindDirectory(const std::string& path);
  absl::Status ChangeEntry(const std::string& directory, EntryChange change);

  std::mt19937_64 random_;
  std::map<std::string, Directory> directories_;
  std::map<std::string, int64_t> ages_s_;
  std::set<std::string> locked_;
  std::function<void()> during_reads_;
  bool is_reading_ = false;
  std::map<Call, Fault> faults_;
  bool short_writes_ = false;
  uint64_t capacity_bytes_ = ~uint64_t{0};
  uint64_t changes_ = 0;
  uint64_t stop_after_ = ~uint64_t{0};
  bool power_is_off_ = false;
  // Handles of an earlier one are void.
  uint64_t generation_ = 0;
};

}  // namespace anteroom::storage

#endif  // ANTEROOM_TESTS_SUPPORT_MEMORY_FILES_H_
