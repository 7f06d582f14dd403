// A proof of credentials from somebody unknown: it is taken only from a name of the book, over a
// nonce of the right length, and when every byte of it is right.
//
//   input = 1 byte whose secret the proof is made with, name, nonce, challenge (text each),
//           1 byte: 0 the proof as it is, 1 one byte of it changed (its place and by what follow),
//           2 the daemon's own proof sent back, otherwise the rest

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/credentials.h"
#include "protocol/limits.h"
#include "protocol/proof.h"
#include "server/auth/credential_book.h"
#include "server/base/check.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/targets.h"

namespace anteroom::fuzz {
namespace {

using protocol::Credential;
using protocol::Proof;
using protocol::Prover;

constexpr std::string_view kNames[] = {"ann", "bob", "ann.b"};

Credential CredentialOf(size_t number) {
  const std::string secret(protocol::kSecretCharsMin, static_cast<char>('a' + number));
  return {std::string(kNames[number]), protocol::Role::kApp, *protocol::Secret::FromText(secret)};
}

}  // namespace
}  // namespace anteroom::fuzz

void anteroom::fuzz::TryHandshake(std::string_view input) {
  static const std::vector<Credential> all = {CredentialOf(0), CredentialOf(1), CredentialOf(2)};
  static const auth::CredentialBook book(all);
  ByteSource source(input);
  const size_t owner = source.Below(std::size(kNames));
  const std::string_view name = source.Text();
  const std::string_view nonce = source.Text();
  const std::string_view challenge = source.Text();
  const protocol::Handshake handshake{1, name, challenge, nonce};
  const Proof right = MakeProof(all[owner].secret, Prover::kClient, handshake);
  std::string said(right.data(), right.size());
  switch (source.Byte()) {
    case 0:
      break;
    case 1: {
      const size_t at = source.Below(said.size());
      said[at] = static_cast<char>(said[at] ^ source.Byte());
      break;
    }
    case 2: {
      const Proof daemons = MakeProof(all[owner].secret, Prover::kDaemon, handshake);
      said.assign(daemons.data(), daemons.size());
      break;
    }
    default:
      said = source.rest();
  }
  const auto known = book.Judge(handshake, said);
  const bool expected = name == kNames[owner] && nonce.size() == protocol::kNonceBytes &&
                        said == std::string_view(right.data(), right.size());
  CHECK_EQ(known.has_value(), expected);
  if (!known) return;
  CHECK_EQ(known->name, name);
  CHECK(known->proof == MakeProof(all[owner].secret, Prover::kDaemon, handshake));
  CHECK(known->proof != right);
}
