#include "server/storage/storage_status.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/types/optional.h"

namespace anteroom::storage {
namespace {

constexpr char kKindUrl[] = "anteroom/storage/failure_kind";
constexpr char kErrnoUrl[] = "anteroom/storage/errno";

absl::StatusCode CodeOf(FailureKind kind) {
  switch (kind) {
    case FailureKind::kNone:
      return absl::StatusCode::kUnknown;
    case FailureKind::kIo:
      return absl::StatusCode::kInternal;
    case FailureKind::kNotFound:
      return absl::StatusCode::kNotFound;
    case FailureKind::kNoSpace:
      return absl::StatusCode::kResourceExhausted;
    case FailureKind::kInUse:
      return absl::StatusCode::kUnavailable;
    case FailureKind::kDamaged:
    case FailureKind::kSecretMissing:
      return absl::StatusCode::kDataLoss;
    case FailureKind::kMoved:
    case FailureKind::kNewerFormat:
    case FailureKind::kUnfinished:
    case FailureKind::kWrongKind:
      return absl::StatusCode::kFailedPrecondition;
  }
  return absl::StatusCode::kUnknown;
}

FailureKind KindOfErrno(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return FailureKind::kNoSpace;
    case ENOENT:
      return FailureKind::kNotFound;
    default:
      return FailureKind::kIo;
  }
}

int NumberFrom(const absl::Status& status, const char* url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  return payload.has_value() ? std::atoi(std::string(*payload).c_str()) : 0;
}

}  // namespace

absl::Status FailureStatus(FailureKind kind, std::string_view message) {
  absl::Status status(CodeOf(kind), std::string(message));
  status.SetPayload(kKindUrl, absl::Cord(std::to_string(static_cast<int>(kind))));
  return status;
}

absl::Status ErrnoStatus(int error_number, std::string_view what) {
  absl::Status status =
      FailureStatus(KindOfErrno(error_number),
                    std::string(what) + ": " + std::generic_category().message(error_number));
  status.SetPayload(kErrnoUrl, absl::Cord(std::to_string(error_number)));
  return status;
}

absl::Status DamageStatus(std::string_view file, uint64_t offset_bytes, std::string_view why) {
  return FailureStatus(FailureKind::kDamaged, "damaged: " + std::string(file) + " at byte " +
                                                  std::to_string(offset_bytes) + ": " +
                                                  std::string(why));
}

absl::Status PlacedStatus(const absl::Status& status, std::string_view file,
                          uint64_t offset_bytes) {
  absl::Status placed(status.code(), std::string(file) + " at byte " +
                                         std::to_string(offset_bytes) + ": " +
                                         std::string(status.message()));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { placed.SetPayload(url, payload); });
  return placed;
}

FailureKind KindOf(const absl::Status& status) {
  return static_cast<FailureKind>(NumberFrom(status, kKindUrl));
}

int ErrnoOf(const absl::Status& status) {
  return NumberFrom(status, kErrnoUrl);
}

}  // namespace anteroom::storage
