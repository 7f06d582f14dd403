#include "server/engine/digest.h"

#include <xxhash.h>

namespace anteroom {
namespace {

// A public constant, part of the file format: "Anteroom" in ASCII.
constexpr uint64_t kDigestSeed = 0x6d6f6f7265746e41;

}  // namespace

Digest DigestOf(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), kDigestSeed);
  return {hash.low64, hash.high64};
}

}  // namespace anteroom
