// The digest of the state: canonical bytes of every hard entry, and the upkeep of their sum. The
// bytes are part of the file format (FORMAT.md): segments of the log carry the digest.

#include "protocol/bytes.h"
#include "protocol/codec.h"
#include "server/base/limits.h"
#include "server/engine/engine.h"

namespace anteroom {
namespace {

enum class EntryKind : uint8_t {
  kEngine = 1,
  kRoom = 2,
  kVisitor = 3,
  kMemory = 4,
  kBlock = 5,
  kTokenKey = 6,
};

// Fixed fields first, then the id, in a buffer that no entry but a room outgrows.
class CanonicalBytes {
 public:
  explicit CanonicalBytes(EntryKind kind) { Put(static_cast<uint8_t>(kind)); }

  template <typename Number>
  void Put(Number value) {
    std::memcpy(bytes_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  void PutId(std::string_view id) {
    Put(static_cast<uint8_t>(id.size()));
    std::memcpy(bytes_ + size_, id.data(), id.size());
    size_ += id.size();
  }
  Digest digest() const { return DigestOf({bytes_, size_}); }

 private:
  char bytes_[320];
  size_t size_ = 0;
};

}  // namespace

Digest Engine::DigestOfVisitor(const Visitor& visitor) const {
  CanonicalBytes bytes(EntryKind::kVisitor);
  bytes.Put(visitor.room);
  bytes.Put(visitor.state);
  bytes.Put(visitor.lane);
  bytes.Put(visitor.requeues);
  bytes.Put(visitor.arrival.Get());
  bytes.Put(visitor.at_ms.Get());
  if (visitor.inside()) {
    const Session& session = SessionOf(visitor);
    bytes.Put(session.admission);
    bytes.Put(session.deadline_ms);
  }
  bytes.PutId(visitor.id.view());
  return bytes.digest();
}

Digest Engine::DigestOfMemory(const Memory& memory) const {
  CanonicalBytes bytes(EntryKind::kMemory);
  bytes.Put(memory.room);
  bytes.Put(static_cast<uint8_t>(memory.reason));
  bytes.Put(memory.late);
  bytes.Put(memory.lane);
  bytes.Put(memory.admission);
  bytes.Put(memory.arrival);
  bytes.Put(memory.at_ms);
  bytes.Put(memory.forget_at_ms);
  bytes.PutId(memory.id.view());
  return bytes.digest();
}

Digest Engine::DigestOfBlock(const Block& block) const {
  CanonicalBytes bytes(EntryKind::kBlock);
  bytes.Put(block.room);
  bytes.Put(block.until_ms);
  bytes.PutId(block.id.view());
  return bytes.digest();
}

Digest Engine::DigestOfRoom(const Room& room) const {
  std::string bytes;
  protocol::ByteWriter writer(&bytes);
  writer.Put(static_cast<uint8_t>(EntryKind::kRoom));
  writer.Put(room.number);
  protocol::Encode(SettingsOf(room.policy), &bytes);
  writer.Put(room.revision);
  const Totals& totals = room.totals;
  for (const uint64_t total :
       {room.admitted, room.active, totals.joined, totals.admitted, totals.claimed,
        totals.completed, totals.cancelled, totals.no_show, totals.expired, totals.left,
        totals.revoked, room.bucket.level(), static_cast<uint64_t>(room.bucket.filled_at_ms())}) {
    writer.Put(total);
  }
  for (const AdmitKey& key : room.admit_keys) {
    writer.Put(static_cast<uint8_t>(key.key.size()));
    writer.PutBytes(key.key);
    writer.Put(key.asked);
    writer.Put(key.count);
    writer.Put(key.first_admission);
    writer.Put(key.forget_at_ms);
  }
  writer.PutBytes(room.name);
  // Nothing is added for a room that has sold nothing, as before there was a stock.
  if (room.sold_units + room.oversold_units > 0) {
    writer.Put(room.sold_units);
    writer.Put(room.oversold_units);
  }
  return DigestOf(bytes);
}

Digest Engine::DigestOfEngine() const {
  CanonicalBytes bytes(EntryKind::kEngine);
  bytes.Put(now_ms_);
  bytes.Put(next_arrival_);
  bytes.Put(next_admission_);
  bytes.Put(next_memory_);
  bytes.Put(next_room_);
  return bytes.digest();
}

Digest Engine::DigestOfTokenKey(const TokenKeyRange& range) {
  CanonicalBytes bytes(EntryKind::kTokenKey);
  bytes.Put(range.first_admission);
  bytes.Put(range.key_id);
  return bytes.digest();
}

void Engine::TakeIn(Room& room, const Digest& entry) {
  room.entries_digest += entry;
  digest_ += entry;
  Touch(room);
}

void Engine::TakeOut(Room& room, const Digest& entry) {
  room.entries_digest -= entry;
  digest_ -= entry;
  Touch(room);
}

void Engine::Touch(Room& room) {
  if (room.digest_dirty) return;
  room.digest_dirty = true;
  dirty_rooms_.push_back(room.number);
}

Digest Engine::digest() {
  for (const uint32_t number : dirty_rooms_) {
    const auto found = rooms_.find(number);
    if (found == rooms_.end()) continue;
    Room& room = *found->second;
    room.digest_dirty = false;
    if (room.dropped) continue;
    digest_ -= room.own_digest;
    room.own_digest = DigestOfRoom(room);
    digest_ += room.own_digest;
  }
  dirty_rooms_.clear();
  Digest digest = digest_;
  digest += DigestOfEngine();
  return digest;
}

}  // namespace anteroom
