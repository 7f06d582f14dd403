// A digest of everything the log must rebuild: the sum modulo 2^128 of XXH3-128 over the canonical
// bytes of every hard entry. A sum does not depend on order, so a changed entry is taken out and
// put back in O(1), and a whole room is taken out by subtracting its partial sum.
// Not a cryptographic digest: it finds bugs and damage, not forgery.
#ifndef ANTEROOM_SERVER_ENGINE_DIGEST_H_
#define ANTEROOM_SERVER_ENGINE_DIGEST_H_

#include <cstdint>
#include <string_view>

namespace anteroom {

struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;

  Digest& operator+=(const Digest& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
  }
  Digest& operator-=(const Digest& other) {
    const uint64_t borrow = low < other.low ? 1 : 0;
    low -= other.low;
    high -= other.high + borrow;
    return *this;
  }
  bool operator==(const Digest&) const = default;
};

// Of the canonical bytes of one entry.
Digest DigestOf(std::string_view bytes);

}  // namespace anteroom

#endif  // ANTEROOM_SERVER_ENGINE_DIGEST_H_
