#include "server/auth/random.h"

#include <openssl/rand.h>

#include <climits>
#include <cstring>

#include "server/base/check.h"

namespace anteroom::auth {

void FillRandom(void* bytes, size_t size) {
  CHECK_LE(size, INT_MAX);
  CHECK_EQ(RAND_bytes(static_cast<unsigned char*>(bytes), static_cast<int>(size)), 1);
}

std::string RandomBytes(size_t bytes) {
  std::string random(bytes, '\0');
  FillRandom(random.data(), random.size());
  return random;
}

uint64_t Random64() {
  const std::string bytes = RandomBytes(sizeof(uint64_t));
  uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace anteroom::auth
