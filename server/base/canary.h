#ifndef ANTEROOM_SERVER_BASE_CANARY_H_
#define ANTEROOM_SERVER_BASE_CANARY_H_

// Bugs planted on purpose, so that the simulator can show that it would find them (`make
// sim-canaries`). They are there only in a build with -DANTEROOM_CANARIES, and there only the one
// that is planted; in every other build ANTEROOM_CANARY(name) is the constant false.
//
//   if (!ANTEROOM_CANARY(kLostDirectorySync)) status = files_.SyncDirectory(directory_);
//
// Threads: planted before anything else runs.

#include <cstdint>

namespace anteroom {

// X(enumerator, name)
#define ANTEROOM_CANARIES_TABLE(X)                         \
  X(kReplyBeforeSync, "reply-before-sync")                 \
  X(kRankOffAfterRemoval, "rank-off-by-one-after-removal") \
  X(kReusedAdmission, "reused-admission-number")           \
  X(kLostDirectorySync, "lost-directory-sync")             \
  X(kSkippedRecord, "skipped-record")                      \
  X(kDoubleRelease, "double-release")                      \
  X(kRateCountedTwice, "rate-window-counted-twice")        \
  X(kExpiryEarly, "expiry-one-tick-early")                 \
  X(kRequeueInFront, "requeue-in-front")                   \
  X(kFailedSyncIgnored, "failed-sync-ignored")             \
  X(kTornEndKept, "torn-end-not-zeroed")                   \
  X(kDamageTakenForTorn, "damage-taken-for-a-torn-end")    \
  X(kSoldAfterwards, "sold-after-the-slot-is-free")        \
  X(kLateSaleForgotten, "late-sale-takes-no-unit")

enum class Canary : uint8_t {
  kNone,
#define ANTEROOM_X(enumerator, name) enumerator,
  ANTEROOM_CANARIES_TABLE(ANTEROOM_X)
#undef ANTEROOM_X
};

#ifdef ANTEROOM_CANARIES
inline Canary planted_canary = Canary::kNone;
#define ANTEROOM_CANARY(enumerator) (::anteroom::planted_canary == ::anteroom::Canary::enumerator)
#else
#define ANTEROOM_CANARY(enumerator) false
#endif

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_BASE_CANARY_H_
