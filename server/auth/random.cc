#include "server/auth/random.h"

#include <openssl/rand.h>

#include <climits>
#include <cstring>

#include "server/base/check.h"

namespace anteroom::auth {

std::string RandomBytes(size_t bytes) {
  CHECK_LE(bytes, INT_MAX);
  std::string random(bytes, '\0');
  CHECK_EQ(RAND_bytes(reinterpret_cast<unsigned char*>(random.data()), static_cast<int>(bytes)), 1);
  return random;
}

uint64_t Random64() {
  const std::string bytes = RandomBytes(sizeof(uint64_t));
  uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace anteroom::auth
