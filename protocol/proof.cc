#include "protocol/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstdio>
#include <cstdlib>

#include "protocol/bytes.h"

namespace anteroom::protocol {
namespace {

constexpr std::string_view kClientLabel = "anteroom client proof";
constexpr std::string_view kDaemonLabel = "anteroom daemon proof";
static_assert(kClientLabel.size() == kDaemonLabel.size());

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "anteroom: OpenSSL fails at %s\n", what);
  std::abort();
}

unsigned char* Bytes(char* text) {
  return reinterpret_cast<unsigned char*>(text);
}

}  // namespace

Proof MakeProof(const Secret& secret, Prover prover, const Handshake& handshake) {
  std::string message(prover == Prover::kClient ? kClientLabel : kDaemonLabel);
  ByteWriter writer(&message);
  writer.Put(handshake.version);
  writer.Put(static_cast<uint8_t>(handshake.name.size()));
  writer.PutBytes(handshake.name);
  writer.PutBytes(handshake.challenge);
  writer.PutBytes(handshake.nonce);
  Proof proof{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), secret.chars_.data(), static_cast<int>(secret.size_),
           Bytes(message.data()), message.size(), Bytes(proof.data()), &size) == nullptr ||
      size != kProofBytes) {
    Die("HMAC");
  }
  return proof;
}

bool SameProof(const Proof& proof, std::string_view said) {
  return said.size() == proof.size() && CRYPTO_memcmp(proof.data(), said.data(), proof.size()) == 0;
}

std::string NewNonce() {
  std::string nonce(kNonceBytes, '\0');
  if (RAND_bytes(Bytes(nonce.data()), kNonceBytes) != 1) Die("random bytes");
  return nonce;
}

}  // namespace anteroom::protocol
