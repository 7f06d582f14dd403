#include "tools/cli/context.h"

#include <utility>

#include "client/failure.h"
#include "protocol/text.h"
#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

// Two of the latter, and one of the former, are less than two seconds.
constexpr int64_t kConnectTimeoutMs = 1500;
constexpr int64_t kSilenceMaxMs = 900;
// A daemon that shows signs of life may take its time, say for a slow disk.
constexpr int64_t kCallDeadlineMs = 60'000;

}  // namespace

client::ClientOptions ClientOptionsFor(const std::string& server,
                                       const std::string& credentials_path) {
  client::ClientOptions options;
  options.addresses = {server};
  options.credentials_path = credentials_path;
  options.call_deadline_ms = kCallDeadlineMs;
  options.connect_timeout_ms = kConnectTimeoutMs;
  options.silence_max_ms = kSilenceMaxMs;
  options.reconnect = false;
  return options;
}

client::Client& Context::client() {
  if (client_ == nullptr) client_ = std::make_unique<client::Client>(client_options());
  return *client_;
}

void Context::PrintJson(const Json& object) {
  console_.out << OneLine(object) << '\n';
}

void Context::PrintText(std::string_view text) {
  console_.out << text;
  if (!text.empty()) console_.out << '\n';
}

void Context::Note(std::string_view text) {
  console_.err << "anteroom: " << text << std::endl;
}

ExitStatus Context::Fail(const absl::Status& status, std::string_view room) {
  const std::optional<client::Failure> failure = client::FailureOf(status);
  if (!failure) return Fail("invalid", protocol::ToStd(status.message()));
  if (failure->cause == client::FailureCause::kInvalidRequest) {
    return WrongUsage(Printable(failure->refusal.message));
  }

  const protocol::Refusal& refusal = failure->refusal;
  if (json_) {
    Json object = ToJson(refusal);
    if (!room.empty()) object["room"] = std::string(room);
    PrintJson(object);
  }
  console_.out.flush();
  std::string text = room.empty() ? "" : "room " + std::string(room) + ": ";
  text += std::string(NameOf(refusal.error)) + ": " + Printable(refusal.message);
  if (refusal.reason) text += " (" + std::string(NameOf(*refusal.reason)) + ")";
  if (refusal.retry_after_ms) {
    text += "; try again in " + HumanDuration(*refusal.retry_after_ms);
  }
  if (failure->may_have_been_applied) text += "; what was asked may have been done";
  Note(text);
  if (failure->cause == client::FailureCause::kUnreachable) {
    Note("is anteroomd running? --server or ANTEROOM_SERVER says where, it is now " + server_);
  }
  if (refusal.error == protocol::ErrorCode::kUnauthorized && credentials_path_.empty()) {
    Note("--credentials or ANTEROOM_CREDENTIALS says which file tells who you are");
  }
  const bool refused = failure->cause == client::FailureCause::kRefused ||
                       failure->cause == client::FailureCause::kUnauthorized;
  return refused && !client::IsUnreachable(status) ? ExitStatus::kRefused : ExitStatus::kNoDaemon;
}

ExitStatus Context::Fail(std::string_view error, std::string_view message) {
  if (json_) {
    Json object = Json::object();
    object["error"] = std::string(error);
    object["message"] = std::string(message);
    object["retry"] = false;
    PrintJson(object);
  }
  console_.out.flush();
  Note(std::string(error) + ": " + Printable(message));
  return ExitStatus::kRefused;
}

ExitStatus Context::WrongUsage(std::string_view message) {
  console_.out.flush();
  Note(message);
  return ExitStatus::kWrongUsage;
}

}  // namespace anteroom::cli
