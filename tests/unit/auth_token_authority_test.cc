// Tokens: known answers, one spelling, and nothing but the very same (admission, room, visitor)
// gives the same token.
#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

#include "server/auth/random.h"
#include "server/auth/secrets.h"
#include "server/auth/token_authority.h"
#include "tests/support/seed.h"

namespace anteroom::auth {
namespace {

std::string Spell(const protocol::Token& token) {
  return std::string(token.view());
}

TEST_CASE("a token is spelled as RFC 4648 says, spare bits zero") {
  std::array<unsigned char, 16> bits{};
  REQUIRE(Spell(SpellToken(bits)) == "AAAAAAAAAAAAAAAAAAAAAA");
  bits.fill(0xff);
  REQUIRE(Spell(SpellToken(bits)) == "_____________________w");
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<unsigned char>(i);
  REQUIRE(Spell(SpellToken(bits)) == "AAECAwQFBgcICQoLDA0ODw");
}

// The answers come from Python: hmac.new(bytes(range(32)), b'A' + (7).to_bytes(8, 'little') +
// b'\x07concert' + b'alice', 'sha256').digest()[:16], base64.urlsafe_b64encode.
TEST_CASE("tokens are HMAC-SHA256 of admission, room and visitor") {
  std::string key(kTokenKeyBytes, '\0');
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<char>(i);
  const TokenAuthority authority(key);
  authority.check_invariants();
  REQUIRE(Spell(authority.Make(7, "concert", "alice")) == "4IWw4-yK29ieOQmClhPdGg");
  REQUIRE(Spell(authority.Make(uint64_t{1} << 40, "sale-2026", std::string(255, 'x'))) ==
          "bNSkyCVjOEhrMnhGDwSTUw");
  // Asked again, after another one.
  REQUIRE(Spell(authority.Make(7, "concert", "alice")) == "4IWw4-yK29ieOQmClhPdGg");
}

TEST_CASE("no part can take from another") {
  const TokenAuthority authority(std::string(kTokenKeyBytes, 'k'));
  std::set<std::string> tokens;
  tokens.insert(Spell(authority.Make(1, "ab", "c")));
  tokens.insert(Spell(authority.Make(1, "a", "bc")));
  tokens.insert(Spell(authority.Make(1, "abc", "")));
  tokens.insert(Spell(authority.Make(2, "ab", "c")));
  tokens.insert(Spell(authority.Make(256, "ab", "c")));
  tokens.insert(Spell(TokenAuthority(std::string(kTokenKeyBytes, 'l')).Make(1, "ab", "c")));
  REQUIRE(tokens.size() == 6);
}

TEST_CASE("any bit of a token flipped makes it another") {
  const TokenAuthority authority(RandomBytes(kTokenKeyBytes));
  const protocol::Token token = authority.Make(3, "concert", "bob");
  REQUIRE(SameToken(token, token.view()));
  for (size_t i = 0; i < token.chars.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string shown = Spell(token);
      shown[i] = static_cast<char>(shown[i] ^ 1 << bit);
      REQUIRE_FALSE(SameToken(token, shown));
    }
  }
  REQUIRE_FALSE(SameToken(token, ""));
  REQUIRE_FALSE(SameToken(token, Spell(token) + "A"));
}

TEST_CASE("secrets are read back as written") {
  for (int i = 0; i < 100; ++i) {
    const Secrets secrets = NewSecrets();
    REQUIRE(secrets.token_key_id > 0);
    const auto read = ParseSecrets(FormatSecrets(secrets));
    REQUIRE(read.ok());
    REQUIRE(read->token_key_id == secrets.token_key_id);
    REQUIRE(read->token_key == secrets.token_key);
  }
}

TEST_CASE("a damaged secrets file is refused") {
  const std::string text = FormatSecrets(NewSecrets());
  for (size_t size = 0; size < text.size(); ++size) {
    REQUIRE_FALSE(ParseSecrets(text.substr(0, size)).ok());
  }
  REQUIRE_FALSE(ParseSecrets(text + "x").ok());
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 10000; ++i) {
    std::string other = text;
    other[random() % other.size()] = static_cast<char>(random());
    const auto read = ParseSecrets(other);
    if (read.ok()) REQUIRE(FormatSecrets(*read) == other);
  }
  std::string newer = text;
  newer[newer.find('1')] = '2';
  REQUIRE(ParseSecrets(newer).status().message().find("version 2") != absl::string_view::npos);
}

}  // namespace
}  // namespace anteroom::auth
