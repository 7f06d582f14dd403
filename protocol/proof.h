// How two ends show each other that they know the same secret without saying it: each sends
// HMAC-SHA256 (RFC 2104) under the secret over
//
//   label (21 bytes), version (2 bytes, little-endian), length of the name (1 byte), name,
//   challenge (kNonceBytes, the daemon's), nonce (kNonceBytes, the client's)
//
// The two labels keep a proof of the one side from being sent back as one of the other; nonces from
// both sides keep one from being used twice; the length keeps names apart. This is the plain scheme
// of ISO/IEC 9798-4 (mutual, by nonces). PROTOCOL.md has a worked example.
//
// Thread-safe.
#ifndef ANTEROOM_PROTOCOL_PROOF_H_
#define ANTEROOM_PROTOCOL_PROOF_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/limits.h"
#include "protocol/secret.h"

namespace anteroom::protocol {

enum class Prover : unsigned char { kClient, kDaemon };

using Proof = std::array<char, kProofBytes>;

// What both ends know once they have greeted each other.
struct Handshake {
  uint16_t version = 0;        // the one agreed on
  std::string_view name;       // whose secret it is, at most 255 bytes
  std::string_view challenge;  // kNonceBytes
  std::string_view nonce;      // kNonceBytes
};

Proof MakeProof(const Secret& secret, Prover prover, const Handshake& handshake);

// Whether `said` is the proof. The time it takes does not depend on where they differ.
bool SameProof(const Proof& proof, std::string_view said);

// kNonceBytes that nobody can foretell. The generator failing is beyond repair and ends the
// process.
std::string NewNonce();

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_PROOF_H_
