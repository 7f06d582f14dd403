// Who gets in: proofs, and whatever is nearly one.
#include "server/auth/credential_book.h"

#include <doctest/doctest.h>

#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/wire_examples.h"

namespace anteroom::auth {
namespace {

using protocol::Handshake;
using protocol::Proof;
using protocol::Prover;
using protocol::Role;
using protocol::Secret;

constexpr std::string_view kChallenge = kExampleChallenge;
constexpr std::string_view kNonce = kExampleNonce;

struct Book {
  Book() {
    std::vector<protocol::Credential> credentials;
    for (const auto& [name, role] :
         {std::pair{"shop-1", Role::kApp}, {"anna", Role::kOperator}, {"grafana", Role::kReader}}) {
      secrets.push_back(NewSecretText());
      credentials.push_back({name, role, *Secret::FromText(secrets.back())});
    }
    book.emplace(credentials);
    book->check_invariants();
  }
  std::string Right(size_t index, const Handshake& handshake,
                    Prover prover = Prover::kClient) const {
    const Proof proof = MakeProof(*Secret::FromText(secrets[index]), prover, handshake);
    return {proof.data(), proof.size()};
  }
  std::vector<std::string> secrets;
  std::optional<CredentialBook> book;
};

TEST_CASE("credential book: the right proof is answered with the role and a proof") {
  const Book test;
  constexpr std::pair<const char*, Role> kAll[] = {
      {"shop-1", Role::kApp}, {"anna", Role::kOperator}, {"grafana", Role::kReader}};
  for (size_t i = 0; i < std::size(kAll); ++i) {
    CAPTURE(i);
    const Handshake handshake{1, kAll[i].first, kChallenge, kNonce};
    const auto known = test.book->Judge(handshake, test.Right(i, handshake));
    REQUIRE(known);
    CHECK(known->name == kAll[i].first);
    CHECK(known->role == kAll[i].second);
    CHECK(protocol::SameProof(known->proof, test.Right(i, handshake, Prover::kDaemon)));
    CHECK_FALSE(protocol::SameProof(known->proof, test.Right(i, handshake)));
  }
}

TEST_CASE("credential book: any bit of proof, name, challenge, nonce or version counts") {
  const Book test;
  const Handshake right{1, "shop-1", kChallenge, kNonce};
  const std::string proof = test.Right(0, right);
  REQUIRE(test.book->Judge(right, proof));
  // `change` gets one of the texts with a bit of it flipped.
  const auto each_bit = [](std::string_view text, const auto& judge) {
    for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
      CAPTURE(bit);
      std::string flipped(text);
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      CHECK_FALSE(judge(flipped));
    }
  };
  each_bit(proof, [&](const std::string& said) { return test.book->Judge(right, said); });
  each_bit("shop-1", [&](const std::string& name) {
    return test.book->Judge({1, name, kChallenge, kNonce}, proof);
  });
  each_bit(kChallenge, [&](const std::string& challenge) {
    return test.book->Judge({1, "shop-1", challenge, kNonce}, proof);
  });
  each_bit(kNonce, [&](const std::string& nonce) {
    return test.book->Judge({1, "shop-1", kChallenge, nonce}, proof);
  });
  for (int bit = 0; bit < 16; ++bit) {
    const auto version = static_cast<uint16_t>(1 ^ 1 << bit);
    CHECK_FALSE(test.book->Judge({version, "shop-1", kChallenge, kNonce}, proof));
  }
}

TEST_CASE("credential book: what is nearly a proof is none") {
  const Book test;
  const Handshake right{1, "shop-1", kChallenge, kNonce};
  const std::string proof = test.Right(0, right);
  // Another's, the daemon's own, cut, longer, nothing.
  CHECK_FALSE(test.book->Judge(right, test.Right(1, right)));
  CHECK_FALSE(test.book->Judge(right, test.Right(0, right, Prover::kDaemon)));
  CHECK_FALSE(test.book->Judge(right, proof.substr(0, 31)));
  CHECK_FALSE(test.book->Judge(right, proof + '\0'));
  CHECK_FALSE(test.book->Judge(right, ""));
  // Shifting bytes between the fields of the message gives other bytes.
  const Handshake shifted{1, "shop-1d", kChallenge.substr(1), kNonce};
  CHECK(test.Right(0, shifted) != test.Right(0, right));
  // A nonce of another length is refused however right the proof.
  for (const std::string_view nonce : {kNonce.substr(1), std::string_view()}) {
    const Handshake handshake{1, "shop-1", kChallenge, nonce};
    CHECK_FALSE(test.book->Judge(handshake, test.Right(0, handshake)));
  }
  // Somebody unknown, with a secret of the book, and with none.
  const Handshake unknown{1, "nobody", kChallenge, kNonce};
  CHECK_FALSE(test.book->Judge(unknown, test.Right(0, unknown)));
  const Proof empty = MakeProof(Secret(), Prover::kClient, unknown);
  CHECK_FALSE(test.book->Judge(unknown, {empty.data(), empty.size()}));
}

TEST_CASE("credential book: the page's handshake") {
  const CredentialBook book(
      {{std::string(kExampleName), Role::kApp, *Secret::FromText(kExampleSecret)}});
  const auto known = book.Judge(
      {1, kExampleName, kExampleChallenge, kExampleNonce},
      "\x37\x55\xb6\x03\x02\x6e\xe7\x35\xca\xee\x43\xeb\x3c\x67\x7e\x88\x7d\x76\x5e\xb5\x90\x2d"
      "\xce\x64\x83\xfe\x94\xa7\x03\xf6\xf2\x90");
  REQUIRE(known);
  CHECK(std::string(known->proof.data(), 4) == "\xc7\x3f\x83\x2e");
}

TEST_CASE("credential book: new secrets are secrets, and nonces nonces, no two alike") {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string text = NewSecretText();
    CHECK(text.size() == 43);
    CHECK(Secret::FromText(text));
    CHECK(seen.insert(text).second);
    const std::string nonce = protocol::NewNonce();
    CHECK(nonce.size() == protocol::kNonceBytes);
    CHECK(seen.insert(nonce).second);
  }
}

}  // namespace
}  // namespace anteroom::auth
