#include "tools/cli/secrets_check.h"

#include "protocol/secret.h"
#include "protocol/text.h"
#include "server/auth/secrets.h"
#include "server/storage/data_directory.h"
#include "server/storage/storage_status.h"

namespace anteroom::cli {
namespace {

absl::StatusOr<auth::Secrets> Parse(std::string_view text) {
  absl::StatusOr<auth::Secrets> secrets = auth::ParseSecrets(text);
  if (secrets.ok()) return secrets;
  return storage::FailureStatus(absl::IsFailedPrecondition(secrets.status())
                                    ? storage::FailureKind::kNewerFormat
                                    : storage::FailureKind::kDamaged,
                                protocol::ToStd(secrets.status().message()));
}

}  // namespace

absl::Status SecretsAreRight(std::string_view text, uint32_t first_key_id, const Engine& engine) {
  const absl::StatusOr<auth::Secrets> secrets = Parse(text);
  if (!secrets.ok()) return secrets.status();
  const absl::Status status = auth::CheckSecretsOf(*secrets, first_key_id, engine.token_keys());
  if (status.ok()) return status;
  return storage::FailureStatus(storage::FailureKind::kSecretMissing,
                                protocol::ToStd(status.message()));
}

absl::Status CheckSecretsIn(storage::Files& files, const std::string& directory,
                            const storage::RecoveredLog& log, const Engine& engine) {
  absl::StatusOr<std::string> text = storage::ReadSecrets(files, directory);
  if (storage::KindOf(text.status()) == storage::FailureKind::kNotFound) {
    return storage::FailureStatus(storage::FailureKind::kSecretMissing,
                                  "the log in " + directory +
                                      " is whole, but the file 'secrets' is missing: no daemon "
                                      "starts without it");
  }
  if (!text.ok()) return text.status();
  const absl::Status status = log.empty
                                  ? Parse(*text).status()
                                  : SecretsAreRight(*text, log.last_header.token_key_id, engine);
  protocol::Wipe(text->data(), text->size());
  return status;
}

}  // namespace anteroom::cli
