// Tokens: known answers, one spelling, and nothing but the very same (key, admission, room,
// visitor) gives the same token. The file of the keys.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <random>
#include <set>
#include <string>

#include "server/auth/secrets.h"
#include "server/auth/token_authority.h"
#include "server/base/limits.h"
#include "tests/support/seed.h"

namespace anteroom::auth {
namespace {

std::string Spell(const protocol::Token& token) {
  return std::string(token.view());
}

TokenKey KeyOf(uint32_t id, unsigned char byte) {
  TokenKey key;
  key.id = id;
  key.bytes.fill(byte);
  return key;
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
  TokenKey key = KeyOf(1, 0);
  for (size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<unsigned char>(i);
  const TokenAuthority authority({{key}});
  authority.check_invariants();
  REQUIRE(Spell(authority.Make(kFirstTokenKey, 7, "concert", "alice")) == "4IWw4-yK29ieOQmClhPdGg");
  REQUIRE(Spell(authority.Make(kFirstTokenKey, uint64_t{1} << 40, "sale-2026",
                               std::string(255, 'x'))) == "bNSkyCVjOEhrMnhGDwSTUw");
  // Asked again, after another one.
  REQUIRE(Spell(authority.Make(kFirstTokenKey, 7, "concert", "alice")) == "4IWw4-yK29ieOQmClhPdGg");
}

TEST_CASE("no part can take from another") {
  const TokenAuthority authority({{KeyOf(1, 'k')}});
  std::set<std::string> tokens;
  tokens.insert(Spell(authority.Make(kFirstTokenKey, 1, "ab", "c")));
  tokens.insert(Spell(authority.Make(kFirstTokenKey, 1, "a", "bc")));
  tokens.insert(Spell(authority.Make(kFirstTokenKey, 1, "abc", "")));
  tokens.insert(Spell(authority.Make(kFirstTokenKey, 2, "ab", "c")));
  tokens.insert(Spell(authority.Make(kFirstTokenKey, 256, "ab", "c")));
  tokens.insert(Spell(TokenAuthority({{KeyOf(1, 'l')}}).Make(kFirstTokenKey, 1, "ab", "c")));
  REQUIRE(tokens.size() == 6);
}

TEST_CASE("any bit of a token flipped makes it another") {
  const TokenAuthority authority(NewSecrets());
  const protocol::Token token = authority.Make(kFirstTokenKey, 3, "concert", "bob");
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

TEST_CASE("each key makes tokens of its own, and a further one changes none") {
  TokenAuthority authority({{KeyOf(7, 'k'), KeyOf(9, 'l')}});
  const auto make = [&](uint32_t key_id) { return Spell(authority.Make(key_id, 1, "ab", "c")); };
  REQUIRE(make(kFirstTokenKey) == make(7));
  const std::string first = make(7);
  const std::string second = make(9);
  REQUIRE(first != second);
  authority.Add(KeyOf(5, 'm'));
  authority.check_invariants();
  REQUIRE(make(kFirstTokenKey) == first);
  REQUIRE(make(7) == first);
  REQUIRE(make(9) == second);
  REQUIRE(std::set<std::string>{first, second, make(5)}.size() == 3);
}

TEST_CASE("a token key is wiped when it goes, and a copy is one of its own") {
  // Told nothing of where it lies, the compiler cannot take what is left there for granted.
  void* volatile place = std::malloc(sizeof(TokenKey));
  auto* const key = new (place) TokenKey(KeyOf(1, 0xa5));
  const TokenKey copy = *key;
  const auto shows = [&] {
    const std::string left(static_cast<const char*>(place), sizeof(TokenKey));
    return left.find("\xa5\xa5\xa5\xa5") != std::string::npos;
  };
  CHECK(shows());
  key->~TokenKey();
  CHECK_FALSE(shows());
  std::free(place);
  REQUIRE(copy.bytes == KeyOf(1, 0xa5).bytes);
}

TEST_CASE("secrets are read back as written") {
  Secrets secrets = NewSecrets();
  for (size_t keys = 1; keys <= 100; ++keys) {
    REQUIRE(secrets.token_keys.size() == keys);
    secrets.check_invariants();
    const auto read = ParseSecrets(FormatSecrets(secrets));
    REQUIRE(read.ok());
    REQUIRE(read->token_keys == secrets.token_keys);
    const std::string before = FormatSecrets(secrets);
    AddNewTokenKey(&secrets);
    REQUIRE(FormatSecrets(secrets).starts_with(before));  // no line goes or changes
  }
}

TEST_CASE("secrets: those of another daemon, or of before a rotation, are told") {
  Secrets secrets = NewSecrets();
  const uint32_t first = secrets.token_keys[0].id;
  AddNewTokenKey(&secrets);
  const uint32_t second = secrets.token_keys[1].id;
  CHECK(CheckSecretsOf(secrets, first, {}).ok());
  CHECK(CheckSecretsOf(secrets, first, {{10, second}, {20, first}}).ok());
  CHECK_FALSE(CheckSecretsOf(secrets, second, {}).ok());
  secrets.token_keys.pop_back();
  const absl::Status missing = CheckSecretsOf(secrets, first, {{10, second}});
  CHECK(std::string(missing.message()).find(std::to_string(second)) != std::string::npos);
}

TEST_CASE("secrets: a file of one key, as it was before there was a checksum") {
  const auto read = ParseSecrets(
      "anteroom-secrets 1\n"
      "token-key 1893475610 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff\n");
  REQUIRE(read.ok());
  REQUIRE(read->token_keys.size() == 1);
  REQUIRE(read->token_keys[0].id == 1893475610);
  REQUIRE(read->token_keys[0].bytes[15] == 15);
  REQUIRE(read->token_keys[0].bytes[31] == 255);
}

TEST_CASE("secrets: as many keys as may be, and not one more or two of one id") {
  Secrets secrets = NewSecrets();
  while (secrets.token_keys.size() < limits::kTokenKeysMax) AddNewTokenKey(&secrets);
  std::string text = FormatSecrets(secrets);
  REQUIRE(text.size() < limits::kSecretsBytesMax);
  REQUIRE(ParseSecrets(text).ok());
  REQUIRE_FALSE(ParseSecrets(text + "token-key 7 " + std::string(64, '0') + "\n").ok());
  secrets.token_keys.resize(2);
  text = FormatSecrets(secrets);
  REQUIRE(ParseSecrets(text).ok());
  const std::string last = text.substr(text.rfind("token-key"));
  REQUIRE_FALSE(ParseSecrets(text + last).ok());
}

TEST_CASE("a damaged secrets file is refused") {
  Secrets secrets = NewSecrets();
  const size_t one_key = FormatSecrets(secrets).size();
  AddNewTokenKey(&secrets);
  const std::string text = FormatSecrets(secrets);
  for (size_t size = 0; size < text.size(); ++size) {
    if (size != one_key) REQUIRE_FALSE(ParseSecrets(text.substr(0, size)).ok());
  }
  REQUIRE_FALSE(ParseSecrets(text + "x").ok());
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 10000; ++i) {
    std::string other = text;
    other[random() % other.size()] = static_cast<char>(random());
    REQUIRE(ParseSecrets(other).ok() == (other == text));
  }
  // A digit that becomes another one leaves a key that looks good.
  for (size_t at = text.find("token-key"); at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      REQUIRE_FALSE(ParseSecrets(other).ok());
    }
  }
  std::string newer = text;
  newer[newer.find('1')] = '2';
  REQUIRE(ParseSecrets(newer).status().message().find("version 2") != absl::string_view::npos);
}

}  // namespace
}  // namespace anteroom::auth
