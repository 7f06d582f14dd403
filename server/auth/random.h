// Unpredictable bytes from OpenSSL's generator: secrets, salts of log segments, seeds of hashes.
// The generator failing is beyond repair (no entropy, no memory) and ends the process.
// Thread-safe.
#ifndef ANTEROOM_SERVER_AUTH_RANDOM_H_
#define ANTEROOM_SERVER_AUTH_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace anteroom::auth {

void FillRandom(void* bytes, size_t size);
std::string RandomBytes(size_t bytes);
uint64_t Random64();

}  // namespace anteroom::auth

#endif  // ANTEROOM_SERVER_AUTH_RANDOM_H_
