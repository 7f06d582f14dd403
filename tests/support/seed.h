#ifndef ANTEROOM_TESTS_SUPPORT_SEED_H_
#define ANTEROOM_TESTS_SUPPORT_SEED_H_

// The seed of every random test of this process: ANTEROOM_SEED if that is set, otherwise a fresh
// random one. It is written to standard error when it is first asked for, so that it is known even
// when the process then crashes:
//
//   std::mt19937_64 random(TestSeed());
//
// Thread-safe.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace anteroom {

namespace internal {

inline uint64_t ChooseTestSeed() {
  uint64_t seed;
  if (const char* given = std::getenv("ANTEROOM_SEED"); given != nullptr && *given != '\0') {
    seed = std::strtoull(given, nullptr, 0);
  } else {
    std::random_device device;
    seed = (uint64_t{device()} << 32) | device();
  }
  std::fprintf(stderr, "seed: repeat this run with ANTEROOM_SEED=%llu\n",
               static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace internal

inline uint64_t TestSeed() {
  static const uint64_t seed = internal::ChooseTestSeed();
  return seed;
}

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_SUPPORT_SEED_H_
