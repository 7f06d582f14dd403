// A file of credentials: it is read, and then each name has one line and opens the door, or it is
// refused without a word of it being repeated.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/credentials.h"
#include "protocol/limits.h"
#include "protocol/proof.h"
#include "server/auth/credential_book.h"
#include "server/base/check.h"
#include "tests/fuzz/targets.h"

namespace anteroom::fuzz {
namespace {

using protocol::Credential;

// Nothing that could be a secret is in the message.
void CheckSaysNone(std::string_view message, std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n";
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    if (word.size() >= protocol::kSecretCharsMin) CHECK(message.find(word) == message.npos);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
}

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TryCredentials(std::string_view text) {
  auto credentials = protocol::ParseCredentials(text);
  if (!credentials.ok()) {
    const std::string message(credentials.status().message());
    CHECK(!message.empty());
    CheckSaysNone(message, text);
    return;
  }
  const std::vector<Credential> all = *credentials;
  const auth::CredentialBook book(*std::move(credentials));
  book.check_invariants();
  CHECK_EQ(book.size(), all.size());
  const std::string challenge(protocol::kNonceBytes, 'c');
  const std::string nonce(protocol::kNonceBytes, 'n');
  for (const Credential& one : all) {
    const protocol::Handshake handshake{1, one.name, challenge, nonce};
    const protocol::Proof proof = MakeProof(one.secret, protocol::Prover::kClient, handshake);
    const auto known = book.Judge(handshake, {proof.data(), proof.size()});
    CHECK(known.has_value());
    CHECK_EQ(known->name, one.name);
    CHECK(known->role == one.role);
  }
}
