#include "protocol/credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "protocol/limits.h"
#include "protocol/text.h"

namespace anteroom::protocol {
namespace {

constexpr std::string_view kBlank = " \t\r";

absl::Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// Takes the next word off the front; empty at the end.
std::string_view TakeWord(std::string_view* line) {
  line->remove_prefix(std::min(line->find_first_not_of(kBlank), line->size()));
  const std::string_view word = line->substr(0, line->find_first_of(kBlank));
  line->remove_prefix(word.size());
  return word;
}

// Empty when the line is right or says nothing, and then *credential has no name.
std::string ParseLine(std::string_view line, Credential* credential) {
  const std::string_view name = TakeWord(&line);
  if (name.empty() || name.starts_with('#')) return {};
  if (!IsCredentialName(name)) return "a name is 1 to 64 of a-z 0-9 . _ -";
  const std::optional<Role> role = ParseRole(TakeWord(&line));
  if (!role || *role == Role::kAnyone) {
    return "behind the name comes the role: reader, app or operator";
  }
  const std::optional<Secret> secret = Secret::FromText(TakeWord(&line));
  if (!secret) {
    return "behind the role comes the secret: " + std::to_string(kSecretCharsMin) + " to " +
           std::to_string(kSecretCharsMax) + " of A-Z a-z 0-9 _ -";
  }
  if (!TakeWord(&line).empty()) return "behind the secret comes nothing more";
  *credential = {std::string(name), *role, *secret};
  return {};
}

// A descriptor that is closed in any case.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace

absl::StatusOr<std::vector<Credential>> ParseCredentials(std::string_view text) {
  std::vector<Credential> credentials;
  std::set<std::string, std::less<>> names;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Credential credential;
    std::string wrong = ParseLine(line, &credential);
    if (wrong.empty() && credential.name.empty()) continue;
    if (wrong.empty() && !names.insert(credential.name).second) {
      wrong = "the name stands on an earlier line already";
    }
    if (!wrong.empty()) return Wrong("line " + std::to_string(number) + ": " + wrong);
    credentials.push_back(std::move(credential));
  }
  if (credentials.empty()) {
    return Wrong("there is no line NAME ROLE SECRET; `anteroom credentials new` makes one");
  }
  return credentials;
}

absl::StatusOr<std::vector<Credential>> ReadCredentials(const std::string& path) {
  const auto refuse = [&](const std::string& what) {
    return Wrong("the credentials in " + path + ": " + what);
  };
  const auto fail = [&] { return refuse(std::strerror(errno)); };
  const OpenFile file(path);
  if (file.get() < 0) return fail();
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return fail();
  if (!S_ISREG(found.st_mode)) return refuse("not a regular file");
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return refuse("the group or others may use the file; say chmod 600");
  }
  const auto size = static_cast<size_t>(found.st_size);
  if (size > kCredentialsFileBytesMax) return refuse("the file is too large");
  WipedText text(size);
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail();
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  auto parsed = ParseCredentials(text.first(filled));
  if (!parsed.ok()) return refuse(std::string(parsed.status().message()));
  return parsed;
}

absl::StatusOr<Credential> ReadOwnCredential(const std::string& path) {
  auto credentials = ReadCredentials(path);
  if (!credentials.ok()) return credentials.status();
  if (credentials->size() != 1) {
    return Wrong("the credentials in " + path + ": " + std::to_string(credentials->size()) +
                 " lines; a client has a file of one, its own");
  }
  return std::move(credentials->front());
}

}  // namespace anteroom::protocol
