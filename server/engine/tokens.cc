#include "server/engine/tokens.h"

namespace anteroom {

bool SameToken(const protocol::Token& token, std::string_view shown) {
  if (shown.size() != token.chars.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < shown.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (token.chars[i] ^ shown[i]));
  }
  return difference == 0;
}

}  // namespace anteroom
