#include "tools/cli/secrets_check.h"

#include "protocol/secret.h"
#include "protocol/text.h"
#include "server/auth/secrets.h"
#include "server/storage/data_directory.h"
#include "server/storage/storage_status.h"

namespace anteroom::cli {

absl::Status SecretsAreRight(std::string_view text) {
  const absl::Status status = auth::ParseSecrets(text).status();
  if (status.ok()) return status;
  return storage::FailureStatus(absl::IsFailedPrecondition(status)
                                    ? storage::FailureKind::kNewerFormat
                                    : storage::FailureKind::kDamaged,
                                protocol::ToStd(status.message()));
}

absl::Status CheckSecretsIn(storage::Files& files, const std::string& directory) {
  absl::StatusOr<std::string> text = storage::ReadSecrets(files, directory);
  if (storage::KindOf(text.status()) == storage::FailureKind::kNotFound) {
    return storage::FailureStatus(storage::FailureKind::kSecretMissing,
                                  "the log in " + directory +
                                      " is whole, but the file 'secrets' is missing: no daemon "
                                      "starts without it");
  }
  if (!text.ok()) return text.status();
  const absl::Status status = SecretsAreRight(*text);
  protocol::Wipe(text->data(), text->size());
  return status;
}

}  // namespace anteroom::cli
