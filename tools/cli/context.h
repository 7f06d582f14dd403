// What a command works with: the connection, and where its answer goes.
#ifndef ANTEROOM_TOOLS_CLI_CONTEXT_H_
#define ANTEROOM_TOOLS_CLI_CONTEXT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "client/client.h"
#include "protocol/refusal.h"
#include "tools/cli/arguments.h"
#include "tools/cli/console.h"
#include "tools/cli/exit_status.h"
#include "tools/cli/json.h"

namespace anteroom::cli {

// How the CLI behaves towards its daemon: one address, no second attempt, and a connection that is
// gone or silent is noticed within two seconds.
client::ClientOptions ClientOptionsFor(const std::string& server,
                                       const std::string& credentials_path);

// Threads: one.
class Context {
 public:
  Context(Console& console, const Arguments& arguments)
      : console_(console),
        server_(arguments.server),
        credentials_path_(arguments.credentials_path),
        json_(arguments.output == OutputForm::kJson) {}

  Console& console() { return console_; }
  const std::string& server() const { return server_; }
  bool json() const { return json_; }

  client::ClientOptions client_options() const {
    return ClientOptionsFor(server_, credentials_path_);
  }
  // Connects when it is first asked for.
  client::Client& client();

  // One line on standard output.
  void PrintJson(const Json& object);
  void PrintText(std::string_view text);
  // Progress and warnings: one line on standard error.
  void Note(std::string_view text);

  // Says why something was not done, on standard error and in the JSON.
  // `room` is of a command that changes several.
  ExitStatus Fail(const absl::Status& status, std::string_view room = {});
  ExitStatus Fail(std::string_view error, std::string_view message);
  ExitStatus WrongUsage(std::string_view message);

  // The usual end of a command: the reply as it is in JSON, `text(reply)` for people, or why not.
  template <typename Reply, typename Text>
  ExitStatus Finish(const absl::StatusOr<Reply>& reply, Text text) {
    if (!reply.ok()) return Fail(reply.status());
    if (json_) {
      PrintJson(ToJson(*reply));
    } else {
      PrintText(text(*reply));
    }
    return ExitStatus::kDone;
  }

 private:
  Console& console_;
  const std::string server_;
  const std::string credentials_path_;
  const bool json_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace anteroom::cli

#endif  // ANTEROOM_TOOLS_CLI_CONTEXT_H_
