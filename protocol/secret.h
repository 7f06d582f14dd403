// A shared secret in memory. It is wiped when it goes, cannot be printed, and never leaves: what
// can be had from it is a proof (protocol/proof.h).
//
// Copies are whole secrets of their own, each wiped in its turn. Nothing lies on the heap unless
// the owner does.
//
// Threads: as a value.
#ifndef ANTEROOM_PROTOCOL_SECRET_H_
#define ANTEROOM_PROTOCOL_SECRET_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/limits.h"

namespace anteroom::protocol {

struct Handshake;
enum class Prover : unsigned char;

// Overwrites what stands there, in a way that the compiler does not leave out.
void Wipe(void* bytes, size_t size);

// Text that holds secrets for a while, such as a file of them; wiped when it goes.
class WipedText {
 public:
  explicit WipedText(size_t bytes) : text_(bytes, '\0') {}
  ~WipedText() { Wipe(text_.data(), text_.size()); }
  WipedText(const WipedText&) = delete;
  WipedText& operator=(const WipedText&) = delete;

  char* data() { return text_.data(); }
  size_t size() const { return text_.size(); }
  std::string_view first(size_t bytes) const { return std::string_view(text_).substr(0, bytes); }

 private:
  std::string text_;
};

// Invariant: the characters beyond `size_` are zero; `size_` is 0 (no secret, which proves nothing
// to anybody) or kSecretCharsMin to kSecretCharsMax.
class Secret {
 public:
  Secret() = default;
  ~Secret() { Wipe(chars_.data(), chars_.size()); }
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;

  // Nothing when this is no secret: kSecretCharsMin to kSecretCharsMax of A-Z a-z 0-9 _ -, which
  // base64url and hexadecimal digits are. The characters themselves are the key.
  static std::optional<Secret> FromText(std::string_view text);

 private:
  friend std::array<char, kProofBytes> MakeProof(const Secret& secret, Prover prover,
                                                 const Handshake& handshake);

  std::array<char, kSecretCharsMax> chars_{};
  size_t size_ = 0;
};

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_SECRET_H_
