// credentials new: a line for the daemon's file of credentials, with a fresh secret.
#include "protocol/secret.h"
#include "server/auth/credential_book.h"
#include "tools/cli/command.h"
#include "tools/cli/context.h"

namespace anteroom::cli {
namespace {

ExitStatus RunNew(Context& context, const Arguments& arguments) {
  const std::string role(NameOf(*arguments.role));
  std::string secret = auth::NewSecretText();
  if (context.json()) {
    context.PrintJson(Json{{"name", arguments.name}, {"role", role}, {"secret", secret}});
  } else {
    context.PrintText(arguments.name + " " + role + " " + secret);
  }
  protocol::Wipe(secret.data(), secret.size());
  return ExitStatus::kDone;
}

}  // namespace

std::vector<Command> CredentialCommands() {
  return {
      {.name = "credentials new",
       .summary = "a line of credentials with a fresh secret",
       .uses = {{&kCredentialName}, {&kRole}},
       .example = "anteroom credentials new shop-1 app",
       .notes =
           "Asks no daemon. The line goes into the file that anteroomd --credentials reads at its\n"
           "start and on SIGHUP, and alone into a file of the client's own; both for nobody else "
           "to\n"
           "read:\n"
           "\n"
           "  umask 077\n"
           "  anteroom credentials new shop-1 app > shop-1.credentials\n"
           "  cat shop-1.credentials >> credentials\n"
           "  anteroomd --credentials credentials\n"
           "  anteroom --credentials shop-1.credentials join concert ann",
       .check = nullptr,
       .run = RunNew},
  };
}

}  // namespace anteroom::cli
