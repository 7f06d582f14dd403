#include "server/auth/credential_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "protocol/text.h"
#include "server/auth/random.h"
#include "server/base/check.h"

namespace anteroom::auth {
namespace {

constexpr size_t kSecretBytes = 32;

bool ByName(const protocol::Credential& a, const protocol::Credential& b) {
  return a.name < b.name;
}

}  // namespace

std::string NewSecretText() {
  std::string bits = RandomBytes(kSecretBytes);
  std::string text = absl::WebSafeBase64Escape(bits);
  protocol::Wipe(bits.data(), bits.size());
  return text;
}

absl::StatusOr<std::unique_ptr<CredentialBook>> CredentialBook::Read(const std::string& path) {
  auto credentials = protocol::ReadCredentials(path);
  if (!credentials.ok()) return credentials.status();
  return std::make_unique<CredentialBook>(*std::move(credentials));
}

CredentialBook::CredentialBook(std::vector<protocol::Credential> credentials)
    : credentials_(std::move(credentials)) {
  std::sort(credentials_.begin(), credentials_.end(), ByName);
  std::string text = NewSecretText();
  nobodys_ = *protocol::Secret::FromText(text);
  protocol::Wipe(text.data(), text.size());
}

std::optional<Gatekeeper::Known> CredentialBook::Judge(const protocol::Handshake& handshake,
                                                       std::string_view proof) const {
  const auto place = std::lower_bound(
      credentials_.begin(), credentials_.end(), handshake.name,
      [](const protocol::Credential& one, std::string_view name) { return one.name < name; });
  const bool known = place != credentials_.end() && place->name == handshake.name;
  const protocol::Secret& secret = known ? place->secret : nobodys_;
  const protocol::Proof expected =
      protocol::MakeProof(secret, protocol::Prover::kClient, handshake);
  const bool right = protocol::SameProof(expected, proof);
  if (!right || !known || handshake.nonce.size() != protocol::kNonceBytes) return std::nullopt;
  return Known{place->name, place->role,
               protocol::MakeProof(secret, protocol::Prover::kDaemon, handshake)};
}

void CredentialBook::check_invariants() const {
  CHECK(!credentials_.empty());
  for (size_t i = 0; i < credentials_.size(); ++i) {
    CHECK(protocol::IsCredentialName(credentials_[i].name));
    CHECK(credentials_[i].role > protocol::Role::kAnyone);
    if (i > 0) CHECK(credentials_[i - 1].name < credentials_[i].name);
  }
}

}  // namespace anteroom::auth
