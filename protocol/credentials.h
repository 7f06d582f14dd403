// Files of credentials: who may connect, as what, and the secret that proves it. The daemon has a
// file of all its clients, a client one of its own line:
//
//   # comment
//   NAME ROLE SECRET
//
// NAME is 1 to 64 of a-z 0-9 . _ -; ROLE reader, app or operator; SECRET as protocol/secret.h says.
// Spaces or tabs stand between them. What is wrong is said with the line's number and never with
// its words, one of which may be a secret.
//
// Thread-safe.
#ifndef ANTEROOM_PROTOCOL_CREDENTIALS_H_
#define ANTEROOM_PROTOCOL_CREDENTIALS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "protocol/kinds.h"
#include "protocol/secret.h"

namespace anteroom::protocol {

struct Credential {
  std::string name;
  Role role = Role::kReader;  // as the daemon's file says; a client's own has no say in it
  Secret secret;
};

// In the order of the lines; at least one, and no name twice.
absl::StatusOr<std::vector<Credential>> ParseCredentials(std::string_view text);

// Refuses a file that the group or others may read or write, and what is no regular file. Blocks
// for as long as the file system takes.
absl::StatusOr<std::vector<Credential>> ReadCredentials(const std::string& path);

// A client's own: of exactly one line.
absl::StatusOr<Credential> ReadOwnCredential(const std::string& path);

}  // namespace anteroom::protocol

#endif  // ANTEROOM_PROTOCOL_CREDENTIALS_H_
