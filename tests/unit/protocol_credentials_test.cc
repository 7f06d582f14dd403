// Secrets and the files that hold them.
#include "protocol/credentials.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "protocol/proof.h"
#include "tests/support/temporary_file.h"

namespace anteroom::protocol {
namespace {

constexpr std::string_view kSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

// Why the text is refused; every message is looked through for the secret.
std::string Wrong(const std::string& text) {
  const auto parsed = ParseCredentials(text);
  CHECK_FALSE(parsed.ok());
  if (parsed.ok()) return {};
  const std::string message(parsed.status().message());
  CHECK(message.find(kSecret.substr(0, 8)) == std::string::npos);
  return message;
}

bool StartsWith(const std::string& text, std::string_view start) {
  INFO(text);
  return text.starts_with(start);
}

Proof ProofOf(const Secret& secret) {
  return MakeProof(secret, Prover::kClient, {1, "ann", "0123456789abcdef", "fedcba9876543210"});
}

TEST_CASE("credentials: a file has a line for each, comments and empty lines") {
  const std::string secret(kSecret);
  const auto read =
      ParseCredentials("# all of them\n\nshop-1 app " + secret + "\n  \t# none\n anna\toperator  " +
                       secret + "x \r\n" + "grafana reader " + std::string(64, 'f'));
  REQUIRE(read.ok());
  REQUIRE(read->size() == 3);
  CHECK((*read)[0].name == "shop-1");
  CHECK((*read)[0].role == Role::kApp);
  CHECK((*read)[1].name == "anna");
  CHECK((*read)[1].role == Role::kOperator);
  CHECK((*read)[2].role == Role::kReader);
  CHECK(ProofOf((*read)[0].secret) == ProofOf(*Secret::FromText(kSecret)));
  CHECK(ProofOf((*read)[1].secret) != ProofOf((*read)[0].secret));
}

TEST_CASE("credentials: what is wrong in a file is said with its line and without its words") {
  const std::string secret(kSecret);
  CHECK(StartsWith(Wrong(""), "there is no line"));
  CHECK(StartsWith(Wrong("# nobody\n\n"), "there is no line"));
  CHECK(StartsWith(Wrong("Shop app " + secret), "line 1: a name is"));
  CHECK(StartsWith(Wrong(std::string(65, 'a') + " app " + secret), "line 1: a name is"));
  CHECK(StartsWith(Wrong("\nshop " + secret), "line 2: behind the name comes the role"));
  CHECK(StartsWith(Wrong("shop anyone " + secret), "line 1: behind the name comes the role"));
  CHECK(StartsWith(Wrong("shop"), "line 1: behind the name comes the role"));
  CHECK(StartsWith(Wrong("shop app"), "line 1: behind the role comes the secret"));
  CHECK(StartsWith(Wrong("shop app " + secret.substr(0, 31)), "line 1: behind the role comes"));
  CHECK(StartsWith(Wrong("shop app " + std::string(65, 'A')), "line 1: behind the role comes"));
  CHECK(StartsWith(Wrong("shop app " + secret + "="), "line 1: behind the role comes"));
  CHECK(StartsWith(Wrong("shop app " + secret + " " + secret), "line 1: behind the secret"));
  CHECK(StartsWith(Wrong("a app " + secret + "\nb app " + secret + "\na reader " + secret),
                   "line 3: the name stands on an earlier line"));
  CHECK(StartsWith(Wrong(secret), "line 1: a name is"));
}

TEST_CASE("credentials: a file that others may use is refused, and what is none") {
  const TemporaryFile file("shop app " + std::string(kSecret) + "\n");
  const auto reads = [&](mode_t mode) {
    REQUIRE(chmod(file.path().c_str(), mode) == 0);
    return ReadCredentials(file.path());
  };
  CHECK(reads(0600).ok());
  CHECK(reads(0400).ok());
  for (const mode_t mode : {0640, 0620, 0604, 0602, 0644, 0666}) {
    CAPTURE(mode);
    const auto read = reads(mode);
    REQUIRE_FALSE(read.ok());
    CHECK(read.status().message().find("chmod 600") != absl::string_view::npos);
  }
  CHECK(reads(0600).ok());
  CHECK(ReadOwnCredential(file.path())->name == "shop");

  const auto folder = std::filesystem::path(file.path()).parent_path();
  CHECK(ReadCredentials(folder.string()).status().message().find("not a regular file") !=
        absl::string_view::npos);
  CHECK(ReadCredentials(file.path() + ".nowhere").status().message().find("No such file") !=
        absl::string_view::npos);
}

TEST_CASE("credentials: a client's own file has one line") {
  const std::string secret(kSecret);
  const TemporaryFile file("a app " + secret + "\nb app " + secret + "\n");
  REQUIRE(chmod(file.path().c_str(), 0600) == 0);
  CHECK(ReadCredentials(file.path())->size() == 2);
  CHECK_FALSE(ReadOwnCredential(file.path()).ok());
}

TEST_CASE("credentials: a file that is too large is not read") {
  const TemporaryFile file(std::string(kCredentialsFileBytesMax + 1, '\n'));
  REQUIRE(chmod(file.path().c_str(), 0600) == 0);
  CHECK(ReadCredentials(file.path()).status().message().find("too large") !=
        absl::string_view::npos);
}

TEST_CASE("secret: it is wiped when it goes, its copies are secrets of their own") {
  // Told nothing of where it lies, the compiler cannot take what is left there for granted.
  void* volatile place = std::malloc(sizeof(Secret));
  auto* secret = new (place) Secret(*Secret::FromText(kSecret));
  const Secret copy(*secret);
  const auto shows = [&] {
    const std::string left(static_cast<const char*>(place), sizeof(Secret));
    return left.find(kSecret.substr(0, 8)) != std::string::npos;
  };
  CHECK(shows());
  secret->~Secret();
  CHECK_FALSE(shows());
  std::free(place);
  CHECK(ProofOf(copy) == ProofOf(*Secret::FromText(kSecret)));
}

}  // namespace
}  // namespace anteroom::protocol
