// The daemon's clients by name, as the file of credentials has them (protocol/credentials.h), and
// the judgement of their proofs. A changed file makes another book.
//
// A name that nobody has is judged under a secret drawn at the start, which no proof can fit, so
// that from outside it is a wrong proof like any other.
//
// Threads: any; nothing changes after it is made.
#ifndef ANTEROOM_SERVER_AUTH_CREDENTIAL_BOOK_H_
#define ANTEROOM_SERVER_AUTH_CREDENTIAL_BOOK_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "protocol/credentials.h"
#include "server/base/gatekeeper.h"

namespace anteroom::auth {

// A fresh secret of 256 random bits, as 43 characters of base64url, for a line of such a file.
std::string NewSecretText();

// Invariant: `credentials_` is sorted by name, without two of one name.
class CredentialBook final : public Gatekeeper {
 public:
  static absl::StatusOr<std::unique_ptr<CredentialBook>> Read(const std::string& path);
  explicit CredentialBook(std::vector<protocol::Credential> credentials);

  std::optional<Known> Judge(const protocol::Handshake& handshake,
                             std::string_view proof) const override;

  size_t size() const { return credentials_.size(); }
  void check_invariants() const;

 private:
  std::vector<protocol::Credential> credentials_;
  protocol::Secret nobodys_;
};

}  // namespace anteroom::auth

#endif  // ANTEROOM_SERVER_AUTH_CREDENTIAL_BOOK_H_
